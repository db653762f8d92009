import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { Router } from 'wouter';
import { Alert, Loading } from '../ui/notices.js';
import { explain } from './explain.js';
import { Layout } from './layout.js';
import { LeaveDialog } from './leave-dialog.js';
import { guardedNavigation } from './leave-guard.js';
import { queryClient } from './query-client.js';
import { Routes } from './routes.js';
import { session } from './session.js';
import { ownerOf, useSession } from './use-session.js';

export function App() {
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
