// The permissions of a project member, by role.
import type { Role } from '../db/core/tables.js';

const RANK: Record<Role, number> = { viewer: 0, editor: 1, admin: 2, owner: 3 };

export function mayAct(role: Role, minimum: Role): boolean {
  return RANK[role] >= RANK[minimum];
}

/** True if somebody with this role in the workflow's project may run it. `null` means no member. */
export function mayRun(role: Role | null): boolean {
  return role !== null && mayAct(role, 'editor');
}
