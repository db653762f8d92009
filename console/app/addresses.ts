// The addresses of the console. The build tells them to the API (vite.config.ts), which answers the page for exactly these.

export const ADDRESSES = {
  home: '/',
  signIn: '/sign-in',
  password: '/password',
  workflows: '/workflows',
  workflow: '/workflows/:id',
  workflowCases: '/workflows/:id/cases',
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
