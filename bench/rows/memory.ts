// Measures the worker's resident memory per waiting run, and the growth of API and worker under a steady load.
import { setTimeout as pause } from 'node:timers/promises';
import { chainOf } from '../graphs.js';
import { drive } from '../load.js';
import { rssMiB } from '../../harness/processes/figures.js';
import { releaseCalls } from '../../harness/target/recorded-calls.js';
import type { Memory } from '../results.js';
import { median } from '../statistics.js';
import type { ServiceName, Subject } from '../subjects.js';
import type { RowContext } from './row-context.js';

const GRAPH = chainOf(5);
const LANES = 20;
/**
 * Runs whose call the target holds. Runs beyond the worker's 100 slots wait without a call and only occupy its cache.
 */
const WAITING = { first: 150, more: 250 };
const WAITING_WHEN_QUICK = { first: 20, more: 40 };
const HELD = { tag: 'held', delayMs: 25_000 };
/** Processes grow until they have collected garbage a few times. The preceding rows are most of this warm-up. */
const SETTLE_UNDER_LOAD_MS = 10_000;
const THIRD_MS = 10_000;
const SETTLE_MS = 3_000;
const SAMPLE_EVERY_MS = 250;

export async function measureMemory(context: RowContext, service: Subject): Promise<Memory> {
  const { isQuick, report } = context;
  const subject = service.name as ServiceName;
  await service.prepare(GRAPH);
  const load = await underLoad(context, service);
  const { first, more } = isQuick ? WAITING_WHEN_QUICK : WAITING;
  const worker = service.pids().worker;
  const ids = await startHeld(service, first);
  const before = rssMiB(worker);
  ids.push(...(await startHeld(service, more)));
  const workerKibPerWaitingRun = ((rssMiB(worker) - before) * 1024) / more;
  await letEnd(context, service, ids);
  report(
    `${subject}, memory: ${workerKibPerWaitingRun.toFixed(0)} KiB a waiting run; API ${load.apiMib.map(Math.round).join(', ')} MiB`,
  );
  return { subject, waitingRuns: more, workerKibPerWaitingRun, ...load };
}

async function underLoad(
  { durationMs, isQuick }: RowContext,
  service: Subject,
): Promise<Pick<Memory, 'apiMib' | 'workerMib'>> {
  const thirdMs = isQuick ? durationMs : THIRD_MS;
  const settleMs = isQuick ? durationMs : SETTLE_UNDER_LOAD_MS;
  await drive({ subject: service, graph: GRAPH, lanes: LANES, durationMs: settleMs });
  const { api, worker } = service.pids();
  const samples: { apiMib: number; workerMib: number }[] = [];
  const sampling = setInterval(() => {
    samples.push({ apiMib: rssMiB(api), workerMib: rssMiB(worker) });
  }, SAMPLE_EVERY_MS);
  try {
    await drive({ subject: service, graph: GRAPH, lanes: LANES, durationMs: thirdMs * 3 });
  } finally {
    clearInterval(sampling);
  }
  const third = Math.floor(samples.length / 3);
  const thirds = [samples.slice(0, third), samples.slice(third, 2 * third), samples.slice(2 * third)];
  return {
    apiMib: thirds.map((part) => median(part.map(({ apiMib }) => apiMib))),
    workerMib: thirds.map((part) => median(part.map(({ workerMib }) => workerMib))),
  };
}

/** Starts runs, and waits SETTLE_MS for them to get as far as they can. */
async function startHeld(service: Subject, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const batch = Math.min(10, count - ids.length);
    const started = await Promise.all(Array.from({ length: batch }, () => service.start(GRAPH, HELD)));
    ids.push(...started.map(({ id }) => id));
  }
  await pause(SETTLE_MS);
  return ids;
}

async function letEnd({ testbed }: RowContext, service: Subject, ids: string[]): Promise<void> {
  for (const id of ids) {
    while (!(await service.poll(id)).isTerminal) {
      await releaseCalls(testbed.targetUrl);
      await pause(50);
    }
  }
}
