// Measures the latency of 100 polls per second, which are sent at fixed times even if earlier ones are unanswered.
import { setTimeout as pause } from 'node:timers/promises';
import { chainOf } from '../graphs.js';
import { ALONE_POLL_MS, PLAIN_INPUT, runJob } from '../load.js';
import type { PollLatencies } from '../results.js';
import { percentile } from '../statistics.js';
import type { Service } from '../subjects.js';
import { endHeld, HELD_MS, startHeld } from './held.js';
import type { RowContext } from './row-context.js';

const PER_SECOND = 100;
const IN_FLIGHT = 20;
const GRAPH = chainOf(5);

export async function measurePolls(context: RowContext, service: Service): Promise<PollLatencies[]> {
  const { durationMs, report } = context;
  const subject = service.name;
  await service.prepare(GRAPH);
  const { id: finishedId } = await runJob(service, GRAPH, ALONE_POLL_MS);
  const pollFinished = async () => (await service.poll(finishedId)).tookMs;
  const measured: PollLatencies[] = [];
  const add = (load: PollLatencies['load'], of: PollLatencies['of'], latencies: number[]): void => {
    const [p50Ms, p99Ms] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
    measured.push({ subject, load, of, perSecond: PER_SECOND, polls: latencies.length, p50Ms, p99Ms });
    report(`${subject}: polls of ${of} runs, ${load}: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`);
  };
  await atRate(durationMs / 4, pollFinished); // warm-up
  add('alone', 'finished', await atRate(durationMs, pollFinished));
  add('alone', 'live', await pollHeldRun(context, service));
  const crowd = createCrowd(service);
  try {
    await crowd.fill();
    await atRate(durationMs / 4, crowd.pollNext);
    add('loaded', 'live', await atRate(durationMs, crowd.pollNext));
    // Polls of finished runs are added to those of the runs in flight.
    const [ofFinished] = await Promise.all([atRate(durationMs, pollFinished), atRate(durationMs, crowd.pollNext)]);
    add('loaded', 'finished', ofFinished);
  } finally {
    await crowd.empty();
  }
  return measured;
}

async function pollHeldRun({ testbed, durationMs }: RowContext, service: Service): Promise<number[]> {
  const [id] = (await startHeld(service, GRAPH, 1)) as [string];
  try {
    return await atRate(Math.min(durationMs, HELD_MS / 2), async () => (await service.poll(id)).tookMs);
  } finally {
    await endHeld(service, testbed.targetUrl, [id]);
  }
}

/** Keeps 20 runs in flight. A poll that finds its run ended starts the next run. */
function createCrowd(service: Service) {
  const ids: (string | undefined)[] = new Array<string | undefined>(IN_FLIGHT).fill(undefined);
  let [next, isEmptying] = [0, false];
  const start = async (slot: number): Promise<void> => {
    ids[slot] = (await service.start(GRAPH, PLAIN_INPUT)).id;
  };
  const pollSlot = async (slot: number, id: string): Promise<number | undefined> => {
    const { tookMs, isTerminal } = await service.poll(id);
    if (isTerminal && ids[slot] === id) {
      ids[slot] = undefined;
      if (!isEmptying) await start(slot);
    }
    // A poll that reports the end is a poll of a finished run, so it is not counted here.
    return isTerminal ? undefined : tookMs;
  };
  return {
    fill: async () => void (await Promise.all(ids.map((_id, slot) => start(slot)))),
    /** Returns the latency in milliseconds, or undefined if no live run was polled. */
    async pollNext(this: void): Promise<number | undefined> {
      for (let tries = 0; tries < IN_FLIGHT; tries++) {
        const slot = next++ % IN_FLIGHT;
        const id = ids[slot];
        if (id !== undefined) return pollSlot(slot, id);
      }
      return undefined;
    },
    async empty(): Promise<void> {
      isEmptying = true;
      for (; ids.some((id) => id !== undefined); await pause(50)) {
        await Promise.all(ids.flatMap((id, slot) => (id === undefined ? [] : [pollSlot(slot, id)])));
      }
    },
  };
}

/** Calls `send` PER_SECOND times per second and returns the latencies. */
async function atRate(durationMs: number, send: () => Promise<number | undefined>): Promise<number[]> {
  const startedAt = performance.now();
  const sent: Promise<number | undefined>[] = [];
  for (let dueMs = 0; dueMs < durationMs; dueMs += 1000 / PER_SECOND) {
    const waitMs = startedAt + dueMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
    sent.push(send());
  }
  return (await Promise.all(sent)).filter((latency) => latency !== undefined);
}
