// A minimal store for state outside components, such as the session, announcements, the choices that the browser
// stores, and the editor's drawing and its saving. Other state belongs to React Query if the service owns it, to the
// address if it can be shared, else to a component.
import { useSyncExternalStore } from 'react';

export interface Stored<State> {
  getState: () => State;
  /** Returns the function that ends the subscription. */
  subscribe: (listener: () => void) => () => void;
}

export interface Store<State> extends Stored<State> {
  setState: (state: State) => void;
}

export function createStore<State>(initial: State): Store<State> {
  const listeners = new Set<() => void>();
  let state = initial;
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

/** Renders again when the result of `pick` changes. `pick` must return a part of the state, not a new object. */
export function useStored<State, Part>(store: Stored<State>, pick: (state: State) => Part): Part {
  return useSyncExternalStore(store.subscribe, () => pick(store.getState()));
}
