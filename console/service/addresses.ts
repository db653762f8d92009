// Addresses of the console's pages. console/vite.config.ts passes them to the API, which serves the page for
// these addresses only.

export const ADDRESSES = {
  home: '/',
  signIn: '/sign-in',
  password: '/password',
  workflows: '/workflows',
  workflow: '/workflows/:id',
  workflowCases: '/workflows/:id/cases',
  workflowChat: '/workflows/:id/chat',
  conversation: '/workflows/:id/chat/:conversation',
  workflowStarts: '/workflows/:id/starts',
  runs: '/runs',
  run: '/runs/:id',
  inbox: '/inbox',
  inboxItem: '/inbox/:id',
  marketplace: '/marketplace',
  marketplaceItem: '/marketplace/:slug',
  costs: '/costs',
  settings: '/settings',
} as const;

export const PLACES = [
  { to: ADDRESSES.workflows, name: 'Workflows' },
  { to: ADDRESSES.runs, name: 'Runs' },
  { to: ADDRESSES.inbox, name: 'Inbox' },
  { to: ADDRESSES.marketplace, name: 'Marketplace' },
  { to: ADDRESSES.costs, name: 'Costs' },
  { to: ADDRESSES.settings, name: 'Settings' },
] as const;
