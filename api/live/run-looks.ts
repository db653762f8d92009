import type { Database } from '../../db/core/client.js';
import { orderRunEvents, readRunEvents } from '../../db/runs/run-events-repository.js';
import { readDeltas } from '../../db/runs/run-deltas-repository.js';
import { findEndedRuns, readRunStates } from '../../db/watches/run-watches-repository.js';
import { EventTail } from './event-tail.js';
import type { WatchedRuns } from './watched-runs.js';

const EVENTS_AT_ONCE = 50;

/**
 * Reports the states of the runs to their watchers, and the ends of runs to the readers that wait for them. One
 * statement reads all states, another one all ends.
 */
export async function lookAtStates(db: Database, runs: WatchedRuns, ids: string[]): Promise<void> {
  const watched = ids.filter((id) => hasSome(runs.get(id)?.watchers));
  const awaited = ids.filter((id) => hasSome(runs.get(id)?.awaiters));
  const [states, ended] = await Promise.all([
    watched.length === 0 ? [] : readRunStates(db, watched),
    awaited.length === 0 ? [] : findEndedRuns(db, awaited),
  ]);
  for (const state of states) {
    for (const onState of runs.get(state.runId)?.watchers ?? []) onState(state);
  }
  for (const runId of ended) {
    for (const onEnd of runs.get(runId)?.awaiters ?? []) onEnd(true);
  }
}

/**
 * Appends new events to the tails of the runs and notifies their followers. One statement orders the events of all
 * runs, another one reads them, and up to two more find deleted files in them.
 */
export async function lookForEvents(db: Database, runs: WatchedRuns, ids: string[]): Promise<void> {
  const runIds = ids.filter((id) => hasSome(runs.get(id)?.followers));
  if (runIds.length === 0) return;
  const versions = await orderRunEvents(db, runIds);
  const behind = runIds.flatMap((runId) => {
    const after = runs.get(runId)?.tail?.version;
    return after !== undefined && after < versions.get(runId)! ? [{ runId, after }] : [];
  });
  const events = behind.length === 0 ? undefined : await readRunEvents(db, behind, EVENTS_AT_ONCE);
  for (const runId of runIds) {
    const run = runs.get(runId);
    if (run === undefined || run.followers.size === 0) continue;
    const news = events?.get(runId) ?? [];
    if (run.tail !== undefined && news.length === 0) continue;
    if (run.tail === undefined) run.tail = new EventTail(versions.get(runId)!);
    else if (news.length >= EVENTS_AT_ONCE) run.tail.skipTo(versions.get(runId)!);
    else run.tail.append(news);
    for (const onNews of run.followers) onNews();
  }
}

/** Reads deltas that were not received by notification. The first deltas that are loaded count as late. */
export async function lookForDeltas(db: Database, runs: WatchedRuns, ids: string[]): Promise<void> {
  for (const runId of ids) {
    const texts = runs.get(runId)?.texts;
    if (texts === undefined) continue;
    texts.load(await readDeltas(db, runId, texts.known()));
    texts.notify();
  }
}

function hasSome(set: Set<unknown> | undefined): boolean {
  return set !== undefined && set.size > 0;
}
