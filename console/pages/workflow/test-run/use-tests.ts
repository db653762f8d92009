import { createContext, use, useEffect, useState } from 'react';
import { queryClient } from '../../../service/queries.js';
import { useStored } from '../../../ui/store.js';
import { TestStore, type TestState } from './test-store.js';

/**
 * Returns the tests of a workflow. They are kept for some minutes after the editor is left, so that a look at the page of a
 * run does not lose them.
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

/** The store never changes while a workflow is open, so nothing renders because of the context. */
export const TestContext = createContext<TestStore | undefined>(undefined);

export function useTests(): TestStore {
  const store = use(TestContext);
  if (store === undefined) throw new Error('There is no editor around this component.');
  return store;
}

/** `pick` must return a part of the state, and no new object. */
export function useTest<T>(pick: (state: TestState) => T): T {
  return useStored(useTests(), pick);
}
