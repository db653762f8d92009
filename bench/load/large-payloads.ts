// Scenario `b` of `npm run load`.
// Responses of 5 MB: templates pass them on in a chain, parallel nodes receive them, and many such runs do so at once.
import { createLoadClient, pollRuns, startRuns } from '../../harness/client/load.js';
import { eventually } from '../../harness/timing/eventually.js';
import { largeChain, largeFanOut } from './drawings.js';
import { percentile } from '../statistics.js';
import { watchPeaks, weigh, weighSettled } from './measure.js';
import { peakFigures, weightFigures, type Findings } from './report.js';
import { countCalls, type LoadStack } from './stack.js';

const POLLERS = 100;
/** docs/operate/tuning.md explains these limits. */
const WORKER_BOUND_MIB = 1_400;
const API_BOUND_MIB = 700;

interface LargeLoad {
  payloadBytes: number;
  fanOutWidth: number;
  chains: number;
  fanOuts: number;
}

export async function largePayloads(stack: LoadStack, load: LargeLoad): Promise<Findings> {
  const { payloadBytes, fanOutWidth, chains, fanOuts } = load;
  const before = await weigh(stack);
  const callsBefore = await countCalls(stack);
  const client = createLoadClient(stack, POLLERS + 10);
  const chainId = await client.createWorkflow('large chain', largeChain(stack.targetUrl, payloadBytes, 2));
  const fanOutId = await client.createWorkflow(
    'large fan-out',
    largeFanOut(stack.targetUrl, payloadBytes, fanOutWidth),
  );
  const peaks = watchPeaks(stack);
  const startedAt = performance.now();
  const polling = pollRuns(client, { pollers: POLLERS, everyMs: 500 });
  await Promise.all([
    startRuns(client, chainId, { count: chains, atOnce: chains, onStarted: polling.add }),
    startRuns(client, fanOutId, { count: fanOuts, atOnce: fanOuts, onStarted: polling.add }),
  ]);
  const ends = await polling.finish();
  const tookMs = performance.now() - startedAt;
  // The most expensive read: all readers request a finished fan-out at once.
  const rereading = await readAtOnce(stack, fanOutId);
  const peak = await peaks.end();
  await client.close();
  const settled = await weighSettled(stack);
  const calls = await countCalls(stack);
  const { pids } = stack.stack;
  return {
    scenario: `${chains} chains and ${fanOuts} fan-outs (${fanOutWidth} wide) at once, each node answers ${payloadBytes} bytes, ${POLLERS} pollers`,
    figures: {
      'all ended after, s': tookMs / 1000,
      failed: ends.failed,
      lost: chains + fanOuts - ends.succeeded - ends.failed,
      polls: ends.polls,
      'polled, MB': ends.polledBytes / 1_000_000,
      'poll p50, ms': percentile(ends.latenciesMs, 0.5),
      'poll p99, ms': percentile(ends.latenciesMs, 0.99),
      'polls not answered': ends.pollErrors.length + rereading.errors,
      'a whole fan-out to each of 20 readers at once, s': rereading.tookMs / 1000,
      'read so, MB': rereading.bytes / 1_000_000,
      ...weightFigures('before', before),
      ...peakFigures(peak),
      ...weightFigures('settled', settled),
      ...(ends.pollErrors.length > 0 ? { 'first error': ends.pollErrors[0]! } : {}),
    },
    claims: {
      'every run succeeded': ends.succeeded === chains + fanOuts,
      'every poll was answered': ends.pollErrors.length === 0 && rereading.errors === 0,
      'no node was called twice': calls.repeated === callsBefore.repeated,
      [`the worker stayed below ${WORKER_BOUND_MIB} MiB`]: peak.workerRssMiB < WORKER_BOUND_MIB,
      [`the API stayed below ${API_BOUND_MIB} MiB`]: peak.apiRssMiB < API_BOUND_MIB,
      'no process was started anew': pids.api === stack.startedPids.api && pids.worker === stack.startedPids.worker,
    },
  };
}

const READERS = 20;
/** Only ends a run that hangs. */
const READ_RUN_MS = 300_000;

async function readAtOnce(stack: LoadStack, workflowId: number) {
  const client = createLoadClient(stack, READERS);
  const runId = await client.start(workflowId);
  await eventually(async () => !(await client.poll(runId)).status.startsWith('in '), {
    timeoutMs: READ_RUN_MS,
    intervalMs: 500,
  });
  const startedAt = performance.now();
  const answers = await Promise.allSettled(Array.from({ length: READERS }, () => client.poll(runId)));
  const tookMs = performance.now() - startedAt;
  await client.close();
  const read = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.sizeBytes : []));
  return { tookMs, bytes: read.reduce((sum, size) => sum + size, 0), errors: answers.length - read.length };
}
