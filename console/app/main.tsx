import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import '../ui/theme.css';
import { ConfirmDialog } from '../ui/dialog.js';
import { Alert, Loading } from '../ui/notices.js';
import { useStored } from '../ui/store.js';
import { explain } from '../service/explain.js';
import { Layout } from './layout.js';
import { guardedNavigation, isGuarded, pendingLeave, saveGuarded } from '../service/leave-guard.js';
import { passNonceToLibraries } from '../service/nonce.js';
import { queryClient } from '../service/queries.js';
import { Routes } from './routes.js';
import { ownerOf, session, useSession } from '../service/session.js';
import { endSignInWindow } from '../service/sign-in-window.js';
import { applyTheme } from '../service/theme.js';

/** A sign-in window that the browser has not closed within this time becomes a normal page. */
const CLOSES_WITHIN_MS = 1_000;

applyTheme();
passNonceToLibraries();
reloadForNewRelease();

// The next person at this page must not see data that the last one loaded.
let userId: number | undefined;
session.subscribe(() => {
  const next = ownerOf(session.getState())?.id;
  if (next !== userId) queryClient.clear();
  userId = next;
});
// A window for the sign-in of a connection closes itself. Its session starts only if the window is still open after
// `CLOSES_WITHIN_MS`, because a start replaces the refresh cookie that all tabs share.
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
  // The key remounts everything for another person.
  return (
    <Layout key={ownerOf(state)?.id ?? 'visitor'}>
      <Routes />
    </Layout>
  );
}

function LeaveDialog() {
  const leave = useStored(pendingLeave, (held) => held);
  const [isSaving, setIsSaving] = useState(false);
  const close = (): void => pendingLeave.setState(undefined);
  if (leave === undefined) return null;
  const go = (): void => {
    close();
    leave();
  };
  const save = async (): Promise<void> => {
    setIsSaving(true);
    const isSaved = await saveGuarded();
    setIsSaving(false);
    // The page shows why a save failed. After a save, the person may have chosen to stay in the meantime.
    if (!isSaved) close();
    else if (pendingLeave.getState() === leave) go();
  };
  return (
    <ConfirmDialog
      title="Unsaved changes"
      confirmLabel="Leave"
      cancelLabel="Stay"
      isDangerous
      alternative={{ label: 'Save and leave', isBusy: isSaving, onChoose: () => void save() }}
      onCancel={close}
      onConfirm={go}
    >
      <p>
        What you have changed is not saved to the workflow. Unless you sign out, this browser keeps a copy and offers it
        when you come back.
      </p>
    </ConfirmDialog>
  );
}

const KEY = 'reloaded-at';
const PAUSE_MS = 30_000;

/**
 * After an upgrade of the service, an open page requests chunks that no longer exist. Reloading gets the new release.
 * The page reloads at most once per `PAUSE_MS`, because a chunk may be missing for other reasons. With unsaved changes
 * the page does not reload; an error then replaces the missing part.
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
