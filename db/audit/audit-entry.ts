// Records of the audit log are written here (docs/operate/audit.md).
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { AuditVia } from '../core/tables.js';
import type { AuditAction } from './actions.js';

/** The author of an action, and its origin. */
export interface Doer {
  via: AuditVia;
  /** Absent where nobody is known, or the system itself does it. */
  userId?: number | undefined;
  keyId?: number | undefined;
  /** The address of the client, by the rule of TRUSTED_PROXIES. */
  address?: string | undefined;
}

/** The commands of `admin`, and what the service does by itself. */
export const SYSTEM: Doer = { via: 'system' };

export interface AuditTarget {
  type: string;
  id: string;
  name: string;
}

/** `{field: [before, after]}`, secrets as ********. */
export type AuditChanges = Record<string, [unknown, unknown]>;

interface AuditEntry {
  action: AuditAction;
  doer: Doer;
  projectId: number | null;
  /** Undefined if there is none, as for the sign-in to an account that does not exist. */
  target?: AuditTarget | undefined;
  changes?: AuditChanges;
}

/** Stores the record within the transaction of the change: both are stored, or neither is. */
export async function insertAuditEntry(transaction: Db, entry: AuditEntry): Promise<void> {
  const { action, doer, projectId, target, changes = {} } = entry;
  const actorId = doer.userId ?? null;
  await sql`/* insert_audit_entry */
    INSERT INTO audit_records (project_id, action, outcome, actor_id, actor_name, via, key_id, address, target_type,
      target_id, target_name, changes)
    VALUES (${projectId}::integer, ${action}, 'success', ${actorId}::integer,
      (SELECT name FROM users WHERE id = ${actorId}::integer), ${doer.via}, ${doer.keyId ?? null}::integer,
      ${doer.address ?? null}, ${target?.type ?? null}, ${target?.id ?? null}, ${target?.name ?? null},
      ${JSON.stringify(changes)}::jsonb)`.execute(transaction);
}
