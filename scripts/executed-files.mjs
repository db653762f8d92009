// Prints the list "One HTTP node, file by file" of ARCHITECTURE.md: the files of this repository that execute a
// function during a run of a trigger, an HTTP node and an output node on a running stack. Work of the processes at
// their start or in the background does not count. The inspectors of the stack's processes must be open:
//
//   NODE_OPTIONS=--inspect=127.0.0.1:0 npm start
//   node scripts/executed-files.mjs [DATA_DIR] [--write]      default: .data; --write writes the list into the document
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createApiClient } from '../dist/harness/client/api-client.js';
import { inspectProcess } from './docs/inspected-process.mjs';

const ROOT = path.resolve(import.meta.dirname, '..');
const DIST = path.join(ROOT, 'dist');
const BUNDLE = path.join(DIST, 'workflow-bundle.js');
const DOCUMENT = path.join(ROOT, 'ARCHITECTURE.md');
const [BEGIN, END] = ['<!-- npm run docs:files -->', '<!-- end -->'];
const ROUNDS = 9;
/** In this time, every background loop with a short interval calls its functions. */
const IDLE_MS = 15_000;
/** Files of background loops with an interval of a second or two. On a slow machine they are called in every round. */
const OF_LOOPS = new Set(['api/loops/background-loop.ts', 'db/core/sleep.ts', 'db/pools/pool-nodes-repository.ts']);
const POLL_EVERY_MS = 50;
const GIVE_UP_MS = 60_000;

const args = process.argv.slice(2);
const [dataDir = path.join(ROOT, '.data')] = args.filter((arg) => arg !== '--write');
const stack = JSON.parse(readFileSync(path.join(dataDir, 'stack.json'), 'utf8'));
const client = createApiClient(stack.api_url, stack.api_key);
const fromBundle = readBundle();
const [api, worker] = await Promise.all(['api', 'worker'].map((name) => inspectProcess(inspectorOf(name))));
try {
  const project = await client.createProject('Executed files');
  // Not measured, because the first run also executes one-time initialisation.
  await measureRun(project);
  const background = await listenToBackground();
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureRun(project));
  const parts = Object.keys(rounds[0]).map((part) => rounds.map((round) => round[part]));
  const list = toList(parts.map((part) => executedFiles(part, background)));
  if (args.includes('--write')) writeFileSync(DOCUMENT, withList(readFileSync(DOCUMENT, 'utf8'), list));
  else console.log(list);
} finally {
  api.close();
  worker.close();
}

/** Returns the functions that API and worker call without a request or a run. */
async function listenToBackground() {
  const take = () => Promise.all([api.takeCalled(), worker.takeCalled()]);
  await take();
  await pause(IDLE_MS);
  return new Set((await take()).flatMap(({ main }) => main.map(keyOf)));
}

/** Runs a new workflow with a new target, and returns the functions that each part calls. */
async function measureRun(project) {
  const target = await startTarget();
  try {
    const data = drawingOf(target.url);
    const workflow = await client.createWorkflow(project, data, target.url);
    await worker.takeCalled();
    const [accepting, { data: run }] = await inApi(() => client.run(workflow));
    await target.called;
    const [polling] = await inApi(() => client.poll(run.id));
    target.answer();
    const polled = [...polling, ...(await pollToEnd(run.id))];
    const { main, threads } = await worker.takeCalled();
    return { accepting, scheduling: threads, executing: main, polled };
  } finally {
    target.close();
  }
}

/** Measures the API only during its requests, to exclude most of its background work. */
async function inApi(request) {
  await api.takeCalled();
  const answer = await request();
  const { main } = await api.takeCalled();
  return [main, answer];
}

async function pollToEnd(runId) {
  for (const startedAt = Date.now(); Date.now() - startedAt < GIVE_UP_MS; await pause(POLL_EVERY_MS)) {
    const [called, { data: state }] = await inApi(() => client.poll(runId));
    if (state.status === 'succeed') return called;
    if (state.status === 'failed') break;
  }
  throw new Error(`the run ${runId} did not succeed`);
}

function drawingOf(url) {
  const node = (type, id, next, data) => ({ id, type, data: { id, label: id, next_nodes: next, ...data } });
  return {
    start_node: 'start',
    nodes: [
      node('trigger-node', 'start', ['call'], { input_fields: [] }),
      node('http-node', 'call', ['end'], { method: 'GET', url }),
      node('output-node', 'end', [], { value: '{{ call.result.content }}' }),
    ],
  };
}

