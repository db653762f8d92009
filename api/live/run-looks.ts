import type { Database } from '../../db/core/client.js';
import { orderRunEvents, readRunEvents } from '../../db/runs/run-events-repository.js';
import { readRunStates } from '../../db/runs/run-watches-repository.js';
import { EventTail } from './event-tail.js';
import type { WatchedRuns } from './watched-runs.js';

const EVENTS_AT_ONCE = 50;

/** Looks how far these runs are and tells those who wait for them; one statement for all who wait, two for all who follow. */
export async function lookAtRuns(db: Database, runs: WatchedRuns, runIds: string[]): Promise<void> {
  await Promise.all([
    lookAtStates(
      db,
      runs,
      runIds.filter((id) => hasSome(runs.get(id)?.watchers)),
    ),
    lookForEvents(
      db,
      runs,
      runIds.filter((id) => hasSome(runs.get(id)?.followers)),
    ),
  ]);
}

function hasSome(set: Set<unknown> | undefined): boolean {
  return set !== undefined && set.size > 0;
}

async function lookAtStates(db: Database, runs: WatchedRuns, runIds: string[]): Promise<void> {
  if (runIds.length === 0) return;
  for (const state of await readRunStates(db, runIds)) {
    for (const onState of runs.get(state.runId)?.watchers ?? []) onState(state);
  }
}

async function lookForEvents(db: Database, runs: WatchedRuns, runIds: string[]): Promise<void> {
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
    if (run.tail === undefined) run.tail = new EventTail(versions.get(runId)!);
    else if (news.length >= EVENTS_AT_ONCE) run.tail.skipTo(versions.get(runId)!);
    else run.tail.append(news);
    for (const onNews of run.followers) onNews();
  }
}
