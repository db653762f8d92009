import { useEffect, useMemo } from 'react';
import { Problem } from '../../../service/problem.js';
import { useEditor, useStore, type Remark } from '../../../drawing/editor-store.js';
import { useStored, type Stored } from '../../../ui/store.js';
import { changedSince } from './changed.js';
import { useNewest } from './follow.js';
import { PinDialog } from './pin-dialog.js';
import { TestDialog } from './test-dialog.js';
import { TestResult } from './test-result.js';
import { useTest, useTests } from './use-tests.js';
import { usePins } from './test-calls.js';
import type { Pin } from './test-store.js';

export interface TestedWorkflow {
  workflow: { id: number; project: number };
  /** ETag of the stored workflow. Pins are reloaded when it changes. */
  etag: string;
}

/** The dialogs for tests and pins, the results of tests, and the marks of both on the canvas. */
export function TestPane({ tested, isWide }: { tested: Stored<TestedWorkflow>; isWide: boolean }) {
  const id = useStored(tested, (state) => state.workflow.id);
  const project = useStored(tested, (state) => state.workflow.project);
  const etag = useStored(tested, (state) => state.etag);
  const query = usePins(id, etag);
  const tests = useTests();
  const pins = useTest((state) => state.pins);
  const asked = useTest((state) => state.asked);
  const pinned = useTest((state) => state.pinned);
  useEffect(() => {
    if (query.data !== undefined) tests.setPins(query.data);
  }, [tests, query.data]);
  useNewest(id);
  useRemarks(pins);
  return (
    <>
      <Problem error={query.error} onRetry={() => void query.refetch()} isRetrying={query.isFetching} />
      <TestResult workflowId={id} projectId={project} pins={pins} isWide={isWide} />
      {pinned !== undefined && <PinDialog key={pinned} workflowId={id} pins={pins} nodeId={pinned} />}
      {asked !== undefined && <TestDialog workflowId={id} projectId={project} pins={pins} asked={asked} />}
    </>
  );
}

/** Marks nodes on the canvas with their last status and their pins. A node that has changed since gets no status. */
function useRemarks(pins: readonly Pin[]): void {
  const store = useStore();
  const results = useTest((state) => state.results);
  // Selecting JSON text makes equal values compare equal, so that the canvas is not rendered again.
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
