import { useEffect, useMemo } from 'react';
import { Problem } from '../../../service/problem.js';
import { useEditor, useStore, type Remark } from '../../../drawing/editor-store.js';
import { useStored, type Stored } from '../../../ui/store.js';
import { changedSince } from './changed.js';
import { useNewest } from './follow.js';
import { TestDialog } from './test-dialog.js';
import { TestResult } from './test-result.js';
import { useTest, useTests } from './use-tests.js';
import { usePins } from './test-calls.js';
import type { Pin } from './test-store.js';

interface TestedWorkflow {
  workflow: { id: number; project: number };
  /** The tag of the stored workflow. The pins are read again when it changes. */
  etag: string;
}

/** Trying while drawing: the dialog `Test`, what tests have found out, and the marks of both on the canvas. */
export function TestPane({ tested }: { tested: Stored<TestedWorkflow> }) {
  const id = useStored(tested, (state) => state.workflow.id);
  const project = useStored(tested, (state) => state.workflow.project);
  const etag = useStored(tested, (state) => state.etag);
  const query = usePins(id, etag);
  const tests = useTests();
  const pins = useTest((state) => state.pins);
  const asked = useTest((state) => state.asked);
  useEffect(() => {
    if (query.data !== undefined) tests.setPins(query.data);
  }, [tests, query.data]);
  useNewest(id);
  useRemarks(pins);
  return (
    <>
      <Problem error={query.error} onRetry={() => void query.refetch()} isRetrying={query.isFetching} />
      <TestResult workflowId={id} projectId={project} pins={pins} />
      {asked !== undefined && <TestDialog workflowId={id} projectId={project} pins={pins} asked={asked} />}
    </>
  );
}

/** Marks the nodes on the canvas with their last status and their pins. A node that has changed since has no status. */
function useRemarks(pins: readonly Pin[]): void {
  const store = useStore();
  const results = useTest((state) => state.results);
  // A text is the same as long as nothing of it has changed, and then the canvas is not drawn again.
  const changed = useEditor(({ history }) => JSON.stringify(changedSince(results, history.present, store.kinds)));
  const remarks = useMemo(() => {
    const found = new Map<string, Remark>();
    const isOld = new Set(JSON.parse(changed) as string[]);
    for (const [nodeId, { status, isWriting }] of results) {
      if (!isOld.has(nodeId)) found.set(nodeId, { status, pin: undefined, isWriting });
    }
    for (const { node_id: nodeId, is_stale: isStale } of pins) {
      const { status, isWriting = false } = found.get(nodeId) ?? {};
      found.set(nodeId, { status, pin: isStale ? 'pinned, stale' : 'pinned', isWriting });
    }
    return found;
  }, [results, pins, changed]);
  useEffect(() => store.setRemarks(remarks), [store, remarks]);
}
