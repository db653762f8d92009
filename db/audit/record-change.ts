import { sql, type Transaction } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { Tables } from '../core/tables.js';
import type { AuditAction } from './subjects.js';
import { insertAuditEntry, type Doer } from './audit-entry.js';
import { toChanges } from './changes.js';
import { findTarget, type TargetKey, type TargetType } from './subjects.js';

/** Describes a change, whose result is a `T`, for its record. */
export interface RecordedChange<T> {
  action: AuditAction;
  type: TargetType;
  doer: Doer;
  /** The changed object. Undefined if the change creates one, or changes none, like a sign-in. */
  key?: TargetKey | undefined;
  /**
   * Returns the object that was created or changed, or that the event is about. Undefined if nothing has happened: then
   * nothing is recorded.
   */
  keyOf?: (result: T) => TargetKey | undefined;
  /** True if the change has created the object of `keyOf`. */
  isMade?: boolean;
  /** Fields that are recorded even if they look the same as before. */
  touched?: readonly string[];
  /** Returns the author of the change. Absent if `doer` names the author. */
  userOf?: (result: T) => number | undefined;
}

/**
 * Runs the change and stores its record in one transaction, so that a crash or an error leaves both or
 * neither. Changes of one object are serialized from here to their commit, so that `[before, after]` is the
 * effect of this change alone.
 */
export function recordChange<T>(
  db: Db,
  change: RecordedChange<T>,
  work: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const { action, type, key, keyOf, isMade = false, touched, userOf } = change;
  return inTransaction(db, async (transaction) => {
    // Must come before any row lock of the transaction. Otherwise two changes of one object may deadlock.
    if (key !== undefined) await lockTarget(transaction, type, key);
    const before = key && (await findTarget(transaction, type, key));
    const result = await work(transaction);
    const changed = keyOf === undefined ? key : keyOf(result);
    if (changed === undefined) return result;
    const after = await findTarget(transaction, type, changed);
    await insertAuditEntry(transaction, {
      action,
      doer: userOf === undefined ? change.doer : { ...change.doer, userId: userOf(result) },
      projectId: after?.projectId ?? before?.projectId ?? null,
      target: { type, id: String(changed.id), name: (after ?? before)?.name ?? '' },
      changes: isMade || key !== undefined ? toChanges(before, after, touched) : {},
    });
    return result;
  });
}

async function lockTarget(transaction: Db, type: TargetType, key: TargetKey): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${lockNameOf(type, key)}, 0))`.execute(transaction);
}

/**
 * Routes in a project pass `projectId`, and commands of `admin` do not. Every key of an object must give the same name,
 * so the name contains `projectId` only for members, which their id does not identify. Only keys of pins have a
 * `workflowId`.
 */
export function lockNameOf(type: TargetType, { id, projectId, workflowId }: TargetKey): string {
  const within = type === 'member' ? projectId : workflowId;
  return `audit ${type} ${within ?? 0} ${id}`;
}
