// Finds every place of the product that cuts something at a fixed length.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { cutText, endOfText } from '../../graph/cut-text.js';

/** Cuts that are allowed without `cutText`, by the reason. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'what is left has no characters beyond ASCII': [
    "activities/kinds/agent/load-tools.ts: '_').slice(0,MAX_NAME)",
    'activities/kinds/agent/load-tools.ts: base.slice(0,MAX_NAME-5)',
    "api/mcp-server/tool-view.ts: '_').slice(0,MAX_CHARACTERS-suffix.length)",
    "db/marketplace/slug.ts: ').slice(0,MAX_LENGTH)",
    "n8n/models.ts: '_').slice(0,64)",
  ],
  'the beginning is looked at, and not kept': [
    'activities/node/payload-weight.ts: json.slice(0,HEAD)',
    'api/chat/chat-input.ts: uri.slice(0,MAX_HEAD_CHARACTERS)',
    'n8n/runtime/dates.ts: 1].slice(0,2)',
    'graph/nodes/wait.ts: trimmed.slice(0,10)',
  ],
  'we have written it: ids, hashes, moments': [
    "activities/worker/build-id.ts: 'hex').slice(0,12)",
    "api/files/send-file.ts: 'base64url').slice(0,27)",
    "api/runs/answer-poll.ts: 'base64url').slice(0,LIVE_TAG_CHARACTERS)",
    "api/schedules/temporal-spec.ts: 'hex').slice(0,8)",
    "config/model-providers.ts: 'hex').slice(0,12)",
    "config/payload-encryption.ts: 'hex').slice(0,8)",
    "telemetry/spans.ts: '').slice(0,16)",
    'cli/demo/run-sample.ts: id.slice(0,8)',
    'console/pages/costs/figures.ts: ).slice(0,10)',
    'console/ui/day.ts: ).slice(0,10)',
    'console/parts/differences/run-differences.ts: id.slice(0,8)',
    'console/pages/settings/connections.tsx: run.id.slice(0,8)',
    'console/pages/settings/webhooks.tsx: id.slice(0,8)',
    'contract/node-names.ts: bytes)).slice(0,32)',
    'db/access/keys-repository.ts: apiKey.slice(-4)',
    "db/core/client.ts: 'hex').slice(0,32)",
    'db/runs/run-deltas-repository.ts: message.slice(0,36)',
    'db/runs/run-deltas-repository.ts: place.slice(0,-1)',
    'files/folder-store.ts: name.slice(0,2)',
  ],
  'whole characters are counted, in a list of them': [
    'api/sessions/oidc-client.ts: text.slice(0,MAX_NAME)',
    'api/workflows/porting-routes.ts: plain.slice(0,MAX_NAME)',
    'console/pages/marketplace/graph-picture.tsx: letters.slice(0,MOST_LETTERS-1)',
    'console/pages/marketplace/graph-picture.tsx: text.slice(0,4*MOST_LETTERS)',
    'graph/compile-plan.ts: ).slice(0,LABEL_CHARACTERS)',
    'graph/compile-plan.ts: printable.slice(0,2*LABEL_CHARACTERS)',
  ],
  'a list is cut, and no text': [
    'openapi/copied-schema.ts: required.slice(0,MOST_REQUIRED)',
    'openapi/copied-schema.ts: type.slice(0,MOST_ENUM)',
    "api/build/tool.ts: 'errors'].slice(0,20)",
    'api/build/connection-tools.ts: origins.slice(0,20)',
    'api/build/cut-answer.ts: value.slice(0,20)',
    'api/build/cut-answer.ts: value).slice(0,40)',
    'api/build/drawings.ts: errors.slice(0,MOST_LISTED)',
    'api/build/drawings.ts: warnings.slice(0,MOST_LISTED)',
    'api/build/find-tools.ts: found.slice(0,MOST_FOUND)',
    'api/build/tool.ts: parsed.error.issues.slice(0,MOST_PROBLEMS)',
    'api/build/variables.ts: isReadable).slice(0,MOST_NODES)',
    'api/build/variables.ts: )].slice(0,MOST_FIELDS)',
    'api/build/variables.ts: value).slice(0,MOST_FIELDS)',
    'api/build/variables.ts: 1)).slice(0,MOST_RUNS)',
    'graph/building/apply-changes.ts: names.slice(0,20)',
    'acceptance/prepare-run.ts: all.slice(0,ERRORS_SHOWN)',
    'acceptance/wake-run.ts: waits.slice(0,WOKEN_AT_ONCE)',
    'activities/kinds/agent/load-tools.ts: found.slice(0,MAX_TOOLS)',
    'api/access/visitor.ts: ...parts.slice(0,4)',
    'api/access/visitor.ts: hops.slice(-MAX_HOPS)',
    'api/connections/connection-body.ts: sentences)].slice(0,20)',
    'api/connections/routes.ts: workflows.slice(0,5)',
    'api/conversations/message-input.ts: newestFirst.slice(0,MOST_MESSAGES)',
    'api/http/conditional.ts: ...tags].slice(0,MAX_TAGS)',
    'api/marketplace/copy-from-marketplace.ts: warnings.slice(0,MAX_IMPORT_WARNINGS)',
    'api/schedules/schedule-view.ts: times?.slice(0,NEXT)',
    'api/mcp-server/list-tools.ts: found.slice(0,PAGE_TOOLS)',
    'api/mcp-server/tasks.ts: found.slice(0,PAGE_TASKS)',
    'api/test-runs/read-mocks.ts: wrong.slice(0,MOST_REPORTED)',
    'api/workflows/call-warnings.ts: ).slice(0,MAX_FINDINGS)',
    'api/workflows/pool-warnings.ts: pool)).slice(0,MAX_FINDINGS)',
    'api/workflows/tool-warnings.ts: ).slice(0,MAX_FINDINGS)',
    'config/model-answer.ts: json.slice(0,MAX_SENTENCES)',
    'outgoing/mcp-tools.ts: refused.slice(0,MAX_REFUSED)',
    "n8n/data-node.ts: '.slice(0,1)",
    'n8n/runtime/core.ts: steps.slice(0,-1)',
    'n8n/runtime/files.ts: lines.slice(0,most)',
    'n8n/runtime/files.ts: rows.slice(0,most)',
    'n8n/runtime/lists.ts: items.slice(0,most)',
    'n8n/runtime/merging.ts: found.slice(0,1)',
    'api/workflows/check-drawing.ts: errors).slice(0,MAX_FINDINGS)',
    "cli/embedded/child-log.ts: n').slice(-15)",
    'console/drawing/kind-looks.ts: items.slice(0,MAX_COMPARISONS)',
    'console/parts/node-result/json-table.tsx: table.columns.slice(0,MAX_COLUMNS)',
    'api/workflows/drawing-secrets.ts: masks.slice(0,MOST_REPORTED)',
    'api/workflows/drawing-secrets.ts: places.slice(0,MOST_REPORTED)',
    'api/workflows/import-remarks.ts: warnings.slice(0,MOST_REMARKS)',
    'api/workflows/ported-connections.ts: listed.slice(0,MOST_LISTED)',
    'api/workflows/porting-routes.ts: found.slice(0,MAX_IMPORT_WARNINGS)',
    'api/workflows/ported-services.ts: listed.slice(0,MOST_LISTED)',
    'console/parts/services/add-service.tsx: warnings.slice(0,MOST_WARNINGS)',
    'console/service/services.ts: first.slice(0,MOST_SERVICES)',
    "db/services/services-repository.ts: '').slice(0,MOST_WORDS)",
    'console/drawing/find-node.tsx: one))).slice(0,MAX_SHOWN)',
    'console/drawing/variable-tree.ts: value).slice(0,MOST_ENTRIES)',
    'console/drawing/variable-tree.ts: value.slice(0,MOST_ENTRIES)',
    'console/drawing/clipboard.ts: copied.notes.slice(0,room)',
    'console/drawing/differences.ts: ])].slice(0,MAX_DIFFERENCES)',
    'console/drawing/editor-store.ts: history.past.slice(0,-1)',
    'console/drawing/editor-store.ts: history.present].slice(-MAX_STEPS)',
    'console/files/file-figure.tsx: files.slice(0,most)',
    'console/files/preview.ts: data.slice(0,SHOWN_ROWS)',
    'console/files/uploads.ts: ...files].slice(-1)',
    'console/forms/completions.ts: ).slice(0,MOST)',
    'console/forms/variable-tree.tsx: found.slice(0,MAX_GROUPS)',
    'console/live/words.ts: call)].slice(-MOST_TOOL_CALLS)',
    'console/parts/chat/messages.ts: exchanges).slice(0,MOST_FOLLOWED)',
    'console/parts/agent-tools/approval-policy.ts: names.slice(0,MOST_NAMED-1)',
    'console/parts/agent-tools/approval-policy.ts: parts.slice(0,-1)',
    'console/parts/agent-tools/tool-search.tsx: search)).slice(0,MOST)',
    'console/parts/connection/connection-form.tsx: rows.slice(0,-1)',
    'console/pages/costs/costs-section.tsx: data?.slice(0,MOST_ROWS)',
    'console/parts/run/story.tsx: others.slice(0,NAMED)',
    'console/parts/run/story.tsx: requests.slice(0,NAMED)',
    'console/parts/run/story.tsx: running.slice(0,NAMED)',
    'console/pages/run/timeline-layout.ts: ...known.slice(0,-1)',
    'console/pages/workflows/list-calls.ts: projects.slice(0,MOST_PROJECTS)',
    'console/pages/workflow/test-run/test-dialog.tsx: calls.slice(0,MOST_CALLS)',
    'console/pages/workflow/mcp-tool-field.tsx: path.slice(0,-1)',
    'console/pages/workflow/model-field.tsx: word))).slice(0,MOST)',
    'console/pages/workflow/node-panel.tsx: props.path.slice(0,-1)',
    'console/pages/workflow/problems.tsx: problems.slice(0,MAX_SHOWN)',
    'console/ui/part-of.ts: lines.slice(0,mostLines)',
    'graph/compile-plan.ts: cycle.slice(0,CYCLE_NODES_SHOWN)',
    'graph/document.ts: errors.slice(0,MAX_ERRORS)',
    'graph/field-values.ts: choices.slice(0,MAX_OPTIONS_SHOWN)',
    'graph/links.ts: items.slice(0,MAX_LISTED_HANDLES)',
    'graph/nodes/field-messages.ts: words.slice(0,-1)',
    'graph/nodes/shared-fields.ts: items.slice(0,MAX_LISTED_HANDLES)',
    'graph/stretch-plan.ts: inline.slice(0,MAX_CONCURRENT)',
    'graph/stretch-plan.ts: ready.slice(0,MAX_CONCURRENT)',
    'graph/validate.ts: found.slice(0,MAX_FINDINGS)',
    'graph/warnings.ts: warnings.slice(0,MAX_FINDINGS)',
    'n8n/flows.ts: ...guards].slice(-MAX_GUARDS+1)',
    'n8n/json-places.ts: path.slice(0,-1)',
    'n8n/models.ts: tools.slice(0,MAX_TOOLS)',
    'n8n/translate-n8n.ts: notes.slice(0,MAX_NOTES)',
    'n8n/translate-n8n.ts: warnings.slice(0,MAX_IMPORT_WARNINGS)',
    'n8n/services/given.ts: ))).slice(0,MAX_NAMED)',
    'n8n/values.ts: options.slice(0,5)',
    'openapi/copied-schema.ts: parts.slice(0,50)',
    "openapi/read-openapi.ts: '_').slice(0,MOST_ID)",
    'openapi/read-openapi.ts: base.slice(0,MOST_ID-7)',
    "openapi/read-openapi.ts: 'string').slice(0,100)",
    'openapi/security.ts: schemes.slice(0,MOST_SCHEMES)',
    'openapi/servers.ts: isObject).slice(0,100)',
    'openapi/servers.ts: rules.documentUrl).protocol.slice(0,-1)',
    'outgoing/text-of-bytes.ts: ...found].slice(0,MOST_TRIED)',
    'temporal-workflows/waiting-nodes.ts: )].slice(0,most)',
  ],
};

const ROOT = path.join(import.meta.dirname, '..', '..');
const FOLDERS = [
  'acceptance',
  'activities',
  'api',
  'cli',
  'config',
  'connections',
  'console',
  'contract',
  'db',
  'files',
  'graph',
  'memory',
  'n8n',
  'openapi',
  'outgoing',
  'processes',
  'telemetry',
  'temporal-workflows',
];
/** Matches cuts such as `text.slice(0, 300)` and `text.slice(-MOST)`, with the end of the expression before them. */
const CUT =
  /[\w.\])!'?]*\s*\??\.(?:slice|substring|substr)\(\s*(?:0\s*,\s*-?|-)\s*(?:[0-9]|[A-Z][A-Z_]+\b|most\w*|max\w*|limit\w*|room)[^()]*\)/g;

