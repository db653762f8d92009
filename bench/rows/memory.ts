// Measures the worker's resident memory per waiting run, and the growth of API and worker under a steady load.
import { setTimeout as pause } from 'node:timers/promises';
import { chainOf } from '../graphs.js';
import { drive, PATIENT_POLL_MS } from '../load.js';
import { rssMiB } from '../../harness/processes/figures.js';
import type { Memory } from '../results.js';
import { median } from '../statistics.js';
import type { Service } from '../subjects.js';
import { endHeld, startHeld } from './held.js';
import type { RowContext } from './row-context.js';

const GRAPH = chainOf(5);
const LANES = 20;
/**
 * Runs whose call the target holds. By default, a project gets 80 slots of a worker: further runs wait without a call
 * and only occupy the worker's cache.
 */
const WAITING = { first: 150, more: 250 };
const WAITING_WHEN_QUICK = { first: 20, more: 40 };
/** Processes grow until they have collected garbage a few times. The preceding rows are most of this warm-up. */
const SETTLE_UNDER_LOAD_MS = 10_000;
const THIRD_MS = 10_000;
const SETTLE_MS = 3_000;
const SAMPLE_EVERY_MS = 250;

export async function measureMemory(context: RowContext, service: Service): Promise<Memory> {
  const { testbed, isQuick, report } = context;
  await service.prepare(GRAPH);
  const load = await underLoad(context, service);
  const { first, more } = isQuick ? WAITING_WHEN_QUICK : WAITING;
  const worker = service.pids().worker;
  const ids = await startAndSettle(service, first);
  const before = rssMiB(worker);
  ids.push(...(await startAndSettle(service, more)));
  const workerKibPerWaitingRun = ((rssMiB(worker) - before) * 1024) / more;
  await endHeld(service, testbed.targetUrl, ids);
  report(
    `${service.name}, memory: ${workerKibPerWaitingRun.toFixed(0)} KiB a waiting run; API ${load.apiMib.map(Math.round).join(', ')} MiB`,
  );
  return { subject: service.name, waitingRuns: more, workerKibPerWaitingRun, ...load };
}

async function underLoad(
  { durationMs, isQuick }: RowContext,
  service: Service,
): Promise<Pick<Memory, 'apiMib' | 'workerMib'>> {
  const thirdMs = isQuick ? durationMs : THIRD_MS;
  const settleMs = isQuick ? durationMs : SETTLE_UNDER_LOAD_MS;
  const load = { subject: service, graph: GRAPH, lanes: LANES, pollMode: PATIENT_POLL_MS };
  await drive({ ...load, durationMs: settleMs });
  const { api, worker } = service.pids();
  const samples: { apiMib: number; workerMib: number }[] = [];
  const sampling = setInterval(() => {
    samples.push({ apiMib: rssMiB(api), workerMib: rssMiB(worker) });
  }, SAMPLE_EVERY_MS);
  try {
    await drive({ ...load, durationMs: thirdMs * 3 });
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
async function startAndSettle(service: Service, count: number): Promise<string[]> {
  const ids = await startHeld(service, GRAPH, count);
  await pause(SETTLE_MS);
  return ids;
}
