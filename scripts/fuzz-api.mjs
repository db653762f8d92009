// schemathesis (a program of its own: pip install schemathesis) against a running stack's OpenAPI document:
//   node scripts/fuzz-api.mjs [DATA_DIR] [-- more options of schemathesis]
// Bounded in cases and time. Nothing but `*_conformance` of answers, no 5xx, methods and authentication is judged.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
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
/** Below the 6000 requests a minute of the local key, so that few answers are a 429. */
const BOUNDS = '--max-examples 50 --rate-limit 90/s --continue-on-failure --suppress-health-check all'.split(' ');
const CHAT = '^/v1/';
const INTERNAL = '/execution-update/';

const [given, ...more] = process.argv.slice(2).filter((argument) => argument !== '--');
const dataDir = given ?? '.data';
const stack = JSON.parse(readFileSync(path.join(dataDir, 'stack.json'), 'utf8'));

// Each credential is for its own endpoints: where a key is asked for, a bearer token would be read as a session.
const rounds = [
  {
    name: 'every endpoint by key',
    header: `X-Api-Key: ${stack.api_key}`,
    paths: ['--exclude-path-regex', `${CHAT}|${INTERNAL}`],
    seconds: 240,
  },
  {
    name: 'the chat proxy',
    header: `Authorization: Bearer ${stack.api_key}`,
    paths: ['--include-path-regex', CHAT],
    seconds: 30,
  },
  {
    name: 'execution-update',
    header: `Authorization: Bearer ${stack.internal_token}`,
    paths: ['--include-path-regex', INTERNAL],
    seconds: 30,
  },
];

for (const { name, header, paths, seconds } of rounds) {
  console.log(`\n== ${name}`);
  const options = ['--header', header, ...paths, '--max-time', String(seconds), ...BOUNDS, ...more];
  const { status, error } = spawnSync(
    process.env.SCHEMATHESIS ?? 'schemathesis',
    ['run', `${stack.api_url}/api/v1/openapi.json`, '--checks', CHECKS.join(','), ...options],
    { stdio: 'inherit' },
  );
  if (error !== undefined) console.error(`schemathesis could not be started: ${error.message}`);
  if (status !== 0) process.exitCode = 1;
}
