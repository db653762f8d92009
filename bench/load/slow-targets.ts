// Scenario `c` of `npm run load`.
// Slow targets: while one project waits for them in all slots that it may hold, quick runs of another project must
// still be executed.
import { createLoadClient, pollRuns, startRuns } from '../../harness/client/load.js';
import { slowRun, smallRun } from './drawings.js';
import { percentile } from '../statistics.js';
import { watchPeaks } from './measure.js';
import { peakFigures, type Findings } from './report.js';
import { countCalls, type LoadStack } from './stack.js';

const POLLERS = 100;
const QUICK_RUNS = 20;

export async function slowTargets(stack: LoadStack, count: number, delayMs: number): Promise<Findings> {
  const callsBefore = await countCalls(stack);
  const client = createLoadClient(stack, POLLERS + 10);
  const slowId = await client.createWorkflow('slow', slowRun(stack.targetUrl, delayMs));
  const quickId = await client.createWorkflow('quick', smallRun(stack.targetUrl));
  const peaks = watchPeaks(stack);
  const startedAt = performance.now();
  const polling = pollRuns(client, { pollers: POLLERS, everyMs: 1_000 });
  const started = await startRuns(client, slowId, { count, atOnce: 50, onStarted: polling.add });
  // Quick runs of another project, which find free slots.
  const quickMs = await Promise.all(
    Array.from({ length: QUICK_RUNS }, async () => {
      const sentAt = performance.now();
      const quick = pollRuns(client, { pollers: 1, everyMs: 100 });
      quick.add(await client.start(quickId));
      const { failed } = await quick.finish();
      return failed > 0 ? Number.NaN : performance.now() - sentAt;
    }),
  );
  const ends = await polling.finish();
  const tookMs = performance.now() - startedAt;
  const peak = await peaks.end();
  await client.close();
  const calls = await countCalls(stack);
  return {
    scenario: `${count} runs that wait ${delayMs / 1000} s each for their target, then ${QUICK_RUNS} quick ones of another project`,
    figures: {
      'acceptance p99, ms': percentile(started.latenciesMs, 0.99),
      'all ended after, s': tookMs / 1000,
      'slots that were busy on average': (count * delayMs) / tookMs,
      failed: ends.failed,
      lost: count - ends.succeeded - ends.failed,
      'quick runs, p50, s': percentile(quickMs, 0.5) / 1000,
      'quick runs, slowest, s': Math.max(...quickMs) / 1000,
      ...peakFigures(peak),
    },
    claims: {
      'every run succeeded': ends.succeeded === count && quickMs.every((ms) => !Number.isNaN(ms)),
      'every poll was answered': ends.pollErrors.length === 0,
      'no node was called twice': calls.repeated === callsBefore.repeated,
      'quick runs ended before half of the slow ones could': Math.max(...quickMs) < tookMs / 2,
    },
  };
}
