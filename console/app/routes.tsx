import type { ReactNode } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { NotFound } from '../ui/page-header.js';
import { ADDRESSES } from './addresses.js';
import { takeReturnAddress } from './kept-address.js';
import * as pages from './pages.js';
import { RequireSession } from './require-session.js';
import { toOwnPath } from './return-address.js';

/** One page an address; `key` makes another record another page, so that nothing of the last one is left in it. */
export function Routes() {
  return (
    <Switch>
      <Route path={ADDRESSES.home}>{inSession(<Home />)}</Route>
      <Route path={ADDRESSES.signIn}>
        <pages.SignInPage />
      </Route>
      <Route path={ADDRESSES.password}>
        <pages.PasswordPage />
      </Route>
      <Route path={ADDRESSES.workflows}>{inSession(<pages.WorkflowsPage />)}</Route>
      <Route path={ADDRESSES.workflow}>{({ id }) => inSession(<WorkflowById key={id} id={id} />)}</Route>
      <Route path={ADDRESSES.workflowStarts}>{({ id }) => inSession(<StartsById key={id} id={id} />)}</Route>
      <Route path={ADDRESSES.runs}>{inSession(<pages.RunsPage />)}</Route>
      <Route path={ADDRESSES.run}>{({ id }) => inSession(<pages.RunPage key={id} runId={id} />)}</Route>
      <Route path={ADDRESSES.inbox}>{inSession(<pages.InboxPage />)}</Route>
      <Route path={ADDRESSES.inboxItem}>{({ id }) => inSession(<pages.InboxItemPage key={id} itemId={id} />)}</Route>
      <Route path={ADDRESSES.marketplace}>
        <pages.MarketplacePage />
      </Route>
      <Route path={ADDRESSES.marketplaceItem}>
        {({ slug }) => <pages.MarketplaceItemPage key={slug} slug={slug} />}
      </Route>
      <Route path={ADDRESSES.costs}>{inSession(<pages.CostsPage />)}</Route>
      <Route path={ADDRESSES.settings}>{inSession(<pages.SettingsPage />)}</Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}

function inSession(page: ReactNode) {
  return <RequireSession>{page}</RequireSession>;
}

/** Where sign-in links and identity providers lead to. */
function Home() {
  const asked = toOwnPath(takeReturnAddress(), location.origin);
  return <Redirect to={asked === '/' ? ADDRESSES.workflows : asked} replace />;
}

const WORKFLOW_ID = /^[1-9]\d{0,14}$/;

function StartsById({ id }: { id: string }) {
  return WORKFLOW_ID.test(id) ? <pages.StartsPage workflowId={Number(id)} /> : <NotFound />;
}

function WorkflowById({ id }: { id: string }) {
  return WORKFLOW_ID.test(id) ? <pages.WorkflowPage workflowId={Number(id)} /> : <NotFound />;
}
