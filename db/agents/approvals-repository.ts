// Decisions on approval requests. PostgreSQL decides which of them count: decisions are counted one after the other,
// under the lock of the request's row, and a request leaves `pending` once. The signal to the run workflow only wakes
// it.
import { sql, type Transaction } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { ApprovalStatus, Role, Tables } from '../core/tables.js';
import { notifyWatchers } from '../watches/notify-watchers.js';
import { nextSignal } from '../waits/wakes-repository.js';
import type { TurnKey } from './agent-repository.js';

export interface NewDecision {
  runId: string;
  requestId: string;
  decision: 'approved' | 'rejected';
  reason: string;
  userId: number;
  role: Role;
  /** The hash of the arguments that the person has seen; undefined stands for the request's current ones. */
  argumentsHash?: string | undefined;
  edit?: ArgumentsEdit | undefined;
}

export interface ArgumentsEdit {
  /** JSON text, secrets masked. */
  shown: string;
  /** Sealed JSON text of the arguments that are sent. */
  sealed: Buffer;
  hash: string;
}

/**
 * `settled`: this decision has settled the request. `counted`: more people must approve. `repeated`: the person has
 * already approved the same, or the request is already in the wanted state. `stale`: `argumentsHash` is not that of
 * the current arguments. `full`: the limit of counted decisions is reached. `late`: the request was settled otherwise,
 * has expired, or its run has ended.
 */
export type Outcome = 'settled' | 'counted' | 'repeated' | 'stale' | 'full' | 'late' | 'forbidden' | 'unknown';

/** The limit for decisions that do not settle a request, in case people change the arguments again and again. */
const MAX_COUNTED = 50;

/** Idempotent. If the process dies before the commit, nothing is decided. */
export async function decideRequest(db: Db, made: NewDecision): Promise<Outcome> {
  return inTransaction(db, async (trx) => {
    const request = await lockRequest(trx, made);
    if (request === undefined) return 'unknown';
    if (!mayDecide(request, made)) return 'forbidden';
    const isStale = made.argumentsHash !== undefined && made.argumentsHash !== request.argumentsHash;
    if (!request.isOpen) {
      return request.status === made.decision && made.edit === undefined && !isStale ? 'repeated' : 'late';
    }
    if (isStale) return 'stale';
    const hash = made.edit?.hash ?? request.argumentsHash;
    const isApproval = made.decision === 'approved';
    if (isApproval && request.counted >= MAX_COUNTED) return 'full';
    const decidedAt = await insertDecision(trx, made, hash);
    if (decidedAt === undefined && made.edit === undefined) return 'repeated';
    const isSettled = !isApproval || (await countApprovals(trx, made, hash)) >= request.required;
    const { edit, decision, reason, userId } = made;
    await trx
      .updateTable('approval_requests')
      .set({
        ...(edit && { edited_arguments: edit.shown, edited_enc: edit.sealed, arguments_hash: edit.hash }),
        ...(isSettled
          ? { status: decision, reason, decided_by: userId, decided_at: decidedAt ?? sql<Date>`clock_timestamp()` }
          : { counted: sql<number>`counted + 1` }),
      })
      .where('request_id', '=', made.requestId)
      .returning(notifyWatchers(made.runId).as('notified'))
      .execute();
    return isSettled ? 'settled' : 'counted';
  });
}

interface LockedRequest {
  status: ApprovalStatus;
  /** True if the request is pending and has not expired, and its run is open. */
  isOpen: boolean;
  argumentsHash: string;
  required: number;
  counted: number;
  excludeStarter: boolean;
  roles: Role[] | null;
  onlyUser: number | null;
  starterId: number;
}

/** Waits for a concurrent end of the run, which changes the request's row too, so the run's row need not be locked. */
async function lockRequest(
  trx: Transaction<Tables>,
  { runId, requestId }: NewDecision,
): Promise<LockedRequest | undefined> {
  const { rows } = await sql<LockedRequest>`
    SELECT request.status, request.arguments_hash AS "argumentsHash", request.required, request.counted, request.roles,
      request.exclude_starter AS "excludeStarter", request.only_user AS "onlyUser", run.user_id AS "starterId",
      request.status = 'pending' AND request.expires_at > clock_timestamp() AND run.status = 'In Progress' AS "isOpen"
    FROM approval_requests request JOIN runs run ON run.id = request.run_id
    WHERE request.request_id = ${requestId} AND request.run_id = ${runId} FOR NO KEY UPDATE OF request`.execute(trx);
  return rows[0];
}

