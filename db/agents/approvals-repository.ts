// Approval requests. Postgres is the arbiter: a request leaves `pending` once, by a guarded update; the signal to the run
// workflow only wakes it.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { tellWatchers } from '../runs/tell-watchers.js';
import type { TurnKey } from './agent-repository.js';

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
