import { createContext, use, useEffect, useState } from 'react';
import { queryClient } from '../../../service/queries.js';
import { useStored } from '../../../ui/store.js';
import { TestStore, type TestState } from './test-store.js';

/**
 * Returns the tests of a workflow. They remain in the query cache for some minutes after the editor closes, so that a
 * visit to a run's page does not lose them.
 */
export function useTestStore(workflowId: number): TestStore {
  const [store] = useState(() => queryClient.getQueryData<TestStore>(keyOf(workflowId)) ?? new TestStore());
  useEffect(() => {
    queryClient.removeQueries({ queryKey: keyOf(workflowId) });
    return () => void queryClient.setQueryData(keyOf(workflowId), store);
  }, [workflowId, store]);
  return store;
}

function keyOf(workflowId: number): readonly unknown[] {
  return ['workflow', workflowId, 'tests'];
}

/** The store object never changes while a workflow is open, so the context causes no renderings. */
export const TestContext = createContext<TestStore | undefined>(undefined);

export function useTests(): TestStore {
  const store = use(TestContext);
  if (store === undefined) throw new Error('There is no editor around this component.');
  return store;
}

/** `pick` must return a part of the state, not a new object, or each update renders again. */
export function useTest<T>(pick: (state: TestState) => T): T {
  return useStored(useTests(), pick);
}
