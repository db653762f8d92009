// Reads approval requests for the API.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import type { NodeKey } from '../../graph/plan.js';
import type { ApprovalStatus, Role, RunPurpose } from '../core/tables.js';
import { personOf, type Person } from '../users/person.js';
import { isInReach, isVisibleTo, type Reach } from '../access/reach.js';
import { decisionsOf, type Decision } from './decisions-text.js';

export interface ApprovalRequest {
  request_id: string;
  run_id: string;
  path: string;
  node_id: string;
  node_label: string;
  workflow_id: number;
  project_id: number;
  workflow: { id: number; title: string };
  project: { id: number; name: string };
  requested_by: Person;
  server_label: string;
  tool_name: string;
  arguments: unknown;
  /** The hash of the arguments that would be sent. */
  arguments_hash: string;
  /** The arguments with which a person has replaced the model's; null if nobody has, or once they have expired. */
  edited_arguments: unknown;
  required: number;
  exclude_starter: boolean;
  roles: Role[] | null;
  decisions: Decision[];
  status: ApprovalStatus;
  reason: string;
  /** The person whose decision has settled the request; null if none has. */
  decided_by: Person | null;
  decided_at: Date | null;
  created_at: Date;
  expires_at: Date;
  purpose: RunPurpose;
}

/** `decided`: approved or rejected. */
export type ApprovalFilter = ApprovalStatus | 'decided';

/** A request counts as expired as soon as its time is over, even before its run has noticed. */
const shownStatus = sql<ApprovalStatus>`CASE WHEN request.status = 'pending' AND request.expires_at <= now()
  THEN 'expired' ELSE request.status END`;

/** The conditions read only columns of the indexes `approval_requests_newest` and `approval_requests_pending`. */
const FILTERS: Record<ApprovalFilter, RawBuilder<unknown>> = {
  pending: sql`request.status = 'pending' AND request.expires_at > now()`,
  approved: sql`request.status = 'approved'`,
  rejected: sql`request.status = 'rejected'`,
  expired: sql`(request.status = 'expired' OR (request.status = 'pending' AND request.expires_at <= now()))`,
  decided: sql`request.status IN ('approved', 'rejected')`,
};

/** `which`: the condition, and the order if it matters. */
async function readRequests(db: Db, which: RawBuilder<unknown>): Promise<ApprovalRequest[]> {
  const { rows } = await sql<ApprovalRequest>`
    SELECT request.request_id, request.run_id, request.path, request.node_id, request.node_label,
      run.workflow_id, run.project_id,
      json_build_object('id', workflow.id, 'title', workflow.title) AS workflow,
      json_build_object('id', project.id, 'name', project.name) AS project,
      ${personOf('starter')} AS requested_by,
      request.server_label, request.tool_name, request.arguments, request.arguments_hash, request.edited_arguments,
      request.required, request.exclude_starter, request.roles, ${decisionsOf(sql`request.request_id`)} AS decisions,
      ${shownStatus} AS status, request.reason,
      CASE WHEN decider.id IS NOT NULL THEN ${personOf('decider')} END AS decided_by,
      request.decided_at, request.created_at, request.expires_at, run.purpose
    FROM approval_requests request
    JOIN runs run ON run.id = request.run_id
    JOIN workflows workflow ON workflow.id = run.workflow_id
    JOIN projects project ON project.id = run.project_id
    JOIN users starter ON starter.id = run.user_id
    LEFT JOIN users decider ON decider.id = request.decided_by
    WHERE ${which}`.execute(db);
  return rows;
}

function projectsOf(reach: Reach): RawBuilder<unknown> {
  return sql`SELECT project.id FROM project_members member JOIN projects project ON project.id = member.project_id
    WHERE member.user_id = ${reach.userId} AND ${isInReach('project.id', reach)} AND project.deleted_at IS NULL`;
}

export async function findRequest(db: Db, runId: string, requestId: string): Promise<ApprovalRequest | undefined> {
  const found = await readRequests(db, sql`request.request_id = ${requestId} AND request.run_id = ${runId}`);
  return found[0];
}

