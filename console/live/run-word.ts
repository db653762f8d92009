// The words of the console for the state of a run. docs/use/api.md has those of the service.
import type { RunStatus } from '../../clients/typescript/src/index.js';

export type StoredStatus = 'In Progress' | 'Succeeded' | 'Cancelled' | 'Error' | 'Draft';

interface StoredRun {
  status: StoredStatus;
  run_started_at: string | null;
}

const WORDS: Readonly<Record<StoredStatus, string>> = {
  'In Progress': 'in progress',
  Succeeded: 'succeeded',
  Cancelled: 'cancelled',
  Error: 'failed',
  // The run was refused before it began: the drawing or its input was not valid.
  Draft: 'not run',
};

/** The words by which runs can be filtered, with what the service calls them. */
export const RUN_FILTERS: readonly (readonly [word: string, status: StoredStatus])[] = (
  Object.entries(WORDS) as [StoredStatus, string][]
).map(([status, word]) => [word, status] as const);

/**
 * Returns what the service calls the status of an address: `failed` and `Error` mean the same. Runs in queue and
 * waiting runs are stored as open. It returns undefined for any other text.
 */
export function toStoredStatus(text: string): StoredStatus | undefined {
  const wanted = text.toLowerCase();
  if (wanted === 'in queue' || wanted === 'waiting') return 'In Progress';
  return RUN_FILTERS.find(([word, status]) => word === wanted || status.toLowerCase() === wanted)?.[1];
}

/** `live` is the status that is known beyond the stored one while the run is open. */
export function runWord(run: StoredRun, live?: string): string {
  if (run.status !== 'In Progress') return WORDS[run.status];
  if (live === 'waiting') return live;
  // The run has ended a moment ago. Its stored status says whether it failed or was cancelled.
  if (live === 'in progress' || live === 'succeed' || live === 'failed') return 'in progress';
  return run.run_started_at === null ? 'in queue' : 'in progress';
}

/** Returns the word of polls for a stored status. */
export function toPollStatus({ status, run_started_at: startedAt }: StoredRun): RunStatus {
  if (status === 'In Progress') return startedAt === null ? 'in queue' : 'in progress';
  return status === 'Succeeded' ? 'succeed' : 'failed';
}
