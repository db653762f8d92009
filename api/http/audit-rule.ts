// Rules for recording the requests of a route in the audit log (CONTRIBUTING.md, "Add an endpoint").
import type { Transaction } from 'kysely';
import type { AuditAction } from '../../db/audit/actions.js';
import type { TargetType } from '../../db/audit/targets.js';
import type { Doer } from '../../db/audit/audit-entry.js';
import type { RecordedChange } from '../../db/audit/record-change.js';
import type { Db } from '../../db/core/client.js';
import type { AuditVia, Tables } from '../../db/core/tables.js';

/** `P`: the parameters of the path. */
export interface AuditRule<P = unknown> {
  /** The recorded action, also of a request that is refused. */
  action: AuditAction;
  target: TargetType;
  /** The recorded action of a refused sign-in, in place of `action`. */
  refused?: AuditAction;
  /** The parameter that names the target; its fields before and after the request are compared. */
  id?: keyof P & string;
  /** The request makes the target, and this field of the answer names it. It stands in place of `id`. */
  makes?: 'id' | 'user_id' | 'file_id';
  /** The parameter that names the workflow of the target, where its id alone does not name the target. */
  within?: keyof P & string;
  /**
   * Only refusals are recorded, of what the contract leaves out: starts of runs, calls, bookmarks, and what changes nothing that
   * stays. A test holds every route against that list.
   */
  records?: 'refusals';
  /**
   * The handler runs in one transaction with the record by default, and must neither wait for anything but the database
   * nor commit. With `handler` it calls `audit.change` for the part that changes something.
   */
  commits?: 'handler';
  /** The recorded `via` of a route without credentials. */
  via?: AuditVia;
  /** Fields of the body that are told whenever they are sent. */
  tells?: readonly string[];
}

/** True of the rule of a route whose handler runs in one transaction with the record. */
export type RunsInTransaction<Rule> = Rule extends undefined | { records: 'refusals' } | { commits: 'handler' }
  ? false
  : true;

export interface AuditTrail {
  /** The sender of the request. */
  doer: Doer;
  /** Names the user whose account a sign-in is for, whether or not it is refused. */
  concerns: (userId: number) => void;
  /** Records the refusal of a handler that answers it by itself. */
  refuse: (error: unknown) => Promise<void>;
  /**
   * Runs a change and stores its record in one transaction, as the rule of the route says. `keyOf` gives the object that was
   * made, or that the event is about; undefined when nothing has happened. `within`: a transaction that is open already.
   */
  change<T>(
    work: (transaction: Transaction<Tables>) => Promise<T>,
    about?: Pick<RecordedChange<T>, 'keyOf' | 'userOf'> & { within?: Db },
  ): Promise<T>;
}
