import type { Role } from '../db/core/tables.js';

/** Whether somebody with this role in a workflow's project may run it. Null: the person is no member. */
export function mayRun(role: Role | null): boolean {
  return role !== null && role !== 'viewer';
}
