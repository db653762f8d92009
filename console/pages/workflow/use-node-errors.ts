import { useMemo } from 'react';
import { useEditor } from '../../drawing/editor-store.js';

/** The sentences of a node's problems by the path of their field. */
export function useNodeErrors(nodeId: string): ReadonlyMap<string, string> {
  const problems = useEditor((state) => state.problems);
  return useMemo(() => {
    const own = problems.filter((problem) => problem.nodeId === nodeId && problem.path !== '');
    return new Map(own.map(({ path, message }) => [path, message]));
  }, [problems, nodeId]);
}
