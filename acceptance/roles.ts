// Compares the roles of the members of a project.
import type { Role } from '../db/core/tables.js';

const RANK: Record<Role, number> = { viewer: 0, editor: 1, admin: 2, owner: 3 };

export function mayAct(role: Role, minimum: Role): boolean {
  return RANK[role] >= RANK[minimum];
}

/** True if a user with this role in a project may run its workflows. `null`: the user is no member. */
export function mayRun(role: Role | null): boolean {
  return role !== null && mayAct(role, 'editor');
}
