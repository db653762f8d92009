import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'wouter';
import type { NodeChoice } from '../../parts/run/node-choice.js';
import { failureOf, lastOf } from '../../parts/run/outcome.js';
import type { RunDetail } from '../../parts/run/run-data.js';

interface RunAddress {
  /** The node that the address names, or else that of `usualNode`. */
  choice: NodeChoice | undefined;
  choose: (choice: NodeChoice | string) => void;
  otherId: string | undefined;
  compare: (otherId: string | undefined) => void;
}

/** Stores the selected node and the compared run in the address: `?node=&path=&compare=`. */
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

/**
 * Returns the node to show until the person chooses one: the node at which the run failed, else the node that ended
 * last. Undefined while the run is in progress, and if it has no results.
 */
function usualNode(run: RunDetail): NodeChoice | undefined {
  if (run.status === 'In Progress') return undefined;
  const found = failureOf(run) ?? lastOf(Object.values(run.result));
  return found === undefined ? undefined : { nodeId: found.id, path: found.path ?? '' };
}
