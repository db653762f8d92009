// Runs the blocks of documents (scripts/docs/blocks.mjs) in order, in one shell and in a copy of the tree. Fails if a
// block fails:
//
//   node scripts/run-docs.mjs docs/use/api.md [MORE.md ...] [--keep] [--list]
//
// Uses free ports, so that it does not disturb running processes. `--keep` leaves the copy for inspection. `--list`
// only prints the blocks that would run, and fails if the action of a block is missing.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import getPort from 'get-port';
import { readBlocks } from './docs/blocks.mjs';
import { makeCheckout } from './docs/checkout.mjs';
import { shapeProblem } from './docs/shape.mjs';

const ROOT = path.resolve(import.meta.dirname, '..');
/** Long enough for a job whose Temporal server has to be compiled first. */
const READY_SECONDS = 300;
/** Long enough for `npm start`, which stops its parts one after another. */
const STOP_SECONDS = 30;

const options = process.argv.slice(2).filter((word) => word.startsWith('--'));
const documents = process.argv.slice(2).filter((word) => !word.startsWith('--'));
let running;
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop(signal));

for (const name of documents) {
  const blocks = readBlocks(readFileSync(path.resolve(ROOT, name), 'utf8'), name).filter(
    ({ action }) => action !== 'show',
  );
  console.log(`${name}: ${blocks.length} blocks`);
  if (options.includes('--list')) for (const { line, action } of blocks) console.log(`${name}:${line} ${action}`);
  else if (!(await runDocument(name, blocks))) process.exitCode = 1;
}

async function runDocument(name, blocks) {
  const checkout = makeCheckout();
  const outputs = mkdtempSync(path.join(tmpdir(), 'docs-output-'));
  try {
    writeFileSync(path.join(outputs, 'run.sh'), toScript(name, blocks, outputs));
    for (const block of blocks) writeFileSync(path.join(outputs, `${block.line}.text`), block.text);
    const code = await runShell(path.join(outputs, 'run.sh'), checkout.folder);
    if (code !== 0) console.error(`${name}: a block failed (exit code ${code}), the last one that is named above`);
    const problems = code === 0 ? shapeProblems(name, blocks, outputs) : [];
    for (const problem of problems) console.error(problem);
    return code === 0 && problems.length === 0;
  } finally {
    rmSync(outputs, { recursive: true, force: true });
    if (options.includes('--keep')) console.log(`kept: ${checkout.folder}`);
    else checkout.remove();
  }
}

/** One shell for all blocks, so that later blocks see the variables of earlier ones, as in a reader's terminal. */
function toScript(name, blocks, outputs) {
  const steps = blocks.map((block) => {
    const output = path.join(outputs, String(block.line));
    return `current=${output}\necho "== ${name}:${block.line} ($SECONDS s)"\n${toStep(block, output)}`;
  });
  return `set -euo pipefail
exec 8>&1
ended() {
  code=$?
  set +e
  trap - EXIT
  # The block's own redirection still holds.
  if [ $code -ne 0 ]; then cat "$current".* >&8; fi
  kill $(jobs -p) 2>/dev/null
  for _ in $(seq ${STOP_SECONDS * 10}); do
    if [ -z "$(jobs -rp)" ]; then break; fi
    sleep 0.1
  done
  exit $code
}
trap ended EXIT
trap 'exit 143' TERM INT
is_ready() {
  case "$1" in
    port:*) (exec 3<>"/dev/tcp/127.0.0.1/\${1#port:}") 2>/dev/null ;;
    *) [ -e "$1" ] ;;
  esac
}
until_ready() {
  for _ in $(seq ${READY_SECONDS * 10}); do
    if is_ready "$1"; then return; fi
    kill -0 "$2" || return
    sleep 0.1
  done
  return 1
}
${steps.join('\n')}
`;
}

/**
 * `current` names the block for the trap. A step must not be inside a condition, because `set -e`
 * ignores failures there.
 */
function toStep({ action, file, text }, output) {
  if (action === 'file') return `mkdir -p "$(dirname "${file}")"\ncp ${output}.text "${file}"`;
  if (action === 'apply') return `git apply --unidiff-zero ${output}.text > ${output}.out 2>&1`;
  if (action === 'run') return `{\n${text}} > ${output}.out 2> ${output}.err`;
  if (action === 'background') return `(\n${asOneProcess(text)}) > ${output}.out 2>&1 &\nuntil_ready "${file}" $!`;
  return ':';
}

/** Replaces the shell with the job's program, so that the program itself receives the stop signal. */
function asOneProcess(text) {
  const lines = text.trimEnd().split('\n');
  return `${[...lines.slice(0, -1), `exec env ${lines.at(-1)}`].join('\n')}\n`;
}

/** Compares each `json shape` block with the output of the command above it. */
function shapeProblems(name, blocks, outputs) {
  return blocks.flatMap(({ action, line, text }, index) => {
    if (action !== 'shape') return [];
    const printed = readFileSync(path.join(outputs, `${blocks[index - 1].line}.out`), 'utf8');
    try {
      const problem = shapeProblem(JSON.parse(text), JSON.parse(printed));
      return problem === undefined ? [] : [`${name}:${line}: ${problem}: ${printed}`];
    } catch (error) {
      return [`${name}:${line}: ${error.message}: ${printed}`];
    }
  });
}

async function runShell(script, cwd) {
  const ports = { PORT: '0', POSTGRES_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };
  // Reuse what `npm ci` has downloaded.
  const jobs = {
    npm_config_prefer_offline: 'true',
    MCP_PORT: String(await getPort({ host: '127.0.0.1' })),
    HOOK_PORT: String(await getPort({ host: '127.0.0.1' })),
  };
  const env = { ...machinesEnvironment(), ...ports, ...jobs };
  // A separate process group, so that everything that a block has started can be stopped.
  running = spawn('bash', [script], { cwd, env, stdio: ['ignore', 'inherit', 'inherit'], detached: true });
  const code = await new Promise((resolve) => {
    running.on('error', (error) => {
      console.error(error.message);
      resolve(1);
    });
    running.on('close', resolve);
  });
  await endGroup(running.pid);
  running = undefined;
  return code;
}

/** Signals the whole group, because a program may not pass its signal on: npx leaves its children running. */
async function endGroup(pid) {
  for (const signal of ['SIGTERM', 'SIGKILL']) {
    for (let tries = 0; tries < 50; tries += 1) {
      try {
        process.kill(-pid, tries === 0 ? signal : 0);
      } catch {
        return;
      }
      await pause(100);
    }
  }
}

/** The shell stops its jobs, in order. */
function stop(signal) {
  if (running?.pid === undefined) process.exit(1);
  process.exitCode = 1;
  console.error(`stopped by ${signal}, so its time may be over`);
  process.kill(-running.pid, signal);
}

/** Keeps only the variables that the machine needs to reach its registry, like a newcomer's environment. */
function machinesEnvironment() {
  const kept =
    /^(?:PATH|HOME|USER|LANG|TMPDIR|XDG_CACHE_HOME|TEMPORAL_CLI|GO[A-Z]+|NODE_EXTRA_CA_CERTS|npm_config_.*)$/;
  const wrong = 'npm_config_local_prefix';
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.test(name) && name !== wrong));
}
