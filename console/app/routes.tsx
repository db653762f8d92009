import { lazy, Suspense, type ReactNode } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { NotFound } from '../ui/page-header.js';
import { ADDRESSES } from '../service/addresses.js';
import { toOwnPath, toSignInPath } from '../service/return-address.js';
import { ownerOf, takeReturnAddress, useSession } from '../service/session.js';

/**
 * Shows the page of the current address. `key` remounts a page for another record, so that no state of the last one
 * remains.
 */
export function Routes() {
  return (
    <Switch>
      <Route path={ADDRESSES.home}>{inSession(<Home />)}</Route>
      <Route path={ADDRESSES.signIn}>
        <SignInPage />
      </Route>
      <Route path={ADDRESSES.password}>
        <PasswordPage />
      </Route>
      <Route path={ADDRESSES.workflows}>{inSession(<WorkflowsPage />)}</Route>
      <Route path={ADDRESSES.workflow}>{({ id }) => inSession(<WorkflowById key={id} id={id} />)}</Route>
      <Route path={ADDRESSES.workflowCases}>{({ id }) => inSession(<CasesById key={id} id={id} />)}</Route>
      <Route path={ADDRESSES.workflowChat}>{({ id }) => inSession(<ChatById key={id} id={id} />)}</Route>
      <Route path={ADDRESSES.conversation}>
        {({ id, conversation }) => inSession(<ChatById key={id} id={id} conversation={conversation} />)}
      </Route>
      <Route path={ADDRESSES.workflowStarts}>{({ id }) => inSession(<StartsById key={id} id={id} />)}</Route>
      <Route path={ADDRESSES.runs}>{inSession(<RunsPage />)}</Route>
      <Route path={ADDRESSES.run}>{({ id }) => inSession(<RunPage key={id} runId={id} />)}</Route>
      <Route path={ADDRESSES.inbox}>{inSession(<InboxPage />)}</Route>
      <Route path={ADDRESSES.inboxItem}>{({ id }) => inSession(<InboxItemPage key={id} itemId={id} />)}</Route>
      <Route path={ADDRESSES.marketplace}>
        <MarketplacePage />
      </Route>
      <Route path={ADDRESSES.marketplaceItem}>{({ slug }) => <MarketplaceItemPage key={slug} slug={slug} />}</Route>
      <Route path={ADDRESSES.costs}>{inSession(<CostsPage />)}</Route>
      <Route path={ADDRESSES.settings}>{inSession(<SettingsPage />)}</Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}

function inSession(page: ReactNode) {
  return <RequireSession>{page}</RequireSession>;
}

/** Sign-in links, and sign-ins at an identity provider, lead here. */
function Home() {
  const asked = toOwnPath(takeReturnAddress(), location.origin);
  return <Redirect to={asked === '/' ? ADDRESSES.workflows : asked} replace />;
}

const WORKFLOW_ID = /^[1-9]\d{0,14}$/;

function CasesById({ id }: { id: string }) {
  return WORKFLOW_ID.test(id) ? <CasesPage workflowId={Number(id)} /> : <NotFound />;
}

/** Conversation ids are UUIDs; other ids are rejected without a request. */
const CONVERSATION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function ChatById({ id, conversation }: { id: string; conversation?: string }) {
  const isKnown = WORKFLOW_ID.test(id) && (conversation === undefined || CONVERSATION_ID.test(conversation));
  return isKnown ? <ChatPage workflowId={Number(id)} conversationId={conversation} /> : <NotFound />;
}

function StartsById({ id }: { id: string }) {
  return WORKFLOW_ID.test(id) ? <StartsPage workflowId={Number(id)} /> : <NotFound />;
}

function WorkflowById({ id }: { id: string }) {
  return WORKFLOW_ID.test(id) ? <WorkflowPage workflowId={Number(id)} /> : <NotFound />;
}

const SessionDialog = lazy(() =>
  import('../pages/sign-in/session-dialog.js').then((module) => ({ default: module.SessionDialog })),
);

/**
 * Visitors sign in first and return to the requested address. A session that ends over unsaved changes is renewed in a
 * dialog on top of them.
 */
function RequireSession({ children }: { children: ReactNode }) {
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

// Each page is loaded on first use, to keep the first visit small.

const SignInPage = lazy(() =>
  import('../pages/sign-in/sign-in-page.js').then((page) => ({ default: page.SignInPage })),
);
const PasswordPage = lazy(() =>
  import('../pages/sign-in/password-page.js').then((page) => ({ default: page.PasswordPage })),
);
const WorkflowsPage = lazy(() =>
  import('../pages/workflows/workflows-page.js').then((page) => ({ default: page.WorkflowsPage })),
);
const WorkflowPage = lazy(() =>
  import('../pages/workflow/workflow-page.js').then((page) => ({ default: page.WorkflowPage })),
);
const CasesPage = lazy(() => import('../pages/cases/cases-page.js').then((page) => ({ default: page.CasesPage })));
const ChatPage = lazy(() => import('../pages/chat/chat-page.js').then((page) => ({ default: page.ChatPage })));
const StartsPage = lazy(() => import('../pages/starts/starts-page.js').then((page) => ({ default: page.StartsPage })));
const RunsPage = lazy(() => import('../pages/runs/runs-page.js').then((page) => ({ default: page.RunsPage })));
const RunPage = lazy(() => import('../pages/run/run-page.js').then((page) => ({ default: page.RunPage })));
const InboxPage = lazy(() => import('../pages/inbox/inbox-page.js').then((page) => ({ default: page.InboxPage })));
const InboxItemPage = lazy(() =>
  import('../pages/inbox/inbox-item-page.js').then((page) => ({ default: page.InboxItemPage })),
);
const MarketplacePage = lazy(() =>
  import('../pages/marketplace/marketplace-page.js').then((page) => ({ default: page.MarketplacePage })),
);
const MarketplaceItemPage = lazy(() =>
  import('../pages/marketplace/marketplace-item-page.js').then((page) => ({ default: page.MarketplaceItemPage })),
);
const CostsPage = lazy(() => import('../pages/costs/costs-page.js').then((page) => ({ default: page.CostsPage })));
const SettingsPage = lazy(() =>
  import('../pages/settings/settings-page.js').then((page) => ({ default: page.SettingsPage })),
);
