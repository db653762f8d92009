// Approval requests. Postgres is the arbiter: a request leaves `pending` once, by a guarded update; the signal to the run
// workflow only wakes it.
import { sql, type SqlBool } from 'kysely';
import type { Db } from '../core/client.js';
import type { TurnKey } from './agent-repository.js';
import type { ApprovalStatus } from '../core/tables.js';
import { tellWatchers } from '../runs/tell-watchers.js';

export interface ApprovalRequest {
  request_id: string;
  run_id: string;
  workflow_id: number;
  project_id: number;
  path: string;
  node_id: string;
  server_label: string;
  tool_name: string;
  arguments: unknown;
  status: ApprovalStatus;
  reason: string;
  decided_by: number | null;
  decided_at: Date | null;
  created_at: Date;
  expires_at: Date;
}

/** What nobody has answered in time counts as expired, also before its run has noticed. */
const shownStatus = sql<ApprovalStatus>`CASE WHEN request.status = 'pending' AND request.expires_at <= now()
  THEN 'expired' ELSE request.status END`;

function selectRequests(db: Db) {
  return db
    .selectFrom('approval_requests as request')
    .innerJoin('runs as run', 'run.id', 'request.run_id')
    .select([
      'request.request_id',
      'request.run_id',
      'run.workflow_id',
      'run.project_id',
      'request.path',
      'request.node_id',
      'request.server_label',
      'request.tool_name',
      'request.arguments',
      shownStatus.as('status'),
      'request.reason',
      'request.decided_by',
      'request.decided_at',
      'request.created_at',
      'request.expires_at',
    ]);
}

export async function findRequest(db: Db, runId: string, requestId: string): Promise<ApprovalRequest | undefined> {
  return selectRequests(db)
    .where('request.run_id', '=', runId)
    .where('request.request_id', '=', requestId)
    .executeTakeFirst();
}

export async function listRequestsOfRun(db: Db, runId: string): Promise<ApprovalRequest[]> {
  return selectRequests(db)
    .where('request.run_id', '=', runId)
    .orderBy('request.created_at')
    .orderBy('request.turn')
    .orderBy('request.ordinal')
    .execute();
}

interface RequestsOfUser {
  userId: number;
  status: ApprovalStatus | undefined;
  limit: number;
  offset: number;
}

/** Over all projects that the user belongs to, newest first. */
export async function listRequestsOfUser(
  db: Db,
  { userId, status, limit, offset }: RequestsOfUser,
): Promise<{ total: number; requests: ApprovalRequest[] }> {
  const visible = selectRequests(db)
    .innerJoin('project_members as member', 'member.project_id', 'run.project_id')
    .innerJoin('projects as project', 'project.id', 'run.project_id')
    .where('member.user_id', '=', userId)
    .where('project.deleted_at', 'is', null)
    .$if(status !== undefined, (query) => query.where(sql<SqlBool>`${shownStatus} = ${status}`));
  const { total } = await visible
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const requests = await visible
    .orderBy('request.created_at', 'desc')
    .orderBy('request.request_id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { total, requests };
}

export interface NewDecision {
  runId: string;
  requestId: string;
  decision: 'approved' | 'rejected';
  reason: string;
  userId: number;
}

/** True for exactly one of all who try: the request was pending, in time, and its run is open. */
export async function decideRequest(
  db: Db,
  { runId, requestId, decision, reason, userId }: NewDecision,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE approval_requests request
    SET status = ${decision}, reason = ${reason}, decided_by = ${userId}, decided_at = now()
    FROM runs run
    WHERE request.request_id = ${requestId} AND request.run_id = ${runId} AND request.status = 'pending'
      AND request.expires_at > now() AND run.id = request.run_id AND run.status = 'In Progress'
    RETURNING ${tellWatchers(runId)}`.execute(db);
  return numAffectedRows === 1n;
}

/** By the worker, when the run has waited long enough: what is still pending is decided as expired. */
export async function expireRequests(db: Db, { runId, path, nodeId, turn }: TurnKey): Promise<void> {
  await sql`
    UPDATE approval_requests SET status = 'expired', decided_at = now()
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND turn = ${turn} AND status = 'pending'
    RETURNING ${tellWatchers(runId)}`.execute(db);
}

export async function markSignalled(db: Db, requestId: string): Promise<void> {
  await sql`UPDATE approval_requests SET signalled_at = now() WHERE request_id = ${requestId}`.execute(db);
}

export interface UndeliveredDecision {
  requestId: string;
  runId: string;
  isApproved: boolean;
}

/** Decisions of open runs whose signal is not known to have arrived. */
export async function findUndelivered(db: Db, olderThanSeconds: number, limit: number): Promise<UndeliveredDecision[]> {
  const { rows } = await sql<UndeliveredDecision>`
    SELECT request_id AS "requestId", run_id AS "runId", status = 'approved' AS "isApproved"
    FROM approval_requests
    WHERE signalled_at IS NULL AND decided_by IS NOT NULL AND decided_at < now() - make_interval(secs => ${olderThanSeconds})
    ORDER BY decided_at LIMIT ${limit}`.execute(db);
  return rows;
}

/**
 * After Temporal was restored to an earlier moment than this database: its runs may wait for decisions whose signals
 * arrived after that moment. A run that has had one takes no second; a run lives for 30 days at most.
 */
export async function forgetSignals(db: Db): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE approval_requests SET signalled_at = NULL
    WHERE decided_by IS NOT NULL AND decided_at > now() - interval '31 days'`.execute(db);
  return Number(numAffectedRows ?? 0);
}
