// State that lives outside the components: the session, what is announced, the drawing in the editor and how it is saved.
// All other state is in React Query when the service has it, in the address when it can be sent to somebody, and otherwise
// in the component that shows it.
import { useSyncExternalStore } from 'react';

export interface Stored<State> {
  getState: () => State;
  /** Returns the function that ends the subscription. */
  subscribe: (listener: () => void) => () => void;
}

export interface Store<State> extends Stored<State> {
  setState: (state: State) => void;
}

export function createStore<State>(begin: State): Store<State> {
  const listeners = new Set<() => void>();
  let state = begin;
  return {
    getState: () => state,
    setState(next) {
      state = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Renders again when `pick` returns another value. It must return a part of the state, and no new object. */
export function useStored<State, Part>(store: Stored<State>, pick: (state: State) => Part): Part {
  return useSyncExternalStore(store.subscribe, () => pick(store.getState()));
}
