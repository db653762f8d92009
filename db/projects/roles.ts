import type { Role } from '../core/tables.js';

const RANK: Record<Role, number> = { viewer: 0, editor: 1, admin: 2, owner: 3 };

export function mayAct(role: Role, minimum: Role): boolean {
  return RANK[role] >= RANK[minimum];
}

/** Whether somebody with this role in a workflow's project may run it. Null: the person is no member. */
export function mayRun(role: Role | null): boolean {
  return role !== null && mayAct(role, 'editor');
}
