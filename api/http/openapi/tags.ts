// Derives the groups of the documentation from the paths, so a new route needs no entry here.

/** The first pattern that matches counts. */
const GROUPS: [pattern: RegExp, group: string][] = [
  [/^\/v1\//, 'Chat completions'],
  [/\/execution-update\//, 'Internal'],
  [/^\/mcp\/|\/tool\/$/, 'Tools'],
  [/\/workflows\/marketplace\/|-marketplace\/$/, 'Marketplace'],
  [/^\/api\/v1\/auth\//, 'Signing in'],
  [/\/agent-approvals?\//, 'Approvals'],
  [/\/webhook/, 'Webhooks'],
  [/\/all-workflows\//, 'Catalog and bookmarks'],
  [/^\/api\/v1\/(?:me|api-keys|users)\//, 'People and keys'],
  [/^\/api\/v1\/(?:categories|languages)\//, 'Catalog and bookmarks'],
  [/\/connections?(?:-presets)?\//, 'Connections'],
  [/\/(?:billing-history|usage)\//, 'Billing'],
  [/\/history\//, 'Run history'],
  [/\/(?:run|workflow_result|workflow_result\/events)\/$/, 'Runs'],
  [/^\/api\/v1\/projects\//, 'Projects'],
  [/^\/api\/v1\/workflows\//, 'Workflows'],
];

const ORDER = [
  'People and keys',
  'Signing in',
  'Projects',
  'Workflows',
  'Runs',
  'Run history',
  'Approvals',
  'Human tasks',
  'Tools',
  'Connections',
  'Billing',
  'Catalog and bookmarks',
  'Marketplace',
  'Webhooks',
  'Chat completions',
];
const LAST = ['Service', 'Internal'];

export function groupOf(path: string): string {
  const known = GROUPS.find(([pattern]) => pattern.test(path))?.[1];
  if (known !== undefined) return known;
  const resource = /^\/api\/v1\/([a-z-]+)\//.exec(path)?.[1];
  return resource === undefined ? 'Service' : resource.charAt(0).toUpperCase() + resource.slice(1).replaceAll('-', ' ');
}

/** Groups outside of `ORDER` precede those for operators (`LAST`). */
export function inReadingOrder(groups: Iterable<string>): string[] {
  return [...new Set(groups)].toSorted((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1));
}

function rankOf(group: string): number {
  const place = ORDER.indexOf(group);
  return place === -1 ? ORDER.length + 1 + LAST.indexOf(group) : place;
}
