// A member's role in a project decides what the member may do.
import type { Role } from '../db/core/tables.js';

const RANK: Record<Role, number> = { viewer: 0, editor: 1, admin: 2, owner: 3 };

export function mayAct(role: Role, minimum: Role): boolean {
  return RANK[role] >= RANK[minimum];
}

/** Returns whether somebody with this role in a workflow's project may run it. The role of a stranger is null. */
export function mayRun(role: Role | null): boolean {
  return role !== null && mayAct(role, 'editor');
}