/** Starts a server that answers its first request when `answer` is called. */
async function startTarget() {
  const server = createServer();
  const called = once(server, 'request');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    called,
    answer: () => void called.then(([, response]) => response.end('{"ok":true}')),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * A file counts if most rounds call a function of it that is never called in the background, or if every round calls
 * any function of it.
 */
function executedFiles(rounds, background) {
  const own = countRounds(rounds.map((called) => called.filter((each) => !background.has(keyOf(each)))));
  const any = countRounds(rounds);
  const isExecuted = (file) => any.get(file) === ROUNDS || (own.get(file) ?? 0) > ROUNDS / 2;
  return new Set([...any.keys()].filter((file) => !OF_LOOPS.has(file) && isExecuted(file)));
}

function countRounds(rounds) {
  const counts = new Map();
  for (const file of rounds.flatMap((called) => [...new Set(called.flatMap(sourceOf))]))
    counts.set(file, (counts.get(file) ?? 0) + 1);
  return counts;
}

function keyOf({ url, offset }) {
  return `${url}:${offset}`;
}

/** Returns the source of a function of this repository; nothing for a function of a package. */
function sourceOf({ url, offset }) {
  const file = url.startsWith('file:') ? fileURLToPath(url) : '';
  if (file === BUNDLE) return fromBundle(offset);
  const source = path.relative(DIST, file).replace(/\.js$/, '.ts');
  return file.startsWith(`${DIST}/`) && existsSync(path.join(ROOT, source)) ? [source] : [];
}

/** Returns a `sourceOf` for offsets in the bundle of the run workflow. */
function readBundle() {
  const text = readFileSync(BUNDLE, 'utf8');
  const [, encoded] = /\/\/# sourceMappingURL=data:application\/json;[^,]*base64,(\S+)/.exec(text);
  const map = new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')));
  const lines = text.split('\n');
  const starts = lines.map(() => 0);
  for (let line = 1; line < lines.length; line += 1) starts[line] = starts[line - 1] + lines[line - 1].length + 1;
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    const { originalSource = '', generatedLine } = map.findEntry(line, offset - starts[line]);
    // Lines of the bundler itself have no entry.
    const isOurs = generatedLine === line && originalSource.startsWith(`${ROOT}/`);
    const source = path.relative(ROOT, originalSource);
    return isOurs && !/^(?:node_modules|dist)\//.test(source) ? [source] : [];
  };
}

/** Lists each file at the first step that executes it. */
function toList([accepting, scheduling, executing, polled]) {
  const requests = new Set([...accepting].filter((file) => polled.has(file)));
  const steps = [
    ['Every request, that of the start and each poll, passes', requests],
    ['The request that starts the run executes', accepting],
    ['The run workflow, which schedules the nodes, executes', scheduling],
    ['The activity, which attempts the nodes and ends the run, executes', executing],
    ['A poll, which answers the result, executes', polled],
  ];
  const listed = new Set();
  return steps
    .map(([title, files], index) => {
      const own = [...files].filter((file) => !listed.has(file)).toSorted(byFolder);
      for (const file of own) listed.add(file);
      const lines = [...groupByFolder(own)].map(
        ([folder, inIt]) => `   - \`${folder}/\`: ${inIt.map(nameOf).join(', ')}`,
      );
      return [`${index + 1}. ${title} ${own.length} files:`, ...lines].join('\n');
    })
    .concat(`\nThese are ${listed.size} files.`)
    .join('\n');
}

function byFolder(a, b) {
  return path.dirname(a).localeCompare(path.dirname(b)) || a.localeCompare(b);
}

function groupByFolder(files) {
  const folders = new Map();
  for (const file of files) folders.set(path.dirname(file), [...(folders.get(path.dirname(file)) ?? []), file]);
  return folders;
}

function nameOf(file) {
  return path.basename(file, '.ts');
}

function withList(document, list) {
  const [before, rest] = document.split(BEGIN);
  const [, after] = rest.split(END);
  return `${before}${BEGIN}\n\n${list}\n\n${END}${after}`;
}

function inspectorOf(name) {
  const log = readFileSync(path.join(dataDir, 'logs', `${name}.log`), 'utf8');
  const address = [...log.matchAll(/Debugger listening on (ws:\S+)/g)].at(-1)?.[1];
  if (address === undefined) throw new Error(`${name}: start the stack with NODE_OPTIONS=--inspect=127.0.0.1:0`);
  return address;
}
