import type { Db } from '../db/client.js';
import { readRunsForPoll, type Poll, type PolledRun } from '../db/poll-repository.js';
import { together } from './together.js';

export interface RunPoller {
  /** Undefined when no run has the id. */
  poll(poll: Poll): Promise<PolledRun | undefined>;
}

/** Results of half a megabyte each may be among them. */
const MOST_TOGETHER = 16;
/** A run with thousands of nodes takes its time: others do not wait for it. */
const STATEMENTS_AT_ONCE = 4;

export function createRunPoller(db: Db, retentionDays: number): RunPoller {
  const ask = (polls: Poll[]) => readRunsForPoll(db, polls, retentionDays);
  return { poll: together(ask, { most: MOST_TOGETHER, atOnce: STATEMENTS_AT_ONCE }) };
}
