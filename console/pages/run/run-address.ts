import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'wouter';
import type { RunLinks } from '../../drawing/run-links.js';
import type { NodeEntry } from '../../live/live-run.js';
import { readShownRun } from '../../live/run-cache.js';
import type { RunDetail } from '../../parts/run/run-data.js';

interface RunAddress {
  /** The node whose details are shown. */
  choice: NodeChoice | undefined;
  choose: (choice: NodeChoice | string) => void;
  /** The run to compare with. */
  otherId: string | undefined;
  compare: (otherId: string | undefined) => void;
}

/** The address says what of the run is shown: `?node=&path=&compare=`. */
export function useRunAddress(run: RunDetail): RunAddress {
  const [params, setParams] = useSearchParams();
  const [nodeId, path, otherId] = ['node', 'path', 'compare'].map((name) => params.get(name) ?? '');
  const usual = useMemo(() => usualNode(run), [run]);
  const choice = useMemo(() => (nodeId === '' ? usual : { nodeId: nodeId!, path: path! }), [nodeId, path, usual]);
  const choose = useCallback(
    (next: NodeChoice | string) =>
      setParams(
        (before) => {
          const after = new URLSearchParams(before);
          after.set('node', typeof next === 'string' ? next : next.nodeId);
          after.delete('path');
          if (typeof next !== 'string' && next.path !== '') after.set('path', next.path);
          return after;
        },
        { replace: true },
      ),
    [setParams],
  );
  const compare = (other: string | undefined): void =>
    setParams((before) => {
      const after = new URLSearchParams(before);
      after.delete('compare');
      if (other !== undefined) after.set('compare', other);
      return after;
    });
  return { choice, choose, otherId: otherId === '' ? undefined : otherId, compare };
}

/** Returns the node that a person looks for first when a run has ended: the one that failed first, else the last one. */
function usualNode(run: RunDetail): NodeChoice | undefined {
  if (run.status === 'In Progress') return undefined;
  const found = failureOf(run) ?? lastOf(Object.values(run.result));
  return found === undefined ? undefined : { nodeId: found.id, path: found.path ?? '' };
}

/**
 * Returns the node with which a run has failed. Of a loop it is what failed first in its iterations, if they are known.
 */
export function failureOf(run: RunDetail): NodeEntry | undefined {
  if (run.status !== 'Error' && run.status !== 'Draft') return undefined;
  const failed = firstFailure(Object.values(run.result));
  if (failed?.iterations === undefined) return failed;
  const known = [...(readShownRun(run.id)?.live.nodes.values() ?? [])];
  return firstFailure(known.filter(({ path = '' }) => path.startsWith(`${failed.id}[`))) ?? failed;
}

function firstFailure(entries: readonly NodeEntry[]): NodeEntry | undefined {
  const failed = entries.filter(
    ({ status, error, handled }) => status === 'failed' && error?.code !== 'cancelled' && handled !== true,
  );
  return failed.toSorted((a, b) => ((a.finished_at ?? '') < (b.finished_at ?? '') ? -1 : 1))[0];
}

/** Returns the node whose result is that of a run: nothing has run behind it, and of several it ended last. */
export function resultNodeOf({ status, result }: RunDetail, { links }: RunLinks): NodeEntry | undefined {
  if (status !== 'Succeeded') return undefined;
  const entries: NodeEntry[] = Object.values(result);
  const hasRun = new Set(entries.map(({ id }) => id));
  const goesOn = new Set(links.filter(({ to }) => hasRun.has(to)).map(({ from }) => from));
  return lastOf(entries.filter((entry) => entry.status === 'succeed' && !goesOn.has(entry.id)));
}

function lastOf(entries: readonly NodeEntry[]): NodeEntry | undefined {
  return entries.toSorted((a, b) => ((a.finished_at ?? '') < (b.finished_at ?? '') ? -1 : 1)).at(-1);
}

/** A node of the run. If it is in a loop, the choice names one of its iterations. */
export interface NodeChoice {
  nodeId: string;
  path: string;
}

/** Returns the path of an iteration, `LOOP[3]/INNER[0]`, with the labels of the loops in place of their ids. */
export function iterationInWords(path: string, labels: ReadonlyMap<string, string>): string {
  const parts = path.split('/').map((part) => {
    const [, id = part, index = ''] = /^(.*)\[(\d+)\]$/.exec(part) ?? [];
    return `${labels.get(decodeId(id)) ?? decodeId(id)} [${index}]`;
  });
  return parts.join(' › ');
}

/** The signs that separate the parts of a path are encoded in its ids. */
function decodeId(id: string): string {
  return id.replace(/%(25|2F|5B|5D|7E)/g, (sign) => decodeURIComponent(sign));
}
