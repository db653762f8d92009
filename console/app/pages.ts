// The pages, each loaded when it is needed for the first time: none of them weighs on another one's first visit.
import { lazy } from 'react';

export const SignInPage = lazy(() =>
  import('../pages/sign-in/sign-in-page.js').then((page) => ({ default: page.SignInPage })),
);
export const PasswordPage = lazy(() =>
  import('../pages/password/password-page.js').then((page) => ({ default: page.PasswordPage })),
);
export const WorkflowsPage = lazy(() =>
  import('../pages/workflows/workflows-page.js').then((page) => ({ default: page.WorkflowsPage })),
);
export const WorkflowPage = lazy(() =>
  import('../pages/workflow/workflow-page.js').then((page) => ({ default: page.WorkflowPage })),
);
export const StartsPage = lazy(() =>
  import('../pages/starts/starts-page.js').then((page) => ({ default: page.StartsPage })),
);
export const RunsPage = lazy(() => import('../pages/runs/runs-page.js').then((page) => ({ default: page.RunsPage })));
export const RunPage = lazy(() => import('../pages/run/run-page.js').then((page) => ({ default: page.RunPage })));
export const InboxPage = lazy(() =>
  import('../pages/inbox/inbox-page.js').then((page) => ({ default: page.InboxPage })),
);
export const InboxItemPage = lazy(() =>
  import('../pages/inbox-item/inbox-item-page.js').then((page) => ({ default: page.InboxItemPage })),
);
export const MarketplacePage = lazy(() =>
  import('../pages/marketplace/marketplace-page.js').then((page) => ({ default: page.MarketplacePage })),
);
export const MarketplaceItemPage = lazy(() =>
  import('../pages/marketplace-item/marketplace-item-page.js').then((page) => ({ default: page.MarketplaceItemPage })),
);
export const CostsPage = lazy(() =>
  import('../pages/costs/costs-page.js').then((page) => ({ default: page.CostsPage })),
);
export const SettingsPage = lazy(() =>
  import('../pages/settings/settings-page.js').then((page) => ({ default: page.SettingsPage })),
);
