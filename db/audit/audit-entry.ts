// Writes records of the audit log (docs/operate/audit.md).
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { AuditVia } from '../core/tables.js';
import type { AuditAction } from './subjects.js';

/** The author of an action, and how the request for it was made (`via`). */
export interface Doer {
  via: AuditVia;
  /** Undefined if the author is unknown, or the system itself. */
  userId?: number | undefined;
  keyId?: number | undefined;
  /** The client's address, as TRUSTED_PROXIES determines it. */
  address?: string | undefined;
}

/** The author of changes by commands of `admin` and by the service itself. */
export const SYSTEM: Doer = { via: 'system' };

export interface AuditTarget {
  type: string;
  id: string;
  name: string;
}

/** `{field: [before, after]}`, with secrets as ********. */
export type AuditChanges = Record<string, [unknown, unknown]>;

interface AuditEntry {
  action: AuditAction;
  doer: Doer;
  projectId: number | null;
  /** Undefined if the action has no target, like `secrets.reencrypted`. */
  target?: AuditTarget | undefined;
  changes?: AuditChanges;
}

/** Stores the record in the transaction of the change, so that both are stored or neither. */
export async function insertAuditEntry(transaction: Db, entry: AuditEntry): Promise<void> {
  const { action, doer, projectId, target, changes = {} } = entry;
  const actorId = doer.userId ?? null;
  await sql`
    INSERT INTO audit_records (project_id, action, outcome, actor_id, actor_name, via, key_id, address, target_type,
      target_id, target_name, changes)
    VALUES (${projectId}::integer, ${action}, 'success', ${actorId}::integer,
      (SELECT name FROM users WHERE id = ${actorId}::integer), ${doer.via}, ${doer.keyId ?? null}::integer,
      ${doer.address ?? null}, ${target?.type ?? null}, ${target?.id ?? null}, ${target?.name ?? null},
      ${JSON.stringify(changes)}::jsonb)`.execute(transaction);
}
