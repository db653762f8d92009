// Finds the node at which a run failed, and the node whose result is the run's.
import { iterationsPrefix } from '../../../graph/iteration-path.js';
import type { RunLinks } from '../../drawing/run-links.js';
import type { NodeEntry } from '../../live/live-run.js';
import { readShownRun } from '../../live/run-cache.js';
import type { RunDetail } from './run-data.js';

/**
 * Returns the node at which a run failed. If it is a loop whose iterations are loaded, returns the first failed node
 * inside it.
 */
export function failureOf(run: RunDetail): NodeEntry | undefined {
  if (run.status !== 'Error' && run.status !== 'Draft') return undefined;
  const failed = firstFailure(Object.values(run.result));
  if (failed?.iterations === undefined) return failed;
  const known = [...(readShownRun(run.id)?.live.nodes.values() ?? [])];
  return firstFailure(known.filter(({ path = '' }) => path.startsWith(iterationsPrefix('', failed.id)))) ?? failed;
}

function firstFailure(entries: readonly NodeEntry[]): NodeEntry | undefined {
  const failed = entries.filter(
    ({ status, error, handled }) => status === 'failed' && error?.code !== 'cancelled' && handled !== true,
  );
  return failed.toSorted((a, b) => ((a.finished_at ?? '') < (b.finished_at ?? '') ? -1 : 1))[0];
}

/** Returns the node whose result is the run's: no later node has run, and among several such nodes it ended last. */
export function resultNodeOf({ status, result }: RunDetail, { links }: RunLinks): NodeEntry | undefined {
  if (status !== 'Succeeded') return undefined;
  const entries: NodeEntry[] = Object.values(result);
  const hasRun = new Set(entries.map(({ id }) => id));
  const goesOn = new Set(links.filter(({ to }) => hasRun.has(to)).map(({ from }) => from));
  return lastOf(entries.filter((entry) => entry.status === 'succeed' && !goesOn.has(entry.id)));
}

export function lastOf(entries: readonly NodeEntry[]): NodeEntry | undefined {
  return entries.toSorted((a, b) => ((a.finished_at ?? '') < (b.finished_at ?? '') ? -1 : 1)).at(-1);
}
