// The read behind `workflow_result`. Clients poll it thousands of times while runs are being written.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import type { Reach } from '../access/reach.js';
import { resultBytes } from '../nodes/result-bytes.js';
import { decisionsOf } from '../agents/decisions-text.js';
import { isExpired } from '../retention/retention-repository.js';
import { markDeletedFiles, markResults } from '../files/deleted-marks.js';
import { createStatement } from '../core/statement.js';
import type { Role, StoredRunStatus } from '../core/tables.js';
import { isoText } from '../core/iso-text.js';
import { iterationCounts } from './iteration-counts.js';
import {
  toPolledNode,
  type NodeColumns,
  type OpenRequest,
  type PolledNode,
  type PolledRun,
  type PolledState,
} from './polled-run.js';
import { outputOfRun } from '../nodes/run-output.js';
import { stateTagOfRow, toStateTag, versionColumns, versionJoin, type VersionRow } from '../watches/run-version.js';
import { storedWait } from './stored-wait.js';

export type { PolledNode, PolledRun } from './polled-run.js';

export interface Poll extends Reach {
  runId: string;
  /** State tags that the reader already has. If the run is in one of these states, hardly anything is read. */
  known?: readonly string[];
}

/**
 * Results are read with the run up to this total, in the order of the nodes. The rest is read while the response is
 * sent. The kernel buffers this much of a response, so a caller that reads slowly holds no memory here.
 */
export const TOGETHER_BYTES = 64 * 1024;

/** A batch of polls: position i of each list belongs to poll i. */
interface Asked {
  runIds: string[];
  userIds: number[];
  /** Null if the reader may see all projects of the user. */
  projectIds: (number | null)[];
  /** The state tags that the reader has, separated by spaces. */
  known: string[];
  retentionDays: number;
}

interface StateRow extends VersionRow {
  /** The position of the poll in the lists, from 1. */
  poll: number;
  run_id: string;
  run_status: StoredRunStatus;
  is_started: boolean;
  quiet_ms: number;
  is_expired: boolean;
  node_errors: string | null;
  is_visible: boolean;
  role: Role | null;
}

interface NodeRow extends StateRow, NodeColumns {
  is_unchanged: boolean;
  has_output: boolean;
  /** Set in the first row of a run. */
  output_text: string | null;
  /** Null, with the columns of the node, if the run has no nodes yet. */
  node_id: string | null;
  approvals: OpenRequest[] | null;
}

const ASKED = ['runIds', 'userIds', 'projectIds', 'known', 'retentionDays'] as const;

type AskedValues = { readonly [Name in keyof Asked]: RawBuilder<Asked[Name]> };

/**
 * Returns the state of each poll's run; undefined if no run has the id. A single statement, so everything comes
 * from one snapshot: a terminal status comes with everything that was committed before it. Results that are read
 * later were complete by then and never change. The nodes of a run are not read if the caller may not see it or
 * its results have expired.
 */
export async function readRunsForPolls(
  db: Db,
  polls: readonly Poll[],
  retentionDays: number,
): Promise<(PolledRun | undefined)[]> {
  const found = polls.map((): NodeRow[] => []);
  const read = await selectRuns(db, toAsked(polls, retentionDays));
  for (const row of await markDeleted(db, read)) found[row.poll - 1]!.push(row);
  return found.map((rows) => {
    const [row] = rows;
    if (row === undefined) return undefined;
    const output = row.has_output ? { text: row.output_text } : undefined;
    return { ...toState(row), isUnchanged: row.is_unchanged, output, nodes: rows.flatMap(toNode) };
  });
}

async function markDeleted(db: Db, rows: readonly NodeRow[]): Promise<NodeRow[]> {
  const runIds = rows.map(({ run_id: id }) => id);
  const marked = await markResults(db, runIds, rows);
  const outputs = await markDeletedFiles(
    db,
    runIds,
    rows.map(({ output_text: text }) => text),
  );
  return marked.map((row, at) => ({ ...row, output_text: outputs[at]! }));
}

export async function readRunForPoll(db: Db, poll: Poll, retentionDays: number): Promise<PolledRun | undefined> {
  const [run] = await readRunsForPolls(db, [poll], retentionDays);
  return run;
}

/** Returns the state of a run without its nodes; undefined if no run has the id. */
export async function readRunHead(db: Db, poll: Poll, retentionDays: number): Promise<PolledState | undefined> {
  const [row] = await selectHead(db, toAsked([poll], retentionDays));
  return row && toState(row);
}

const selectHead = createStatement<Asked, StateRow>(ASKED, (asked) => sql`${selectState(asked)}`);

