// Draws the picture of the README from a real run of the first sample workflow on a running stack:
//
//   node scripts/run-picture.mjs [DATA_DIR] [FILE]      defaults: .data, docs/run.svg
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startSandboxTargets } from '../dist/cli/sandbox/targets.js';
import { createApiClient } from '../dist/harness/client/api-client.js';
import { drawRun } from './docs/run-drawing.mjs';

const ROOT = path.resolve(import.meta.dirname, '..');
const SAMPLE = path.join(ROOT, 'examples/graphs/news-verdict.json');
const LOOK_EVERY_MS = 40;
const GIVE_UP_MS = 60_000;

const [dataDir = path.join(ROOT, '.data'), file = path.join(ROOT, 'docs/run.svg')] = process.argv.slice(2);
const stack = JSON.parse(readFileSync(path.join(dataDir, 'stack.json'), 'utf8'));
const api = createApiClient(stack.api_url, stack.api_key);
const { title, input, data } = JSON.parse(readFileSync(SAMPLE, 'utf8'));
const targets = await startSandboxTargets();
try {
  const workflow = await api.createWorkflow(await api.createProject('Picture'), data, title);
  const started = await api.run(workflow, { ...input, base_url: targets.url });
  if (started.status !== 201) throw new Error(`the run was refused: ${JSON.stringify(started)}`);
  const { id } = started.data;
  const { nodes, seconds } = await watch(id);
  const run = await api.history(workflow, id);
  const bill = (await api.get(`/billing-history/workflowrun/${id}/?size=100`)).body.items;
  const facts = Object.fromEntries(
    Object.entries(nodes).map(([nodeId, { status, result, error }]) => {
      const label = data.nodes.find((node) => node.id === nodeId).data.label;
      const paid = bill.filter(({ description, amount }) => description === label && amount.USD !== '0');
      const cost = paid.map(({ amount }) => `$${amount.USD}`);
      return [nodeId, { status, content: result?.content ?? error?.code ?? '', seconds: seconds(nodeId), cost }];
    }),
  );
  const summary = { title, status: run.status, seconds: run.duration, cost: `$${run.cost.USD}` };
  writeFileSync(file, drawRun(data, summary, facts));
  console.log(`${file}: ${run.status}, ${Object.keys(facts).length} of ${data.nodes.length} nodes ran`);
} finally {
  await targets.close();
}

/**
 * Polls until the end, much more often than a client should, because a node's time is measured from its first sight.
 */
async function watch(runId) {
  const seen = new Map();
  for (const startedAt = Date.now(); Date.now() - startedAt < GIVE_UP_MS; await pause(LOOK_EVERY_MS)) {
    const state = (await api.poll(runId)).data;
    for (const [nodeId, { status }] of Object.entries(state.data ?? {})) {
      const times = seen.get(nodeId) ?? { from: Date.now() };
      if (status !== 'in progress') times.to ??= Date.now();
      seen.set(nodeId, times);
    }
    if (state.status !== 'succeed' && state.status !== 'failed') continue;
    return { nodes: state.data, seconds: (nodeId) => (seen.get(nodeId).to - seen.get(nodeId).from) / 1000 };
  }
  throw new Error(`the run ${runId} did not end`);
}