/** The facts that a change of a request's arguments depends on. */
export interface CurrentArguments extends NodeKey {
  status: ApprovalStatus;
  serverLabel: string;
  toolName: string;
  /** The hash of the arguments that would be sent now. */
  hash: string;
  requestId: string;
  /** The model's arguments, as sealed JSON text. Once they have expired, null, like `turn` and `ordinal`. */
  argumentsEnc: Buffer | null;
  turn: number | null;
  ordinal: number | null;
  editedEnc: Buffer | null;
  excludeStarter: boolean;
  roles: Role[] | null;
  onlyUser: number | null;
  starterId: number;
  /** True if `userId` has approved these arguments. */
  hasApproved: boolean;
}

export async function findCurrentArguments(
  db: Db,
  { runId, requestId, userId }: { runId: string; requestId: string; userId: number },
): Promise<CurrentArguments | undefined> {
  const { rows } = await sql<CurrentArguments>`
    SELECT request.run_id AS "runId", request.path, request.node_id AS "nodeId", ${shownStatus} AS status,
      request.server_label AS "serverLabel", request.tool_name AS "toolName", request.arguments_hash AS hash,
      request.request_id AS "requestId", request.edited_enc AS "editedEnc", call.arguments_enc AS "argumentsEnc",
      call.turn, call.ordinal, request.exclude_starter AS "excludeStarter",
      request.roles, request.only_user AS "onlyUser", run.user_id AS "starterId", EXISTS (
        SELECT FROM approval_decisions made
        WHERE made.request_id = request.request_id AND made.user_id = ${userId} AND made.decision = 'approved'
          AND made.arguments_hash = request.arguments_hash
      ) AS "hasApproved"
    FROM approval_requests request JOIN runs run ON run.id = request.run_id
    LEFT JOIN agent_tool_calls call ON call.request_id = request.request_id
    WHERE request.request_id = ${requestId} AND request.run_id = ${runId}`.execute(db);
  return rows[0];
}

/** Returns undefined if the request's project is not in reach, or its run is not visible to the user. */
export async function findRequestInReach(
  db: Db,
  requestId: string,
  reach: Reach,
): Promise<ApprovalRequest | undefined> {
  const isVisible = sql`request.project_id IN (${projectsOf(reach)}) AND ${isVisibleTo('run', reach.userId)}`;
  const found = await readRequests(db, sql`request.request_id = ${requestId} AND ${isVisible}`);
  return found[0];
}

export function listRequestsOfRun(db: Db, runId: string): Promise<ApprovalRequest[]> {
  return readRequests(
    db,
    sql`request.run_id = ${runId} ORDER BY request.created_at, request.node_id, request.turn, request.ordinal`,
  );
}

interface RequestsInReach {
  reach: Reach;
  status: ApprovalFilter | undefined;
  limit: number;
  offset: number;
}

/**
 * Lists the requests of all projects in reach, newest first, except those that only another user may decide. The total
 * and the ids of the page are read from an index; only the requests of the page are read from the table.
 */
export async function listRequestsInReach(
  db: Db,
  { reach, status, limit, offset }: RequestsInReach,
): Promise<{ total: number; requests: ApprovalRequest[] }> {
  const mine = sql`coalesce(request.only_user = ${reach.userId}, true)`;
  const wanted = status === undefined ? mine : sql`${FILTERS[status]} AND ${mine}`;
  const counted = await sql<{ total: number }>`
    SELECT coalesce(sum(counted.requests), 0)::bigint AS total FROM (${projectsOf(reach)}) AS mine CROSS JOIN LATERAL (
      SELECT count(*) AS requests FROM approval_requests request WHERE request.project_id = mine.id AND ${wanted}
    ) AS counted`.execute(db);
  const total = counted.rows[0]?.total ?? 0;
  if (offset >= total) return { total, requests: [] };
  const { rows } = await sql<{ request_id: string }>`
    SELECT newest.request_id FROM (${projectsOf(reach)}) AS mine CROSS JOIN LATERAL (
      SELECT request.request_id, request.created_at FROM approval_requests request
      WHERE request.project_id = mine.id AND ${wanted}
      ORDER BY request.created_at DESC, request.request_id DESC LIMIT ${limit + offset}::bigint
    ) AS newest
    ORDER BY newest.created_at DESC, newest.request_id DESC LIMIT ${limit}::bigint OFFSET ${offset}::bigint`.execute(
    db,
  );
  const ids = rows.map((row) => row.request_id);
  const found = await readRequests(db, sql`request.request_id = ANY(${ids}::text[])`);
  const byId = new Map(found.map((request) => [request.request_id, request]));
  return { total, requests: ids.flatMap((id) => byId.get(id) ?? []) };
}