const selectRuns = createStatement<Asked, NodeRow>(
  ASKED,
  (asked) => sql`
    WITH run AS MATERIALIZED (
      SELECT *, run_id AS id, is_visible AND NOT is_expired AND ${stateTagOfRow} = ANY (string_to_array(known, ' ')) AS is_unchanged
      FROM (${selectState(asked)}) AS state
    )
    SELECT run.*, node.node_id, node.status AS "nodeStatus", node.error_code AS "errorCode",
      node.error_message AS "errorMessage", node.is_handled AS "isHandled", node.is_reused AS "isReused", node.source, node.is_stale AS "isStale",
      ${isoText(sql`node.started_at`)} AS "startedAt", ${isoText(sql`node.finished_at`)} AS "finishedAt",
      ${unlessUnchanged(sql`node.result IS NOT NULL AND until_here > ${TOGETHER_BYTES}`, sql`node.result_bytes`)} AS "apartBytes",
      ${unlessUnchanged(sql`until_here <= ${TOGETHER_BYTES}`, sql`node.result::text`)} AS result,
      ${unlessUnchanged(sql`true`, ofApprovals(openRequests))} AS approvals,
      ${unlessUnchanged(sql`true`, storedWait)} AS waiting,
      ${unlessUnchanged(sql`true`, iterationCounts)} AS iterations,
      output.of_node IS NOT NULL AS has_output,
      CASE WHEN row_number() OVER (PARTITION BY run.poll ORDER BY node.started_at, node.node_id) = 1 THEN output.text END AS output_text
    FROM run LEFT JOIN LATERAL (
      SELECT *, sum(${resultBytes}) OVER (ORDER BY started_at, node_id) AS until_here FROM node_results
      WHERE run_id = run.id AND path = '' AND run.is_visible AND NOT run.is_expired
    ) AS node ON true LEFT JOIN LATERAL (
      SELECT of_node, text FROM ${outputOfRun(TOGETHER_BYTES)} AS value
      WHERE run.is_visible AND NOT run.is_expired AND NOT run.is_unchanged
    ) AS output ON true
    ORDER BY run.poll, node.started_at, node.node_id`,
);

function unlessUnchanged(condition: RawBuilder<unknown>, value: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`CASE WHEN NOT run.is_unchanged AND ${condition} THEN ${value} END`;
}

/**
 * The lists are in subqueries, which hide their lengths from the planner, so that one generic plan serves all calls.
 */
function selectState({ runIds, userIds, projectIds, known, retentionDays }: AskedValues): RawBuilder<unknown> {
  return sql`
    SELECT asked.poll, asked.known, run.id AS run_id, run.status AS run_status, run.run_started_at IS NOT NULL AS is_started,
      (extract(epoch FROM now() - greatest(reached.changed_at, run.created_at)) * 1000)::float8 AS quiet_ms,
      ${isExpired(retentionDays)} AS is_expired, run.node_errors::text AS node_errors,
      member.user_id IS NOT NULL AS is_visible, member.role, ${versionColumns}
    FROM unnest((SELECT ${runIds}::uuid[]), (SELECT ${userIds}::integer[]), (SELECT ${projectIds}::integer[]), (SELECT ${known}::text[]))
      WITH ORDINALITY AS asked (run_id, user_id, project_id, known, poll)
    JOIN runs AS run ON run.id = asked.run_id
    LEFT JOIN projects AS project ON project.id = run.project_id AND project.deleted_at IS NULL
      AND project.id = coalesce(asked.project_id, project.id)
    LEFT JOIN project_members AS member ON member.project_id = project.id AND member.user_id = asked.user_id
    ${versionJoin}`;
}

/** `what` is an expression over the open requests of a waiting agent. */
export function ofApprovals(what: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`CASE WHEN node.status = 'in progress' THEN (
    SELECT ${what} FROM approval_requests approval
    WHERE approval.run_id = run.id AND approval.path = node.path AND approval.node_id = node.node_id AND approval.status = 'pending'
  ) END`;
}

export const openRequests = sql`json_agg(json_build_object('request_id', request_id, 'server_label', server_label,
  'tool_name', tool_name, 'arguments', arguments, 'arguments_hash', arguments_hash, 'edited_arguments', edited_arguments,
  'required', required, 'decisions', ${decisionsOf(sql`approval.request_id`)},
  'status', CASE WHEN expires_at <= now() THEN 'expired' ELSE approval.status END,
  'created_at', ${isoText(sql`created_at`)}, 'expires_at', ${isoText(sql`expires_at`)}) ORDER BY ordinal)`;

function toAsked(polls: readonly Poll[], retentionDays: number): Asked {
  return {
    runIds: polls.map(({ runId }) => runId),
    userIds: polls.map(({ userId }) => userId),
    projectIds: polls.map(({ projectId }) => projectId ?? null),
    known: polls.map(({ known = [] }) => known.join(' ')),
    retentionDays,
  };
}

function toState(row: StateRow): PolledState {
  return {
    runId: row.run_id,
    status: row.run_status,
    isStarted: row.is_started,
    quietMs: row.quiet_ms,
    isExpired: row.is_expired,
    isVisible: row.is_visible,
    role: row.role,
    version: row.version,
    stateTag: toStateTag(row.version, row.run_status, row.overdue),
    nodeErrors: row.node_errors,
  };
}

function toNode(row: NodeRow): PolledNode[] {
  if (row.node_id === null) return [];
  return [{ ...toPolledNode(row.node_id, row), approvals: row.approvals }];
}
