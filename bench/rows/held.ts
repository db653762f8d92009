// Runs that stay in flight for as long as they are looked at: the target holds their calls.
import { setTimeout as pause } from 'node:timers/promises';
import type { Graph } from '../graphs.js';
import { releaseCalls } from '../../harness/target/recorded-calls.js';
import type { Service } from '../subjects.js';

/** The target answers after this time by itself. */
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

/** The target holds each further call again, so it is told to release them until the runs have ended. */
export async function endHeld(service: Service, targetUrl: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    while (!(await service.poll(id)).isTerminal) {
      await releaseCalls(targetUrl);
      await pause(50);
    }
  }
}