export function mayDecide(
  request: Pick<LockedRequest, 'roles' | 'onlyUser' | 'excludeStarter' | 'starterId'>,
  { userId, role }: Pick<NewDecision, 'userId' | 'role'>,
): boolean {
  if (request.onlyUser !== null && request.onlyUser !== userId) return false;
  if (request.excludeStarter && request.starterId === userId) return false;
  return request.roles === null || request.roles.includes(role);
}

/** Returns undefined if the person has already made this decision on these arguments. */
async function insertDecision(trx: Transaction<Tables>, made: NewDecision, hash: string): Promise<Date | undefined> {
  const { requestId, userId, decision, reason } = made;
  const row = await trx
    .insertInto('approval_decisions')
    .values({ request_id: requestId, user_id: userId, decision, reason, arguments_hash: hash })
    .onConflict((conflict) => conflict.doNothing())
    .returning('decided_at')
    .executeTakeFirst();
  return row?.decided_at;
}

/** Counts the approvals of these arguments only. */
async function countApprovals(trx: Transaction<Tables>, { requestId }: NewDecision, hash: string): Promise<number> {
  const { approvals } = await trx
    .selectFrom('approval_decisions')
    .select((eb) => eb.fn.countAll<number>().as('approvals'))
    .where('request_id', '=', requestId)
    .where('decision', '=', 'approved')
    .where('arguments_hash', '=', hash)
    .executeTakeFirstOrThrow();
  return approvals;
}

/** Expires the pending requests of a turn when the run has waited long enough. */
export async function expireRequests(db: Db, { runId, path, nodeId, turn }: TurnKey): Promise<void> {
  await sql`
    UPDATE approval_requests SET status = 'expired', decided_at = now()
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND turn = ${turn} AND status = 'pending'
    RETURNING ${notifyWatchers(runId)}`.execute(db);
}

export async function markSignalled(db: Db, requestId: string): Promise<void> {
  await db
    .updateTable('approval_requests')
    .set({ signalled_at: sql`now()` })
    .where('request_id', '=', requestId)
    .execute();
}

export interface UndeliveredDecision {
  requestId: string;
  runId: string;
  isApproved: boolean;
}

/** Claims decisions whose signal is not confirmed, like `claimUndeliveredWakes`. */
export async function claimUndelivered(
  db: Db,
  olderThanSeconds: number,
  limit: number,
): Promise<UndeliveredDecision[]> {
  const { rows } = await sql<UndeliveredDecision>`
    UPDATE approval_requests AS request
    SET signal_attempts = request.signal_attempts + 1, next_signal_at = ${nextSignal(sql`due.signal_attempts`)}
    FROM (
      SELECT request_id, signal_attempts FROM approval_requests
      WHERE signalled_at IS NULL AND decided_by IS NOT NULL
        AND decided_at < now() - make_interval(secs => ${olderThanSeconds})
        AND (next_signal_at IS NULL OR next_signal_at <= now())
      ORDER BY signal_attempts, decided_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ) AS due
    WHERE request.request_id = due.request_id
    RETURNING request.request_id AS "requestId", request.run_id AS "runId", request.status = 'approved' AS "isApproved"`.execute(
    db,
  );
  return rows;
}

/**
 * Schedules recent signals again after Temporal was restored to an earlier moment than this database: its runs may
 * wait for decisions whose signals arrived after that moment. A run ignores a second signal.
 */
export async function forgetSignals(db: Db, runTimeoutDays: number): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('approval_requests')
    .set({ signalled_at: null, next_signal_at: null, signal_attempts: 0 })
    .where('decided_by', 'is not', null)
    .where('decided_at', '>', sql<Date>`now() - make_interval(days => ${runTimeoutDays + 1})`)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
