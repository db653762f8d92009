import { Time } from '../../../ui/figures.js';
import type { paths } from '../../../app/api.js';
import type { Column } from '../../../ui/table.js';

export type ListedSession =
  paths['/api/v1/users/{id}/sessions/']['get']['responses'][200]['content']['application/json']['items'][number];

const METHODS: Record<ListedSession['method'], string> = {
  password: 'Password',
  link: 'Link',
  oidc: 'Identity provider',
};

/** The columns of a table of sessions. */
export const SESSION_FACTS: Column<ListedSession>[] = [
  {
    heading: 'Browser',
    cell: (row) => <span className="settings-agent">{row.user_agent || 'Unknown'}</span>,
    isName: true,
  },
  { heading: 'Network', cell: ({ network }) => network },
  { heading: 'Signed in by', cell: ({ method }) => METHODS[method] },
  { heading: 'Since', cell: (row) => <Time at={row.created_at} /> },
  { heading: 'Last used', cell: (row) => <Time at={row.last_used_at} /> },
  { heading: 'Ends', cell: (row) => <Time at={row.expires_at} /> },
];
