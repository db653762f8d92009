import { sql, type Transaction } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { Tables } from '../core/tables.js';
import type { AuditAction } from './actions.js';
import { insertAuditEntry, type Doer } from './audit-entry.js';
import { toChanges } from './changes.js';
import { findTarget, type TargetKey, type TargetType } from './targets.js';

/** Describes a change with the result `T` for its record. */
export interface RecordedChange<T> {
  action: AuditAction;
  type: TargetType;
  doer: Doer;
  /** The object that is changed. Absent for one that is made, and for what changes no object, as a sign-in. */
  key?: TargetKey | undefined;
  /** The object that was made, or that the event is about; undefined when nothing has happened, and nothing is recorded. */
  keyOf?: (result: T) => TargetKey | undefined;
  /** The object of `keyOf` was made by this. */
  isMade?: boolean;
  /** Fields that are told although they look as before. */
  touched?: readonly string[];
  /** Returns the user who has made the change, where only the result says so. */
  userOf?: (result: T) => number | undefined;
}

/**
 * Runs the change and stores its record in one transaction: a process that dies has stored both or neither, and what the
 * change throws undoes both. Changes of one object follow one another from here to their commit, so that `[before, after]`
 * is what this change has done.
 */
export function recordChange<T>(
  db: Db,
  change: RecordedChange<T>,
  work: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const { action, type, key, keyOf, isMade = false, touched, userOf } = change;
  return inTransaction(db, async (transaction) => {
    // This comes before any row is locked, so that the order of those locks does not matter.
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

async function lockTarget(
  transaction: Db,
  type: TargetType,
  { id, projectId = 0, workflowId }: TargetKey,
): Promise<void> {
  const within = workflowId === undefined ? '' : `${workflowId} `;
  const name = `audit ${type} ${projectId} ${within}${id}`;
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(transaction);
}
