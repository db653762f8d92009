// Declares how the requests of a route are recorded in the audit log (CONTRIBUTING.md, "Add an endpoint").
import type { Transaction } from 'kysely';
import type { AuditAction } from '../../db/audit/subjects.js';
import type { TargetType } from '../../db/audit/subjects.js';
import type { Doer } from '../../db/audit/audit-entry.js';
import type { RecordedChange } from '../../db/audit/record-change.js';
import type { Db } from '../../db/core/client.js';
import type { AuditVia, Tables } from '../../db/core/tables.js';

/** `P`: the parameters of the path. */
export interface AuditRule<P = unknown> {
  /** Recorded for refused requests, too. */
  action: AuditAction;
  target: TargetType;
  /** Recorded instead of `action` for a refused sign-in. */
  refused?: AuditAction;
  /** The parameter that names the target, whose fields before and after a change are compared. */
  id?: keyof P & string;
  /** Replaces `id` if the request creates the target: the field of the answer that names it. */
  makes?: 'id' | 'user_id' | 'file_id';
  /** The parameter that names the target's workflow, if the target's id alone is not unique. */
  within?: keyof P & string;
  /**
   * Records only refusals, for example of starts of runs and of changes of drafts (docs/operate/audit.md, "What is
   * recorded"). test/api/audit/audit.test.ts lists these routes.
   */
  records?: 'refusals';
  /**
   * By default the handler is called in one transaction with the record, must not commit, and must wait for nothing but
   * the database. With `handler`, the handler itself calls `audit.change` for the part that changes something.
   */
  commits?: 'handler';
  /** Recorded as the way in which a request without a caller was made (`Doer.via`); default `session`. */
  via?: AuditVia;
  /** Fields of the body that are recorded as changed whenever they are sent. */
  alwaysRecorded?: readonly string[];
}

/** True for a route whose handler runs in one transaction with the record. */
export type RunsInTransaction<Rule> = Rule extends undefined | { records: 'refusals' } | { commits: 'handler' }
  ? false
  : true;

export interface AuditTrail {
  doer: Doer;
  /** Sets the user whose account a sign-in is for, even if the sign-in is refused. */
  concerns: (userId: number) => void;
  /** Records the error if it is a refusal, for handlers that answer a refusal themselves instead of throwing it. */
  refuse: (error: unknown) => Promise<void>;
  /**
   * Runs a change and stores its record in one transaction, as the rule of the route declares. `keyOf` returns the key
   * of the recorded object, or undefined to record nothing; it is needed if the path does not name the object (a
   * created one, or the user of a sign-in), or if the change may do nothing. `within`: an open transaction.
   */
  change<T>(
    work: (transaction: Transaction<Tables>) => Promise<T>,
    about?: Pick<RecordedChange<T>, 'keyOf' | 'userOf'> & { within?: Db },
  ): Promise<T>;
}
