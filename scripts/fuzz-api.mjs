// Runs schemathesis (install it with pip) on the OpenAPI document of a running stack, bounded in cases and time:
//   node scripts/fuzz-api.mjs [DATA_DIR] [-- more options of schemathesis]
// Checks only the conformance of responses, the absence of 5xx, methods and authentication.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'unsupported_method',
  'allow_header_conformance',
  'ignored_auth',
];
/** Below the 6000 requests per minute of the local key, so that few responses are 429. */
const BOUNDS = '--max-examples 50 --rate-limit 90/s --continue-on-failure --suppress-health-check all'.split(' ');
const CHAT = '^/v1/';
const INTERNAL = '/execution-update/';
/** Tested last: the key is an administrator's, so the requests may revoke the access of all keys. */
const USERS = '/users/';

const [folder, ...more] = process.argv.slice(2).filter((argument) => argument !== '--');
const dataDir = folder ?? '.data';
const stack = JSON.parse(readFileSync(path.join(dataDir, 'stack.json'), 'utf8'));

// Sends each endpoint its own credentials. The unknown Authorization scheme replaces generated session tokens, which
// would take precedence over the key.
const keyHeaders = [`X-Api-Key: ${stack.api_key}`, 'Authorization: none'];
const byKey = ['--exclude-path-regex', `${CHAT}|${INTERNAL}|${USERS}`];
const rounds = [
  { name: 'every endpoint by key', headers: keyHeaders, options: byKey, seconds: 180 },
  {
    name: 'the same on a project, a workflow and a run that exist',
    headers: keyHeaders,
    options: [...byKey, '--exclude-method', 'DELETE', '--phases', 'coverage,fuzzing'],
    seconds: 120,
    // Created only now, because the previous round deletes what it finds.
    makeConfig: seed,
  },
  {
    name: 'the chat proxy',
    headers: [`Authorization: Bearer ${stack.api_key}`],
    options: ['--include-path-regex', CHAT],
    seconds: 30,
  },
  {
    name: 'execution-update',
    headers: [`Authorization: Bearer ${stack.internal_token}`],
    options: ['--include-path-regex', INTERNAL],
    seconds: 30,
  },
  { name: 'users', headers: keyHeaders, options: ['--include-path-regex', USERS], seconds: 30 },
];

for (const { name, headers, options, seconds, makeConfig } of rounds) {
  console.log(`\n== ${name}`);
  const configured = makeConfig === undefined ? [] : ['--config-file', await makeConfig()];
  const sent = headers.flatMap((header) => ['--header', header]);
  const bounds = ['--checks', CHECKS.join(','), '--max-time', String(seconds), ...BOUNDS];
  const { status, error } = spawnSync(
    process.env.SCHEMATHESIS ?? 'schemathesis',
    [...configured, 'run', `${stack.api_url}/api/v1/openapi.json`, ...sent, ...options, ...bounds, ...more],
    { stdio: 'inherit' },
  );
  if (error !== undefined) console.error(`schemathesis could not be started: ${error.message}`);
  if (status !== 0) process.exitCode = 1;
}

/** Returns the path of a configuration that puts ids of existing objects into paths and queries. */
async function seed() {
  const { id: project } = await post('/projects/', { name: 'fuzz' });
  const node = { id: 'start', label: 'start', next_nodes: [], input_fields: [] };
  const data = { start_node: 'start', nodes: [{ id: 'start', type: 'trigger-node', data: node }], edges: [] };
  const { id: workflow } = await post('/workflows/', { project, title: 'fuzz', data });
  const run = (await post(`/workflows/${workflow}/run/`, {})).data.id;
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'fuzz-')), 'schemathesis.toml');
  const runs = `"path.run_id" = "${run}", "path.workflow_run_id" = "${run}", "query.id" = "${run}"`;
  writeFileSync(
    file,
    [
      `[[operations]]\ninclude-path-regex = "/projects/"\nparameters = { "path.id" = ${project} }`,
      `[[operations]]\nexclude-path-regex = "/projects/"\nparameters = { "path.id" = ${workflow}, ${runs} }\n`,
    ].join('\n\n'),
  );
  return file;
}

async function post(at, body) {
  const headers = { 'X-Api-Key': stack.api_key, 'Content-Type': 'application/json' };
  const answer = await fetch(`${stack.api_url}/api/v1${at}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`POST ${at} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
