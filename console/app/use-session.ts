import { useSyncExternalStore } from 'react';
import { session, type SessionState, type User } from './session.js';

export function useSession(): SessionState {
  return useSyncExternalStore(session.subscribe, session.state);
}

/** Undefined for a visitor. */
export function useUser(): User | undefined {
  const state = useSession();
  return state.phase === 'in' ? state.user : undefined;
}
