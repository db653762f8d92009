import type { Database } from '../../db/core/client.js';
import { orderRunEvents, readRunEvents } from '../../db/runs/run-events-repository.js';
import { readDeltas } from '../../db/runs/run-deltas-repository.js';
import { findEndedRuns, readRunStates } from '../../db/watches/run-watches-repository.js';
import { EventTail } from './event-tail.js';
import type { WatchedRuns } from './watched-runs.js';

const EVENTS_AT_ONCE = 50;
/** Bounds the text that one statement reads. */
const RUNS_WITH_TEXTS_AT_ONCE = 20;

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
 * Appends new events to the tails of the runs and notifies their followers. If a run has too many new events, its tail
 * skips them, and the followers read them from the database. One statement orders the events of all runs, another one
 * reads them, and up to two more find deleted files in them.
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

/**
 * Reads deltas that were not received by notification. The first ones that are loaded count as late (`isLate`). Skips
 * runs whose deltas nobody reads.
 */
export async function lookForDeltas(db: Database, runs: WatchedRuns, ids: string[]): Promise<void> {
  const read = ids.flatMap((runId) => {
    const texts = runs.get(runId)?.texts;
    return texts === undefined ? [] : [{ runId, texts }];
  });
  for (let from = 0; from < read.length; from += RUNS_WITH_TEXTS_AT_ONCE) {
    const batch = read.slice(from, from + RUNS_WITH_TEXTS_AT_ONCE);
    const runIds = batch.map(({ runId }) => runId);
    const known = batch.flatMap(({ runId, texts }) => texts.known().map((key) => ({ ...key, runId })));
    const deltas = await readDeltas(db, runIds, known);
    for (const { runId, texts } of batch) {
      const ofRun = deltas.filter((delta) => delta.runId === runId);
      texts.load(ofRun);
      if (ofRun.length > 0) texts.notify();
    }
  }
}

function hasSome(set: Set<unknown> | undefined): boolean {
  return set !== undefined && set.size > 0;
}
