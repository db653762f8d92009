import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'wouter';
import type { NodeEntry } from '../../live/live-run.js';
import type { RunDetail } from './run-data.js';

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

/** Returns the node that a person looks for first when a run has ended: the one that failed, else the last one. */
function usualNode(run: RunDetail): NodeChoice | undefined {
  if (run.status === 'In Progress') return undefined;
  const entries = Object.values(run.result) as NodeEntry[];
  const endOf = (entry: NodeEntry): string => entry.finished_at ?? '';
  const byEnd = entries.toSorted((a, b) => (endOf(a) < endOf(b) ? 1 : -1));
  const failed = byEnd.findLast(({ status, error }) => status === 'failed' && error?.code !== 'cancelled');
  const found = failed ?? byEnd[0];
  return found === undefined ? undefined : { nodeId: found.id, path: '' };
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
