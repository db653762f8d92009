import { useSyncExternalStore } from 'react';
import { session, type SessionState, type User } from './session.js';

export function useSession(): SessionState {
  return useSyncExternalStore(session.subscribe, session.state);
}

/** Whose page this is: who is signed in, or was until now and has unsaved changes on it. */
export function ownerOf(state: SessionState): User | undefined {
  if (state.phase === 'in') return state.user;
  return state.phase === 'out' ? state.heldFor : undefined;
}

/** Undefined for a visitor. */
export function useUser(): User | undefined {
  const state = useSession();
  return state.phase === 'in' ? state.user : undefined;
}
