// Scenario `a` of `npm run load`.
// Many small runs at once, in two rounds. Memory that the processes gain in the second round would be a leak.
import { createLoadClient, pollRuns, startRuns } from '../../harness/client/load.js';
import { smallRun } from './drawings.js';
import { percentile } from '../statistics.js';
import { watchPeaks, weigh, weighSettled, type Weight } from './measure.js';
import { peakFigures, weightFigures, type Findings } from './report.js';
import { countCalls, type LoadStack } from './stack.js';

const CALLERS = 50;
const POLLERS = 100;
/** 200 polls a second in total. */
const POLL_EVERY_MS = 500;
/** Allows for caches that are still filling up. The heaps are compared after a garbage collection. */
const HEAP_SLACK_MIB = 16;
/** The allocator retains a varying amount of freed memory. */
const RSS_SLACK_MIB = 64;
const GETS_A_RUN = 3;

export async function smallRuns(stack: LoadStack, count: number): Promise<Findings> {
  const before = await weigh(stack);
  const first = await round(stack, count);
  const second = await round(stack, count);
  return {
    scenario: `${count} runs of trigger, 3 GETs and a condition, started by ${CALLERS} connections, ${POLLERS} pollers; twice`,
    figures: {
      ...weightFigures('before', before),
      ...prefixed('1st', first.figures),
      ...prefixed('2nd', second.figures),
    },
    claims: {
      'every accepted run ended, as succeeded': first.isWhole && second.isWhole,
      'no node was called twice': first.repeated === 0 && second.repeated === 0,
      'every node was called': first.calledNodes === count * GETS_A_RUN && second.calledNodes === count * GETS_A_RUN,
      [`the API's heap and RSS are flat (within ${HEAP_SLACK_MIB} and ${RSS_SLACK_MIB} MiB)`]: isFlat(
        first,
        second,
        'api',
      ),
      [`the worker's heap and RSS are flat (within ${HEAP_SLACK_MIB} and ${RSS_SLACK_MIB} MiB)`]: isFlat(
        first,
        second,
        'worker',
      ),
    },
  };
}

interface Round {
  figures: Record<string, number | string>;
  isWhole: boolean;
  repeated: number;
  calledNodes: number;
  settled: Weight;
}

async function round(stack: LoadStack, count: number): Promise<Round> {
  const callsBefore = await countCalls(stack);
  const callers = createLoadClient(stack, CALLERS);
  const readers = createLoadClient(stack, POLLERS);
  const workflowId = await callers.createWorkflow('small runs', smallRun(stack.targetUrl));
  const peaks = watchPeaks(stack);
  const startedAt = performance.now();
  const polling = pollRuns(readers, { pollers: POLLERS, everyMs: POLL_EVERY_MS });
  const started = await startRuns(callers, workflowId, { count, atOnce: CALLERS, onStarted: polling.add });
  const ends = await polling.finish();
  const tookMs = performance.now() - startedAt;
  const peak = await peaks.end();
  await Promise.all([callers.close(), readers.close()]);
  const settled = await weighSettled(stack);
  const calls = await countCalls(stack);
  return {
    figures: {
      'accepted runs per second': started.runIds.length / (started.tookMs / 1000),
      'acceptance p50, ms': percentile(started.latenciesMs, 0.5),
      'acceptance p99, ms': percentile(started.latenciesMs, 0.99),
      'poll p50, ms': percentile(ends.latenciesMs, 0.5),
      'poll p99, ms': percentile(ends.latenciesMs, 0.99),
      'all ended after, s': tookMs / 1000,
      'ended runs per second': count / (tookMs / 1000),
      lost: count - ends.succeeded - ends.failed,
      failed: ends.failed,
      'polls not answered': ends.pollErrors.length,
      ...peakFigures(peak),
      ...weightFigures('settled', settled),
    },
    isWhole: ends.succeeded === count && ends.pollErrors.length === 0,
    repeated: calls.repeated - callsBefore.repeated,
    calledNodes: calls.nodes - callsBefore.nodes,
    settled,
  };
}

function isFlat(first: Round, second: Round, part: 'api' | 'worker'): boolean {
  const grew = (figure: keyof Weight) => second.settled[figure] - first.settled[figure];
  return grew(`${part}HeapMiB`) <= HEAP_SLACK_MIB && grew(`${part}RssMiB`) <= RSS_SLACK_MIB;
}

function prefixed<T>(prefix: string, figures: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${prefix}: ${name}`, value]));
}
