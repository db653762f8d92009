import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');

// `JSON.parse` and `response.json()` round numbers that a double cannot represent, so JSON from outside is read by
// graph/json-text.ts. PARSES lists the files that call them nevertheless, with the number of calls and the reason why
// no digit is lost.
const SEALED = 'This service has sealed the text itself; it holds texts and small numbers alone.';
const OWN = 'This service has written the text itself; it holds texts and small numbers alone.';
const OPERATOR = "It is a file of the operator's or of the build.";
const DRAWING = 'A drawing that holds such a number is refused before it is stored.';
const TEXTS = 'Only texts are taken from it.';
const STAND_IN = 'It plays the part of others in the sandbox.';
const SANDBOX = 'The worker and its sandbox process send each other JSON as text within messages of their own.';
const IN_CODE = 'It is text of a code node, where n8n parses these texts in JavaScript, too.';
const CONSOLE = 'The console has made the text itself.';

const PARSES: Record<string, [count: number, reason: string]> = {
  'acceptance/opened-drawing.ts': [1, SEALED],
  'activities/kinds/code/child/file-requests.ts': [2, SANDBOX],
  'activities/kinds/code/child/main.ts': [2, SANDBOX],
  'activities/kinds/code/child/libraries.ts': [2, SANDBOX],
  'activities/kinds/code/child/prelude.ts': [
    1,
    'Integers of inputs and of files that a double does not hold are marked before the program parses them.',
  ],
  'activities/kinds/code/child/run-program.ts': [2, SANDBOX],
  'activities/kinds/code/sandbox-process.ts': [1, SANDBOX],
  'activities/kinds/llm/claim-model-call.ts': [1, OWN],
  'activities/kinds/llm/model-clients.ts': [1, OWN],
  'activities/worker/build-id.ts': [1, OPERATOR],
  'api/connections/authorize-routes.ts': [1, SEALED],
  'api/connections/connection-view.ts': [1, SEALED],
  'api/console/console-files.ts': [1, OPERATOR],
  'api/dispatch/inner-call.ts': [
    2,
    'Answers of other routes: what they have written, and drawings, which hold no such number.',
  ],
  'api/conversations/post-message.ts': [1, TEXTS],
  'api/files/file-link.ts': [1, SEALED],
  'api/http/json-body.ts': [
    2,
    'Bodies with such numbers are refused, parsed again by graph/json-text.ts, or passed on as they came.',
  ],
  'api/services/catalogue.ts': [1, OPERATOR],
  'api/workflows/drawing-secrets.ts': [2, DRAWING],
  'api/streams/draft-feed.ts': [1, OWN],
  'api/streams/text-reader.ts': [1, TEXTS],
  'api/marketplace/example-view.ts': [1, DRAWING],
  'api/runs/idempotency.ts': [1, OWN],
  'api/runs/node-map.ts': [1, OWN],
  'api/runs/node-routes.ts': [1, OWN],
  'api/runs/run-view.ts': [2, DRAWING],
  'api/mcp-server/stream-call.ts': [1, 'A schema takes nothing but what this service has put into the id.'],
  'api/mcp-server/tool-session.ts': [1, SEALED],
  'api/test-runs/estimate.ts': [1, OWN],
  'api/workflows/translate-apart.ts': [1, OWN],
  'cli/codec-server/protocol.ts': [1, TEXTS],
  'cli/demo/add-services.ts': [1, STAND_IN],
  'cli/demo/demo-api.ts': [2, TEXTS],
  'cli/embedded/child-log.ts': [1, OWN],
  'cli/embedded/data-directory.ts': [1, OWN],
  'cli/embedded/lock-file.ts': [1, OWN],
  'cli/embedded/postgres-binaries.ts': [1, OPERATOR],
  'cli/embedded/secrets-file.ts': [1, OWN],
  'cli/embedded/stack-file.ts': [1, OWN],
  'cli/embedded/temporal-download.ts': [1, TEXTS],
  'cli/replay/histories.ts': [1, "Temporal's format writes such numbers as texts."],
  'cli/samples/move-samples.ts': [1, OPERATOR],
  'cli/samples/sample-services.ts': [1, OWN],
  'cli/samples/samples-file.ts': [1, OWN],
  'cli/samples/samples.ts': [3, OPERATOR],
  'cli/sandbox/model-provider.ts': [1, STAND_IN],
  'cli/sandbox/sandbox-answer.ts': [2, STAND_IN],
  'cli/sandbox/targets.ts': [1, STAND_IN],
  'clients/typescript/src/events.ts': [1, 'The client gives programs in JavaScript what `fetch` would give them.'],
  'clients/typescript/src/retrying-fetch.ts': [1, TEXTS],
  'config/currencies.ts': [1, OPERATOR],
  'config/model-providers.ts': [1, OPERATOR],
  'config/payload-encryption.ts': [1, OWN],
  'connections/open-connection.ts': [2, SEALED],
  'console/service/drafts.ts': [1, DRAWING],
  'console/service/upload.ts': [1, TEXTS],
  'console/drawing/clipboard.ts': [1, DRAWING],
  'console/ui/json.ts': [2, 'It keeps the digits where the browser tells how a number was written.'],
  'console/forms/source-editor.tsx': [2, CONSOLE],
  'console/forms/values.ts': [2, 'A text with a number that JavaScript would round stays a text.'],
  'console/kinds/curl/read-curl.ts': [1, 'A text with a number of 16 digits stays a text.'],
  'console/live/run-cache.ts': [2, CONSOLE],
  'console/pages/workflow/test-run/test-pane.tsx': [1, CONSOLE],
  'console/parts/node-result/result-parts.ts': [1, TEXTS],
  'console/service/kept.ts': [1, CONSOLE],
  'db/files/references-repository.ts': [1, TEXTS],
  'db/runs/passed-secrets.ts': [1, SEALED],
  'db/runs/run-contents.ts': [1, SEALED],
  'db/runs/run-deltas-repository.ts': [3, TEXTS],
  'db/runs/stored-wait.ts': [1, SEALED],
  'graph/actions/stored-actions.ts': [1, DRAWING],
  'graph/connections.ts': [1, DRAWING],
  'graph/json-text.ts': [5, 'It is what reads JSON exactly.'],
  'n8n/expressions.ts': [
    2,
    'n8n parses these texts in JavaScript, too: a workflow works with the number that it has there.',
  ],
  'n8n/runtime/conditions.ts': [1, IN_CODE],
  'n8n/runtime/core.ts': [2, IN_CODE],
  'n8n/runtime/fields.ts': [4, IN_CODE],
  'n8n/runtime/files.ts': [1, 'The sandbox reads the integers of a file exactly.'],
  'n8n/runtime/merging.ts': [1, IN_CODE],
  'processes/read-openapi.ts': [3, 'Only texts and limits of schemas are taken from a document.'],
  'processes/work.ts': [1, 'A file of n8n, written by this service from what it has parsed.'],
};

const ELSEWHERE = /^(?:test|harness|bench|faults|scripts)\//;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<![:'"`\w])\/\/.*/g;

function countParses(file: string): number {
  const code = readFileSync(path.join(ROOT, file), 'utf8').replaceAll(COMMENT, '');
  return [...code.matchAll(/\bJSON\s*\.\s*parse\b|=\s*JSON\s*;|\.json\(\s*\)/g)].length;
}

describe('JSON of others', () => {
  it('is read exactly: every other place that parses JSON is known, with the reason why it loses nothing', () => {
    const tracked = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
    const product = tracked.filter((file) => /\.(?:tsx?|m?js)$/.test(file) && !ELSEWHERE.test(file));
    assert.ok(product.length > 300, `${product.length} files`);
    const found = product.map((file) => [file, countParses(file)] as const).filter(([, count]) => count > 0);
    const known = Object.entries(PARSES).map(([file, [count]]) => [file, count] as const);
    assert.deepEqual(Object.fromEntries(found), Object.fromEntries(known));
  });
});
