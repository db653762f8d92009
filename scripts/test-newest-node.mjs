// `npm run test:newest-node`: on the newest LTS line of Node.js, runs those tests of `FOLDERS` that need no stack, then
// the demo's samples on a stack, whose native modules this Node.js must load. Arguments are passed to mocha. The last
// line is the sum, "N passed, N failed".
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fetchNewestNode, NEWEST_NODE } from './newest-node.mjs';

const ROOT = path.resolve(import.meta.dirname, '..');
const FOLDERS = [
  'graph',
  'n8n',
  'memory',
  'outgoing',
  'processes',
  'config',
  'activities',
  'cli/embedded',
  'temporal-workflows',
];
/** The modules that start a stack or a database. */
const STACK = /^(?:test\/support\/shared-stack|harness\/stack\/stack|test\/db\/(?:open-run|migrated-database))\.ts$/;
/**
 * Imports are not followed into this folder: its modules import what records histories on a stack, but the tests take
 * only names, constants and helpers from it.
 */
const RECORDS = 'test/replay/';
const IMPORTS = /^(?:import|export)\b(?! type)[^;]*?from '(\.[^']+)\.js'/gm;
/**
 * The environment variables that the demo gets: paths, caches, language, and those that find or build Temporal's
 * program (`GO...` configures the Go command). Variables that configure the service are dropped.
 */
const KEPT = /^(PATH|HOME|USER|LANG|TMPDIR|XDG_.+|TEMPORAL_CLI|GO.+)$/;
/**
 * Excluded tests. The first measures delays of a few milliseconds, which become longer when scripts/run-suites.sh runs
 * other suites at the same time. The second executes thousands of drawings on workflow code, which uses nothing of
 * Node.js.
 */
const LEFT_OUT = ['hostile-code.test.ts', 'random-drawings.test.ts'];
const SMOKE_TIMEOUT_MS = 5 * 60_000;

const node = fetchNewestNode();
const quick = await runMocha();
const smoke = await runDemo();
process.stdout.write(`Node.js ${NEWEST_NODE}: the demo on a whole stack ${smoke ? 'succeeded' : 'FAILED'}\n`);
const [passed, failed] = [quick.passed + Number(smoke), quick.failed + Number(!smoke)];
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

async function runMocha() {
  const mocha = path.join(path.dirname(createRequire(import.meta.url).resolve('mocha/package.json')), 'bin/mocha.js');
  const options = ['--no-config', '--require', 'tsx', '--reporter', 'dot'];
  const args = [mocha, ...options, '--timeout', '60000', ...process.argv.slice(2), ...quickTests()];
  const { code, output } = await run(args, process.env);
  const countOf = (word) => new RegExp(`^ +(\\d+) ${word}\\b`, 'm').exec(output)?.[1] ?? '0';
  const [passes, failures] = [countOf('passing'), countOf('failing')];
  // A bad exit without a failed test: mocha crashed, or ran nothing.
  const isBroken = failures === '0' && (code !== 0 || passes === '0');
  return { passed: Number(passes), failed: isBroken ? 1 : Number(failures) };
}

function quickTests() {
  return FOLDERS.flatMap((folder) =>
    readdirSync(path.join(ROOT, 'test', folder), { recursive: true })
      .map((name) => path.join('test', folder, name))
      .filter(
        (file) => file.endsWith('.test.ts') && !LEFT_OUT.some((name) => file.endsWith(name)) && !needsStack(file),
      ),
  );
}

/** True if the file imports a module that starts a stack or a database, directly or through other modules. */
function needsStack(file, seen = new Set()) {
  if (STACK.test(file)) return true;
  if (seen.has(file) || file.startsWith(RECORDS) || !existsSync(path.join(ROOT, file))) return false;
  seen.add(file);
  const imports = readFileSync(path.join(ROOT, file), 'utf8').matchAll(IMPORTS);
  return [...imports].some(([, target]) => needsStack(path.join(path.dirname(file), `${target}.ts`), seen));
}

/** Runs every sample workflow on a stack of PostgreSQL, Temporal, API and worker. Resolves to true if all succeed. */
async function runDemo() {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'workflow-newest-node-'));
  chmodSync(dataDir, 0o755); // PostgreSQL's account must be able to enter it
  const kept = Object.entries(process.env).filter(([name]) => KEPT.test(name));
  const env = { ...Object.fromEntries(kept), DATA_DIR: dataDir };
  try {
    const { code } = await run(['--enable-source-maps', 'dist/cli/demo.js'], env, SMOKE_TIMEOUT_MS);
    return code === 0;
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function run(args, env, timeoutMs) {
  const child = spawn(node, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'], timeout: timeoutMs });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    process.stdout.write(text);
  });
  const [code] = await once(child, 'close');
  return { code, output };
}
