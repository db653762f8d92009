// Batches the reads of polls that arrive together, and of callers that wait for a run, because its change wakes all of
// them at once.
import { mayRun } from '../../acceptance/roles.js';
import type { Database } from '../../db/core/client.js';
import type { Role } from '../../db/core/tables.js';
import {
  readRunForPoll,
  readRunHeads,
  readRunsForPolls,
  type Poll,
  type PolledRun,
} from '../../db/runs/poll-repository.js';
import type { PolledState } from '../../db/runs/polled-run.js';
import { findRoles, type Reader, type Viewer } from '../../db/watches/run-watches-repository.js';
import { together } from '../../db/core/together.js';

/**
 * `poll`, `head` and `read` return undefined for an unknown run, and a run without `isVisible` to a reader who may not
 * see it.
 */
export interface SharedReads {
  /** Returns the present answer of a poll, read together with polls that arrive at the same time. */
  poll(poll: Poll): Promise<PolledRun | undefined>;
  /** Returns the state of a poll's run. Polls that arrive at the same time share the read. */
  head(poll: Poll): Promise<PolledState | undefined>;
  /** Returns the present answer of a poll by this reader, from a read of the run that concurrent readers share. */
  read(viewer: Viewer): Promise<PolledRun | undefined>;
  /**
   * Returns the present role of the reader, checked together with concurrent readers; null if the reader may not see
   * the run, or its results have expired.
   */
  roleOf(viewer: Viewer): Promise<Role | null>;
}

const MOST_TOGETHER = 1_000;
/** Bounds the memory of a batch, because each poll may find 64 KiB of results. */
const MOST_POLLS_TOGETHER = 50;

export function createSharedReads(db: Database, retentionDays: number): SharedReads {
  const roleOf = together((viewers: Viewer[]) => findRoles(db, viewers), { most: MOST_TOGETHER });
  const poll = together((polls: Poll[]) => readRunsForPolls(db, polls, retentionDays), { most: MOST_POLLS_TOGETHER });
  const head = together((polls: Poll[]) => readRunHeads(db, polls, retentionDays), { most: MOST_TOGETHER });
  /** The batches of the runs that are being read now, by run id. */
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

  return { poll, head, roleOf, read: ({ runId, ...reader }) => readerOf(runId)(reader) };
}

/** Identifies the user together with the credentials. */
function nameOf({ userId, keyId, sessionId }: Reader): string {
  return JSON.stringify([userId, keyId, sessionId]);
}

/**
 * Returns the run as readers of each role see it. Readers with the same view get the same object, so that their answer
 * is built once.
 */
function toShownAs(run: PolledRun): (role: Role | null) => PolledRun {
  const hasAddresses = run.nodes.some(({ waiting }) => waiting?.token_enc);
  const forRunners = { ...run, role: 'editor' as const };
  const forViewers = hasAddresses ? { ...run, role: 'viewer' as const } : forRunners;
  const hidden = { ...run, isVisible: false, role: null, output: undefined, nodes: [] };
  return (role) => (role === null ? hidden : mayRun(role) ? forRunners : forViewers);
}
