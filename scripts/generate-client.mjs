// Generates the types of the TypeScript client from the OpenAPI document of the build in dist/. The generator is a
// dependency of the client's own package, because it needs an older TypeScript; it is installed if necessary.
// `--check` writes nothing and fails if the committed file is out of date.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const client = path.join(root, 'clients', 'typescript');
const target = path.join(client, 'src', 'openapi.ts');

const HEAD = `// Written by \`npm run client:generate\` from the OpenAPI document of the service: change that, not this file.

`;

installClient();
const written = HEAD + (await generate());
if (!process.argv.includes('--check')) {
  writeFileSync(target, written);
} else if (!existsSync(target) || readFileSync(target, 'utf8') !== written) {
  console.error('clients/typescript/src/openapi.ts is out of date: run npm run client:generate');
  process.exitCode = 1;
}

async function generate() {
  const fromClient = createRequire(path.join(client, 'package.json'));
  const { default: toAst, astToString } = fromClient('openapi-typescript');
  return astToString(
    await toAst(withOneErrorAnswer(withoutAnswerHeaders(createDocument())), {
      alphabetize: true,
      emptyObjectsUnknown: true,
    }),
  );
}

/**
 * Returns the document that the API serves. Runs in a separate process, so that importing this script needs no build.
 */
function createDocument() {
  const program = `
    const { createOpenApiDocument } = await import('./dist/api/http/openapi/document.js');
    const { routes } = await import('./dist/api/app.js');
    process.stdout.write(JSON.stringify(createOpenApiDocument(routes)));`;
  return JSON.parse(run(process.execPath, ['--input-type=module', '--eval', program], root));
}

/**
 * Removes response headers: clients read them from the response itself, and their types would be two
 * thirds of the file.
 */
function withoutAnswerHeaders(document) {
  for (const { responses } of operationsOf(document)) {
    for (const response of Object.values(responses)) delete response.headers;
  }
  delete document.components.headers;
  return document;
}

/**
 * Merges an operation's error responses into one, `default`, with all their bodies, so that `error` keeps its type.
 * Separate responses would be half of the file, and `ServiceError` has the status anyway.
 */
function withOneErrorAnswer(document) {
  const shared = {};
  for (const { responses } of operationsOf(document)) {
    const bodies = new Map();
    for (const status of Object.keys(responses).filter((key) => Number(key) >= 400)) {
      const { schema } = responses[status].content['application/json'];
      bodies.set(JSON.stringify(schema), schema);
      delete responses[status];
    }
    if (bodies.size === 0) continue;
    const schemas = [...bodies.values()];
    const names = schemas.map(({ $ref }) => $ref?.split('/').at(-1));
    const answer = {
      description: 'What `ServiceError` reads.',
      content: { 'application/json': { schema: { anyOf: schemas } } },
    };
    if (names.includes(undefined)) {
      responses.default = answer;
    } else {
      const name = names.toSorted((left, right) => left.localeCompare(right)).join('Or');
      shared[name] = answer;
      responses.default = { $ref: `#/components/responses/${name}` };
    }
  }
  document.components.responses = shared;
  return document;
}

function operationsOf(document) {
  return Object.values(document.paths).flatMap((methods) => Object.values(methods));
}

/**
 * npm writes node_modules/.package-lock.json last. If it is older than the lock file, the install is
 * outdated or incomplete.
 */
function installClient() {
  const installed = path.join(client, 'node_modules', '.package-lock.json');
  const lock = path.join(client, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], client);
}

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${command} ${args[0]} failed in ${cwd}: ${error ?? stderr}`);
  return stdout;
}
