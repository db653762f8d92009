// Reads of runs for those who have waited: what they wait for happens to all of them at once.
import type { Database } from '../../db/core/client.js';
import { readRunForPoll, type PolledRun } from '../../db/runs/poll-repository.js';
import { areViewers, type Reader, type Viewer } from '../../db/runs/run-watches-repository.js';
import { together } from '../access/together.js';

export interface SharedReads {
  /** What a poll by this reader finds now. */
  read(viewer: Viewer): Promise<PolledRun | undefined>;
  /** Whether the reader may still see the run, asked together with all who are checked at the same time. */
  mayStillSee(viewer: Viewer): Promise<boolean>;
}

const MOST_TOGETHER = 1_000;

export function createSharedReads(db: Database, retentionDays: number): SharedReads {
  const mayStillSee = together((viewers: Viewer[]) => areViewers(db, viewers), { most: MOST_TOGETHER });
  /** Of each run that is being read now. */
  const readers = new Map<string, (reader: Reader) => Promise<PolledRun | undefined>>();

  async function readFor(runId: string, asking: Reader[]): Promise<(PolledRun | undefined)[]> {
    const different = [...new Map(asking.map((reader) => [nameOf(reader), reader])).values()];
    const seen = await areViewers(
      db,
      different.map((reader) => ({ ...reader, runId })),
    );
    const viewers = different.filter((_reader, index) => seen[index]);
    const names = new Set(viewers.map(nameOf));
    const { userId } = viewers[0] ?? different[0]!;
    const run = await readRunForPoll(db, { runId, userId }, retentionDays);
    return asking.map((reader) =>
      names.has(nameOf(reader)) ? run : run && { ...run, isVisible: false, output: undefined, nodes: [] },
    );
  }

  function readerOf(runId: string): (reader: Reader) => Promise<PolledRun | undefined> {
    const known = readers.get(runId);
    if (known !== undefined) return known;
    const reader = together((asking: Reader[]) => readFor(runId, asking), {
      most: MOST_TOGETHER,
      onIdle: () => readers.delete(runId),
    });
    readers.set(runId, reader);
    return reader;
  }

  return { mayStillSee, read: ({ runId, ...reader }) => readerOf(runId)(reader) };
}

/** The same for the same user with the same credentials. */
function nameOf({ userId, keyId, sessionId }: Reader): string {
  return JSON.stringify([userId, keyId, sessionId]);
}
