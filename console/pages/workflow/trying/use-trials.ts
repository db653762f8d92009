import { createContext, use, useEffect, useState } from 'react';
import { queryClient } from '../../../service/queries.js';
import { useStored } from '../../../ui/store.js';
import { TrialStore, type TrialState } from './trial-store.js';

/**
 * Returns the tests of a workflow. They are kept for some minutes after the editor is left, so that a look at the page of a
 * run does not lose them.
 */
export function useTrialStore(workflowId: number): TrialStore {
  const [store] = useState(() => queryClient.getQueryData<TrialStore>(keyOf(workflowId)) ?? new TrialStore());
  useEffect(() => {
    queryClient.removeQueries({ queryKey: keyOf(workflowId) });
    return () => void queryClient.setQueryData(keyOf(workflowId), store);
  }, [workflowId, store]);
  return store;
}

function keyOf(workflowId: number): readonly unknown[] {
  return ['workflow', workflowId, 'trials'];
}

/** The store never changes while a workflow is open, so nothing renders because of the context. */
export const TrialContext = createContext<TrialStore | undefined>(undefined);

export function useTrials(): TrialStore {
  const store = use(TrialContext);
  if (store === undefined) throw new Error('There is no editor around this component.');
  return store;
}

/** `pick` must return a part of the state, and no new object. */
export function useTrial<T>(pick: (state: TrialState) => T): T {
  return useStored(useTrials(), pick);
}
