import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { api, unwrap, type components } from '../../app/api.js';
import type { EditorStore } from '../../drawing/editor-store.js';
import { schemaProblems, type Problem } from '../../drawing/schema-problems.js';
import type { Saver } from './saver.js';

interface Check {
  /** Of the last saved drawing, and not yet answered. */
  isChecking: boolean;
  error: unknown;
  retry: () => void;
}

const DELAY_MS = 300;

/**
 * Tells the store what is wrong: of a saved drawing what the service says (`check_workflow` reads the stored one), of
 * unsaved changes what the schemas of the kinds say.
 */
export function useProblems(store: EditorStore, saver: Saver): Check {
  const isDirty = useSyncExternalStore(store.subscribe, () => store.getState().isDirty);
  const present = useSyncExternalStore(store.subscribe, () => store.drawing);
  const { id } = useSyncExternalStore(saver.subscribe, () => saver.getState().workflow);
  const etag = useSyncExternalStore(saver.subscribe, () => saver.etag);
  const drawing = useDelayed(present);
  const check = useQuery({
    queryKey: ['workflow', id, 'check', etag],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/workflows/{id}/check_workflow/', { params: { path: { id } }, signal })),
    enabled: !isDirty,
    staleTime: Infinity,
  });
  const { data } = check;
  useEffect(() => {
    if (!isDirty && data !== undefined) store.setProblems(toProblems(data));
  }, [store, isDirty, data]);
  useEffect(() => {
    // Not of what was there a moment ago: a first node would be told that there are none.
    if (isDirty && drawing === present) store.setProblems(schemaProblems(drawing, store.kinds));
  }, [store, isDirty, drawing, present]);
  return { isChecking: check.isFetching, error: isDirty ? null : check.error, retry: () => void check.refetch() };
}

function toProblems({ errors, warnings }: components['schemas']['WorkflowCheck']): Problem[] {
  return [
    ...errors.map(({ node_id: nodeId, path, message }): Problem => ({ nodeId, path, message, severity: 'error' })),
    ...warnings.map(({ node_id: nodeId, message }): Problem => ({ nodeId, path: '', message, severity: 'warning' })),
  ];
}

/** The value as it is once nothing has changed for a moment. */
function useDelayed<T>(value: T): T {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), DELAY_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return delayed;
}
