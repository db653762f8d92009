// The words that the console has for the state of a run. docs/use/api.md has those of the service.
import type { RunStatus } from '../../../clients/typescript/src/index.js';

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
  // Refused before it began: the drawing or its input was not valid.
  Draft: 'not run',
};

/** The words by which runs can be filtered, with what the service calls them. */
export const RUN_FILTERS: readonly (readonly [word: string, status: StoredStatus])[] = (
  Object.entries(WORDS) as [StoredStatus, string][]
).map(([status, word]) => [word, status] as const);

/**
 * What the service calls the status of an address: `failed` and `Error` alike. Runs in queue and waiting ones are stored as
 * open. Undefined for anything else.
 */
export function toStoredStatus(text: string): StoredStatus | undefined {
  const wanted = text.toLowerCase();
  if (wanted === 'in queue' || wanted === 'waiting') return 'In Progress';
  return RUN_FILTERS.find(([word, status]) => word === wanted || status.toLowerCase() === wanted)?.[1];
}

/** `live`: what is known beyond the stored status while the run is open. */
export function runWord(run: StoredRun, live?: string): string {
  if (run.status !== 'In Progress') return WORDS[run.status];
  if (live === 'waiting') return live;
  // A run that has ended a moment ago: whether it failed or was cancelled comes with its stored status.
  if (live === 'in progress' || live === 'succeed' || live === 'failed') return 'in progress';
  return run.run_started_at === null ? 'in queue' : 'in progress';
}

/** The word of polls for a stored status. */
export function toPollStatus({ status, run_started_at: startedAt }: StoredRun): RunStatus {
  if (status === 'In Progress') return startedAt === null ? 'in queue' : 'in progress';
  return status === 'Succeeded' ? 'succeed' : 'failed';
}
