import type { Role } from '../use-projects.js';

const ROLES: readonly { value: Role; label: string }[] = [
  { value: 'viewer', label: 'viewer' },
  { value: 'editor', label: 'editor' },
  { value: 'admin', label: 'admin' },
  { value: 'owner', label: 'owner' },
];

/** Only owners make owners. */
export function rolesFor(own: Role): readonly { value: Role; label: string }[] {
  return own === 'owner' ? ROLES : ROLES.filter(({ value }) => value !== 'owner');
}

export const ROLES_EXPLAINED =
  'Viewers read. Editors also draw, run and decide requests. Admins also manage members, keys and webhooks. Owners also delete the project.';
