import type { Role } from '../../db/core/tables.js';

const RANK: Record<Role, number> = { viewer: 0, editor: 1, admin: 2, owner: 3 };

export function mayAct(role: Role, minimum: Role): boolean {
  return RANK[role] >= RANK[minimum];
}
