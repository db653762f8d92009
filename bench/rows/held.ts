// Runs that stay in flight during a measurement, because the target holds their calls.
import { setTimeout as pause } from 'node:timers/promises';
import type { Graph } from '../graphs.js';
import { releaseCalls } from '../../harness/target/recorded-calls.js';
import type { Service } from '../subjects.js';

/** The target answers a call after this time even if it is not released. */
export const HELD_MS = 25_000;
const HELD = { tag: 'held', delayMs: HELD_MS };
const AT_ONCE = 10;

export async function startHeld(service: Service, graph: Graph, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const batch = Math.min(AT_ONCE, count - ids.length);
    const started = await Promise.all(Array.from({ length: batch }, () => service.start(graph, HELD)));
    ids.push(...started.map(({ id }) => id));
  }
  return ids;
}

/** Releases calls until the runs have ended, because the target holds each further call again. */
export async function endHeld(service: Service, targetUrl: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    while (!(await service.poll(id)).isTerminal) {
      await releaseCalls(targetUrl);
      await pause(50);
    }
  }
}
