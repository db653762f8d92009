// Follows a run that answers a chat completion: deltas of its models, requests to people, and its end.
import { mayRun } from '../../acceptance/roles.js';
import { outageOf } from '../../db/core/outage.js';
import { findOpenRequests, type OpenRequest } from '../../db/runs/open-requests-repository.js';
import type { Reader } from '../../db/watches/run-watches-repository.js';
import type { ChatDeps } from './deps.js';
import { openFeed, type DeltaEvent } from '../streams/run-feed.js';

export interface FollowedRun {
  runId: string;
  reader: Reader;
  /** The interval at which `alive` is reported, after checking the caller's rights. */
  aliveEveryMs: number;
  withDeltas: boolean;
  signal: AbortSignal;
}

/**
 * - `asks`: the run waits for people.
 * - `failed`: a node outside loops has failed, and the run continues.
 * - `alive`: `aliveEveryMs` has passed, and the caller may still run the workflow, or the database is away and cannot
 *   tell.
 * - `lost`: the caller may not run the workflow any more.
 */
export type RunNews =
  | DeltaEvent
  | { kind: 'asks'; requests: OpenRequest[] }
  | { kind: 'failed'; nodeId: string }
  | { kind: 'alive' | 'ended' | 'lost' };

/**
 * The events of a run do not report requests of the runs below it, so these are queried at this interval. A query that
 * the database could not answer is repeated after the same time.
 */
const LOOK_BELOW_MS = 3_000;

/** Ends after `ended` and `lost`, and without either if the caller hangs up or the process stops. */
export async function* followAnswer(
  { db, memory, runHub, sharedReads }: Pick<ChatDeps, 'db' | 'memory' | 'runHub' | 'sharedReads'>,
  { runId, reader, aliveEveryMs, withDeltas, signal }: FollowedRun,
): AsyncGenerator<RunNews> {
  const deltas = withDeltas ? { since: 0, memory } : undefined;
  const feed = openFeed(db, runHub, { runId, userId: reader.userId }, signal, { deltas });
  const isOver = (): boolean => signal.aborted || runHub.isStopping;
  let place = 0;
  let aliveAtMs = performance.now() + aliveEveryMs;
  let lookAtMs = Infinity;
  try {
    while (!isOver()) {
      const events = await feed.after(place);
      let isAsking = false;
      for (const event of events) {
        if (event.kind === 'delta') {
          yield event;
          continue;
        }
        const { kind, status, path, subject, content } = event;
        place = event.version;
        if (kind === 'node' && path === '' && content !== undefined && 'node' in content && content.node.isHandled) {
          yield { kind: 'failed', nodeId: subject };
        }
        const waitsFor = content !== undefined && 'node' in content ? content.node.waiting?.for : undefined;
        if (waitsFor === 'child') lookAtMs = Math.min(lookAtMs, performance.now() + LOOK_BELOW_MS);
        isAsking ||= waitsFor === 'connection';
        isAsking ||= (kind === 'approval' || kind === 'human_task') && status === 'pending';
        if (kind === 'run' && status !== 'In Progress') {
          yield { kind: 'ended' };
          return;
        }
      }
      const isDue = performance.now() >= aliveAtMs;
      const isToLook = performance.now() >= lookAtMs;
      if (isToLook) lookAtMs = performance.now() + LOOK_BELOW_MS;
      // An event shows a request as it was then; somebody may have decided it since.
      if (isDue || isAsking || isToLook) {
        const requests = await unlessAway(() => findOpenRequests(db, runId));
        if (requests !== undefined && requests.length > 0) yield { kind: 'asks', requests };
        // An event is reported once, so the requests are looked for again although there may be no further event.
        if (requests === undefined) lookAtMs = Math.min(lookAtMs, performance.now() + LOOK_BELOW_MS);
      }
      if (isDue && !isOver()) {
        aliveAtMs = performance.now() + aliveEveryMs;
        const isAllowed =
          (await unlessAway(async () => mayRun(await sharedReads.roleOf({ ...reader, runId })))) ?? true;
        yield { kind: isAllowed ? 'alive' : 'lost' };
        if (!isAllowed) return;
      }
      if (events.length === 0) await feed.untilNews(Math.max(0, Math.min(aliveAtMs, lookAtMs) - performance.now()));
    }
  } finally {
    feed.end();
  }
}

/** Returns undefined while the database is away: the run goes on, and a later round reads again. */
async function unlessAway<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (outageOf(error) === undefined) throw error;
    return undefined;
  }
}
