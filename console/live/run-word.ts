// The console's words for the status of a run. The service's words are `StoredStatus` and, in polls, `RunStatus`.
import type { RunStatus } from '../../clients/typescript/src/index.js';

export type StoredStatus = 'In Progress' | 'Succeeded' | 'Cancelled' | 'Error' | 'Draft';

interface StoredRun {
  status: StoredStatus;
  run_started_at: string | null;
  /** What an open run waits for. Null while one of its nodes is executed. */
  waiting_for?: string | null;
}

const WORDS: Readonly<Record<StoredStatus, string>> = {
  'In Progress': 'in progress',
  Succeeded: 'succeeded',
  Cancelled: 'cancelled',
  Error: 'failed',
  // The run was refused before it started, because its drawing or its input was invalid.
  Draft: 'not run',
};

/** Words for filtering runs, with the service's status for each. */
export const RUN_FILTERS: readonly (readonly [word: string, status: StoredStatus])[] = (
  Object.entries(WORDS) as [StoredStatus, string][]
).map(([status, word]) => [word, status] as const);

/**
 * Returns the service's status for a word in an address, either the console's (`failed`) or the service's (`Error`).
 * The service stores queued and waiting runs as `In Progress`. Returns undefined for any other text.
 */
export function toStoredStatus(text: string): StoredStatus | undefined {
  const wanted = text.toLowerCase();
  if (wanted === 'in queue' || wanted === 'waiting') return 'In Progress';
  return RUN_FILTERS.find(([word, status]) => word === wanted || status.toLowerCase() === wanted)?.[1];
}

/** `live` is the result of `useRunWord`; undefined on pages that do not follow the run. */
export function runWord(run: StoredRun, live?: string): string {
  if (run.status !== 'In Progress') return WORDS[run.status];
  if (live === 'waiting') return live;
  // If `live` says that the run has ended, `run.status` follows soon. Only `run.status` tells failed from cancelled.
  if (live === 'in progress' || live === 'succeed' || live === 'failed') return 'in progress';
  if (live === undefined && (run.waiting_for ?? null) !== null) return 'waiting';
  return run.run_started_at === null ? 'in queue' : 'in progress';
}

/** Converts a stored status to the word of polls. */
export function toPollStatus({ status, run_started_at: startedAt }: StoredRun): RunStatus {
  if (status === 'In Progress') return startedAt === null ? 'in queue' : 'in progress';
  return status === 'Succeeded' ? 'succeed' : 'failed';
}
