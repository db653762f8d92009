// The service's check of the drawing, saved or not.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api, unwrap, type components } from '../../service/api.js';
import { nodesOf, typeOf, type Drawing } from '../../drawing/drawing.js';
import type { EditorStore } from '../../drawing/editor-store.js';
import type { Problem } from '../../drawing/problem.js';
import { toProblemWords } from '../../forms/problem-words.js';
import { useStored } from '../../ui/store.js';
import type { Saver } from './saver.js';

export interface Check {
  /** True while the check of the present drawing is pending. */
  isChecking: boolean;
  error: unknown;
  retry: () => void;
}

const DELAY_MS = 300;

/**
 * Stores the problems that the service finds in the present drawing. Renders again when typing begins and ends, but not
 * for each letter.
 */
export function useProblems(store: EditorStore, saver: Saver): Check {
  const isDirty = useStored(store, (state) => state.isDirty);
  const { id } = useStored(saver, (state) => state.workflow);
  const etag = useStored(saver, (state) => state.etag);
  const drawing = useSettled(store);
  const settled = useStored(store, ({ history }) => history.present === drawing);
  // An empty drawing is not checked: a person who has not begun has made no mistake.
  const isEmpty = nodesOf(drawing).size === 0;
  const stored = useCheck({ id, etag }, !isDirty && !isEmpty);
  const unsaved = useUnsavedCheck({ id, store }, drawing, isDirty && settled && !isEmpty);
  const check = isDirty ? unsaved : stored;
  const { data } = check;
  useEffect(() => {
    if (isEmpty) store.setProblems([]);
    else if (data !== undefined) store.setProblems(toProblems(store, data));
  }, [store, data, isEmpty]);
  return {
    isChecking: check.isFetching || (isDirty && !settled),
    error: check.error,
    retry: () => void check.refetch(),
  };
}

/** Loads the service's check of the saved drawing. */
export function useCheck(
  { id, etag }: { id: number; etag: string },
  isWanted: boolean,
): UseQueryResult<components['schemas']['WorkflowCheck']> {
  return useQuery({
    queryKey: ['workflow', id, 'check', etag],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/workflows/{id}/check_workflow/', { params: { path: { id } }, signal })),
    enabled: isWanted,
    staleTime: Infinity,
  });
}

/**
 * Loads the service's check of an unsaved drawing. Each change makes a new drawing object. The query key contains the
 * number of that object.
 */
function useUnsavedCheck(
  { id, store }: { id: number; store: EditorStore },
  drawing: Drawing,
  isWanted: boolean,
): UseQueryResult<components['schemas']['WorkflowCheck']> {
  return useQuery({
    queryKey: ['workflow', id, 'check', numberOf(drawing)],
    queryFn: ({ signal }) => {
      const body = { drawing, ...(store.isFromDraft && { from_draft: true as const }) };
      return unwrap(api.POST('/api/v1/workflows/{id}/check_workflow/', { params: { path: { id } }, body, signal }));
    },
    enabled: isWanted,
    staleTime: Infinity,
    gcTime: 0,
  });
}

const numbers = new WeakMap<Drawing, number>();
let lastNumber = 0;

function numberOf(drawing: Drawing): number {
  const number = numbers.get(drawing) ?? (lastNumber += 1);
  numbers.set(drawing, number);
  return number;
}

function toProblems(store: EditorStore, { errors, warnings }: components['schemas']['WorkflowCheck']): Problem[] {
  const nodes = nodesOf(store.drawing);
  const wordsOf = (nodeId: string | null, path: string, message: string): string => {
    const node = nodes.get(nodeId ?? '');
    return toProblemWords(node && store.kinds.get(typeOf(node))?.schema, path, message);
  };
  return [
    ...errors.map(({ node_id: nodeId, path, message }): Problem => ({
      nodeId,
      path,
      message: wordsOf(nodeId, path, message),
      severity: 'error',
    })),
    ...warnings.map(({ node_id: nodeId, path = '', message }): Problem => ({
      nodeId,
      path,
      message,
      severity: 'warning',
    })),
  ];
}

/** Returns the last drawing that stayed the same for `DELAY_MS`; at first, the present one. */
function useSettled(store: EditorStore): Drawing {
  const [settled, setSettled] = useState(store.drawing);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let waiting: Drawing | undefined;
    const look = (): void => {
      if (store.drawing === waiting) return;
      waiting = store.drawing;
      clearTimeout(timer);
      timer = setTimeout(() => setSettled(store.drawing), DELAY_MS);
    };
    const stop = store.subscribe(look);
    look();
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [store]);
  return settled;
}