describe('cut texts', () => {
  it('have no half of a character at the cut, and nothing less than what fits', () => {
    const text = 'a😀b😀';
    const beginnings = ['', 'a', 'a', 'a😀', 'a😀b', 'a😀b', 'a😀b😀', 'a😀b😀'];
    assert.deepEqual(
      beginnings.map((_text, most) => cutText(text, most)),
      beginnings,
    );
    const ends = ['', '', '😀', 'b😀', 'b😀', '😀b😀', 'a😀b😀', 'a😀b😀'];
    assert.deepEqual(
      ends.map((_text, most) => endOfText(text, most)),
      ends,
    );
    assert.equal(cutText('a\ud83d', 2), 'a\ud83d', 'what came as a half is not ours to mend');
    assert.equal(cutText('e\u0301x', 1), 'e');
  });

  it('are cut by cutText, everywhere', () => {
    const found = FOLDERS.flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.tsx?$/.test(name))
        .flatMap((name) => {
          const file = path.join(folder, name);
          const cuts = readFileSync(path.join(ROOT, file), 'utf8').matchAll(CUT);
          return [...cuts].map(([cut]) => `${file}: ${cut.replaceAll(/\s+/g, '')}`);
        }),
    );
    const allowed = new Set(Object.values(ALLOWED).flat());
    const others = [...new Set(found)].filter((cut) => !allowed.has(cut));
    assert.deepEqual(others, [], 'cut texts with graph/cut-text.ts, or say here why this is no text of others');
    const gone = [...allowed].filter((cut) => !found.includes(cut));
    assert.deepEqual(gone, [], 'these are no longer there');
  });
});
