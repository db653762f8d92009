import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import '../ui/theme.css';
import { ConfirmDialog } from '../ui/dialog.js';
import { Alert, Loading } from '../ui/notices.js';
import { useStored } from '../ui/store.js';
import { explain } from '../service/explain.js';
import { Layout } from './layout.js';
import { guardedNavigation, isGuarded, pendingLeave } from '../service/leave-guard.js';
import { tellNonceToLibraries } from '../service/nonce.js';
import { queryClient } from '../service/queries.js';
import { Routes } from './routes.js';
import { ownerOf, session, useSession } from '../service/session.js';
import { endSignInWindow } from '../service/sign-in-window.js';

/** A window that the browser does not close becomes a page like any other after this time. */
const CLOSES_WITHIN_MS = 1_000;

tellNonceToLibraries();
reloadForNewRelease();

// The next person at the same page must not see what the last one has read.
let userId: number | undefined;
session.subscribe(() => {
  const next = ownerOf(session.getState())?.id;
  if (next !== userId) queryClient.clear();
  userId = next;
});
// A window that has come back from a provider closes. The session of the others must not be renewed in it meanwhile.
if (endSignInWindow()) setTimeout(() => void session.start(), CLOSES_WITHIN_MS);
else void session.start();

createRoot(document.getElementById('console')!).render(<App />);

function App() {
  return (
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <Router aroundNav={guardedNavigation}>
          <InSession />
          <LeaveDialog />
        </Router>
      </QueryClientProvider>
    </StrictMode>
  );
}

function InSession() {
  const state = useSession();
  if (state.phase === 'starting') return <Loading label="Starting" />;
  if (state.phase === 'failed') {
    return (
      <main className="shell-main">
        <Alert onRetry={() => void session.start()}>{explain(state.error)}</Alert>
      </main>
    );
  }
  // Another person gets a page of their own.
  return (
    <Layout key={ownerOf(state)?.id ?? 'visitor'}>
      <Routes />
    </Layout>
  );
}

function LeaveDialog() {
  const leave = useStored(pendingLeave, (held) => held);
  const close = (): void => pendingLeave.setState(undefined);
  if (leave === undefined) return null;
  return (
    <ConfirmDialog
      title="Unsaved changes"
      confirmLabel="Leave"
      cancelLabel="Stay"
      isDangerous
      onCancel={close}
      onConfirm={() => {
        close();
        leave();
      }}
    >
      <p>
        What you have changed here is not saved. Unless you sign out, this browser keeps it and offers it when you come
        back.
      </p>
    </ConfirmDialog>
  );
}

const KEY = 'reloaded-at';
const PAUSE_MS = 30_000;

/**
 * A page that was open while the service was upgraded asks for parts of a release that is gone. Loading the page again
 * gets the new release. It is loaded once only, because a part can be missing for other reasons. It is not loaded over
 * unsaved changes: then a sentence in the place of the part says that it is missing.
 */
function reloadForNewRelease(): void {
  addEventListener('vite:preloadError', (event) => {
    if (isGuarded()) return;
    if (Date.now() - Number(sessionStorage.getItem(KEY)) < PAUSE_MS) return;
    event.preventDefault();
    sessionStorage.setItem(KEY, String(Date.now()));
    location.reload();
  });
}
