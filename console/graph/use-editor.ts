import { createContext, use, useSyncExternalStore } from 'react';
import type { EditorState, EditorStore } from './editor-store.js';

/** The store itself never changes while a workflow is open: nothing renders because of the context. */
export const EditorContext = createContext<EditorStore | undefined>(undefined);

export function useStore(): EditorStore {
  const store = use(EditorContext);
  if (store === undefined) throw new Error('There is no editor around this component.');
  return store;
}

/** `pick` must answer the same value for the same state: something that is in it. */
export function useEditor<T>(pick: (state: EditorState) => T): T {
  const store = useStore();
  return useSyncExternalStore(store.subscribe, () => pick(store.getState()));
}
