import type { ReactNode } from 'react';
import { Redirect } from 'wouter';
import { toSignInPath } from './return-address.js';
import { useSession } from './use-session.js';

/** A visitor signs in first, and comes back to the address that was asked for. */
export function RequireSession({ children }: { children: ReactNode }) {
  const { phase } = useSession();
  if (phase === 'in') return children;
  return <Redirect to={toSignInPath(`${location.pathname}${location.search}${location.hash}`)} replace />;
}
