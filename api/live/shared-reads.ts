// Reads of runs for those who have waited: what they wait for happens to all of them at once.
import { mayRun } from '../../acceptance/roles.js';
import type { Database } from '../../db/core/client.js';
import type { Role } from '../../db/core/tables.js';
import { readRunForPoll, readRunsForPolls, type Poll, type PolledRun } from '../../db/runs/poll-repository.js';
import { findRoles, type Reader, type Viewer } from '../../db/watches/run-watches-repository.js';
import { together } from '../../db/core/together.js';

export interface SharedReads {
  /** Returns what a poll finds now, read together with those that come at the same time. */
  poll(poll: Poll): Promise<PolledRun | undefined>;
  /** Returns what a poll by this reader finds now. */
  read(viewer: Viewer): Promise<PolledRun | undefined>;
  /**
   * The reader's role now, asked together with all who are checked at the same time; null for who may not see the run.
   */
  roleOf(viewer: Viewer): Promise<Role | null>;
}

const MOST_TOGETHER = 1_000;
/** Each may find 64 KiB of results. */
const MOST_POLLS_TOGETHER = 50;

export function createSharedReads(db: Database, retentionDays: number): SharedReads {
  const roleOf = together((viewers: Viewer[]) => findRoles(db, viewers), { most: MOST_TOGETHER });
  const poll = together((polls: Poll[]) => readRunsForPolls(db, polls, retentionDays), { most: MOST_POLLS_TOGETHER });
  /** The reads of each run that is being read now. */
  const readers = new Map<string, (reader: Reader) => Promise<PolledRun | undefined>>();

  async function readFor(runId: string, asking: Reader[]): Promise<(PolledRun | undefined)[]> {
    const different = [...new Map(asking.map((reader) => [nameOf(reader), reader])).values()];
    const found = await findRoles(
      db,
      different.map((reader) => ({ ...reader, runId })),
    );
    const roles = new Map(different.map((reader, index) => [nameOf(reader), found[index] ?? null]));
    const viewer = different.find((reader) => roles.get(nameOf(reader)) !== null) ?? different[0]!;
    const run = await readRunForPoll(db, { runId, userId: viewer.userId }, retentionDays);
    const shown = run && toShownAs(run);
    return asking.map((reader) => shown?.(roles.get(nameOf(reader)) ?? null));
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

  return { poll, roleOf, read: ({ runId, ...reader }) => readerOf(runId)(reader) };
}

/** Returns the same text for the same user with the same credentials. */
function nameOf({ userId, keyId, sessionId }: Reader): string {
  return JSON.stringify([userId, keyId, sessionId]);
}

/**
 * Returns the run as readers of each role see it: the same object for all who see the same, so that their answer is
 * made once.
 */
function toShownAs(run: PolledRun): (role: Role | null) => PolledRun {
  const hasAddresses = run.nodes.some(({ waiting }) => waiting?.token_enc);
  const forRunners = { ...run, role: 'editor' as const };
  const forViewers = hasAddresses ? { ...run, role: 'viewer' as const } : forRunners;
  const hidden = { ...run, isVisible: false, role: null, output: undefined, nodes: [] };
  return (role) => (role === null ? hidden : mayRun(role) ? forRunners : forViewers);
}
