// Reads of runs for those who have waited: what they wait for happens to all of them at once.
import type { Database } from '../../db/core/client.js';
import { readRunForPoll, type Poll, type PolledRun } from '../../db/runs/poll-repository.js';
import { areViewers, type Viewer } from '../../db/runs/run-watches-repository.js';
import { together } from '../access/together.js';

export interface SharedReads {
  /** What a poll by this user finds now. */
  read(poll: Poll): Promise<PolledRun | undefined>;
  /** Whether the user may still see the run, asked together with all who are checked at the same time. */
  mayStillSee(viewer: Viewer): Promise<boolean>;
}

const MOST_TOGETHER = 1_000;

export function createSharedReads(db: Database, retentionDays: number): SharedReads {
  const mayStillSee = together((viewers: Viewer[]) => areViewers(db, viewers), { most: MOST_TOGETHER });
  /** Of each run that is being read now. */
  const readers = new Map<string, (userId: number) => Promise<PolledRun | undefined>>();

  async function readFor(runId: string, userIds: number[]): Promise<(PolledRun | undefined)[]> {
    const different = [...new Set(userIds)];
    const seen = await areViewers(
      db,
      different.map((userId) => ({ runId, userId })),
    );
    const viewers = new Set(different.filter((_userId, index) => seen[index]));
    const reader = different.find((userId) => viewers.has(userId)) ?? different[0]!;
    const run = await readRunForPoll(db, { runId, userId: reader }, retentionDays);
    return userIds.map((userId) => (viewers.has(userId) ? run : run && { ...run, isVisible: false, nodes: [] }));
  }

  function readerOf(runId: string): (userId: number) => Promise<PolledRun | undefined> {
    const known = readers.get(runId);
    if (known !== undefined) return known;
    const reader = together((userIds: number[]) => readFor(runId, userIds), {
      most: MOST_TOGETHER,
      onIdle: () => readers.delete(runId),
    });
    readers.set(runId, reader);
    return reader;
  }

  return { mayStillSee, read: ({ runId, userId }) => readerOf(runId)(userId) };
}
