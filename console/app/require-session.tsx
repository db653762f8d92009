import { lazy, Suspense, type ReactNode } from 'react';
import { Redirect } from 'wouter';
import { toSignInPath } from './return-address.js';
import { ownerOf, useSession } from './use-session.js';

const SessionDialog = lazy(() =>
  import('../pages/sign-in/session-dialog.js').then((module) => ({ default: module.SessionDialog })),
);

/**
 * A visitor signs in first, and comes back to the address that was asked for. Whose session ends over unsaved changes signs
 * in on top of them.
 */
export function RequireSession({ children }: { children: ReactNode }) {
  const state = useSession();
  if (ownerOf(state) === undefined) {
    return <Redirect to={toSignInPath(`${location.pathname}${location.search}${location.hash}`)} replace />;
  }
  return (
    <>
      {children}
      {state.phase === 'out' && (
        <Suspense>
          <SessionDialog />
        </Suspense>
      )}
    </>
  );
}
