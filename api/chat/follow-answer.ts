// A run that answers a chat completion: when it has ended, and when it waits for a person.
import { mayRun } from '../../acceptance/roles.js';
import { findOpenRequests, type OpenRequest } from '../../db/runs/open-requests-repository.js';
import type { Reader } from '../../db/runs/run-watches-repository.js';
import type { AppDeps } from '../deps.js';
import { openFeed } from '../live/run-feed.js';

export interface FollowedRun {
  runId: string;
  reader: Reader;
  /**
   * The interval at which the caller is told that nothing has happened, its rights are checked, and it is seen what runs
   * below this one wait for.
   */
  aliveEveryMs: number;
  /** Aborted when the client hangs up. */
  signal: AbortSignal;
}

/** `asks`: the run waits for people. `alive`: nothing. `lost`: the caller may not run the workflow any more. */
export type RunNews = { kind: 'asks'; requests: OpenRequest[] } | { kind: 'alive' | 'ended' | 'lost' };

/** Ends after `ended` and `lost`, and without either when nobody is to wait any longer. */
export async function* followAnswer(
  { db, runHub, sharedReads }: Pick<AppDeps, 'db' | 'runHub' | 'sharedReads'>,
  { runId, reader, aliveEveryMs, signal }: FollowedRun,
): AsyncGenerator<RunNews> {
  const feed = openFeed(db, runHub, { runId, userId: reader.userId }, signal);
  const isOver = (): boolean => signal.aborted || runHub.isStopping;
  let place = 0;
  let aliveAtMs = performance.now() + aliveEveryMs;
  try {
    while (!isOver()) {
      const events = await feed.after(place);
      place = events.at(-1)?.version ?? place;
      if (events.some(({ kind, status }) => kind === 'run' && status !== 'In Progress')) {
        yield { kind: 'ended' };
        return;
      }
      const isDue = performance.now() >= aliveAtMs;
      // An event tells of a request as it was then, and somebody may have decided since.
      if (isDue || events.some(({ kind, status }) => kind !== 'run' && kind !== 'node' && status === 'pending')) {
        const requests = await findOpenRequests(db, runId);
        if (requests.length > 0) yield { kind: 'asks', requests };
      }
      if (isDue && !isOver()) {
        aliveAtMs = performance.now() + aliveEveryMs;
        const isAllowed = mayRun(await sharedReads.roleOf({ ...reader, runId }));
        yield { kind: isAllowed ? 'alive' : 'lost' };
        if (!isAllowed) return;
      }
      if (events.length === 0) await feed.untilNews(Math.max(0, aliveAtMs - performance.now()));
    }
  } finally {
    feed.end();
  }
}
