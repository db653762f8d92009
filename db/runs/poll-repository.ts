// The read behind `workflow_result`. Clients poll it thousands of times while runs are being written.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { isVisibleTo, type Reach } from '../access/reach.js';
import { resultBytes } from '../nodes/result-bytes.js';
import { decisionsOf } from '../agents/decisions-text.js';
import { isExpired } from '../retention/retention-repository.js';
import { markDeletedFiles, markResults } from '../files/deleted-marks.js';
import { createStatement } from '../core/statement.js';
import type { Role } from '../core/tables.js';
import { isoText } from '../core/iso-text.js';
import { iterationCounts } from './iteration-counts.js';
import {
  toPolledNode,
  type NodeColumns,
  type PolledApproval,
  type PolledNode,
  type PolledRun,
  type PolledState,
} from './polled-run.js';
import { outputOfRun } from '../nodes/run-output.js';
import {
  changesJoin,
  changesUnlessPlain,
  countedOfRun,
  toVersion,
  versionColumns,
  type VersionRow,
} from '../watches/run-version.js';
import { storedWait } from './stored-wait.js';

export type { PolledNode, PolledRun } from './polled-run.js';

export interface Poll extends Reach {
  runId: string;
}

/**
 * The results of nodes are read with the run up to this total, in the order of their starts, and so is the run's output
 * up to this size. The rest is read while the response is sent. The kernel buffers this much of a response, so a caller
 * that reads slowly holds no memory here.
 */
export const TOGETHER_BYTES = 64 * 1024;

/** A batch of polls: position i of each list belongs to poll i. */
interface Asked {
  runIds: string[];
  userIds: number[];
  /** Null if the reader may see all projects of the user. */
  projectIds: (number | null)[];
  retentionDays: number;
}

interface HeadRow extends VersionRow {
  /** The position of the poll in the lists, from 1. */
  poll: number;
  run_id: string;
  quiet_ms: number;
  is_expired: boolean;
  node_errors: string | null;
  is_visible: boolean;
  role: Role | null;
}

/** A node with its run. `changes` is null for a plain run (`runs.is_plain`): its nodes' starts and ends are counted. */
interface NodeRow extends Omit<HeadRow, 'changes'>, Omit<NodeColumns, 'waiting' | 'iterations'> {
  changes: number | null;
  /** Null, with the columns of the node, if the run has no nodes yet or its nodes are not read. */
  node_id: string | null;
  /** The position of the node in the order of starts, from 1. */
  place: number | null;
  is_loop: boolean | null;
  has_output: boolean;
  /** Set in the first row of a run. */
  output_text: string | null;
}

/** The data of a node that is not in its own row. */
interface MoreRow extends Pick<NodeColumns, 'waiting' | 'iterations'> {
  run_id: string;
  node_id: string;
  approvals: PolledApproval[] | null;
}

const ASKED = ['runIds', 'userIds', 'projectIds', 'retentionDays'] as const;

type AskedValues = { readonly [Name in keyof Asked]: RawBuilder<Asked[Name]> };

/**
 * Returns the state of each poll's run; undefined if no run has the id. Status, version and nodes come from one
 * snapshot, so a terminal status comes with everything that was committed before it. Later statements read open
 * requests, waits and the progress of loops, if the run can have them, and which files are deleted. These data may be
 * newer than the version but never older. Results that are too large (`apartBytes`) are left to the caller, who may
 * read them later, because a stored result does not change. The nodes of a run are not read if the caller may not see
 * the run or its results have expired.
 */
export async function readRunsForPolls(
  db: Db,
  polls: readonly Poll[],
  retentionDays: number,
): Promise<(PolledRun | undefined)[]> {
  const found = polls.map((): NodeRow[] => []);
  const read = await selectRuns(db, toAsked(polls, retentionDays));
  const more = await readMore(db, read);
  for (const row of await markDeleted(db, read)) found[row.poll - 1]!.push(row);
  return found.map((rows) => {
    const [row] = rows;
    if (row === undefined) return undefined;
    const nodes = rows.filter(hasNode).toSorted((a, b) => a.place - b.place);
    const ended = nodes.filter(({ nodeStatus }) => nodeStatus !== 'in progress').length;
    const changes = row.changes ?? nodes.length + ended;
    const quietMs = Math.min(...rows.map(({ quiet_ms: sinceNode }) => sinceNode));
    return {
      ...toState({ ...row, changes, quiet_ms: quietMs }),
      output: row.has_output ? { text: rows.find(({ place }) => (place ?? 1) === 1)!.output_text } : undefined,
      nodes: nodes.map((node) => toNode(node, more.get(`${row.run_id}/${node.node_id}`))),
    };
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

/** Returns the data of nodes that is not in their rows, by run and node. Executes no statement for plain runs. */
async function readMore(db: Db, rows: readonly NodeRow[]): Promise<Map<string, MoreRow>> {
  const withMore = rows.filter(
    ({ changes, nodeStatus, is_loop: isLoop }) => changes !== null && (nodeStatus === 'in progress' || isLoop === true),
  );
  if (withMore.length === 0) return new Map();
  const found = await selectMore(db, { runIds: [...new Set(withMore.map(({ run_id: id }) => id))] });
  return new Map(found.map((row) => [`${row.run_id}/${row.node_id}`, row]));
}

export async function readRunForPoll(db: Db, poll: Poll, retentionDays: number): Promise<PolledRun | undefined> {
  const [run] = await readRunsForPolls(db, [poll], retentionDays);
  return run;
}

/** Returns the state of each poll's run without its nodes; undefined if no run has the id. */
export async function readRunHeads(
  db: Db,
  polls: readonly Poll[],
  retentionDays: number,
): Promise<(PolledState | undefined)[]> {
  const found = polls.map((): PolledState | undefined => undefined);
  for (const row of await selectHeads(db, toAsked(polls, retentionDays))) found[row.poll - 1] = toState(row);
  return found;
}

export async function readRunHead(db: Db, poll: Poll, retentionDays: number): Promise<PolledState | undefined> {
  const [head] = await readRunHeads(db, [poll], retentionDays);
  return head;
}

/** Returns the ids of those nodes that have a row outside loops. */
export async function findStoredNodes(db: Db, runId: string, nodeIds: string[]): Promise<Set<string>> {
  const rows = await selectStored(db, { runId, nodeIds });
  return new Set(rows.map(({ node_id: id }) => id));
}

const selectStored = createStatement<{ runId: string; nodeIds: string[] }, { node_id: string }>(
  ['runId', 'nodeIds'],
  ({ runId, nodeIds }) => sql`
    SELECT node_id FROM node_results WHERE run_id = ${runId} AND path = '' AND node_id = ANY (${nodeIds}::text[])`,
);

const selectHeads = createStatement<Asked, HeadRow>(
  ASKED,
  (asked) => sql`
    SELECT ${headColumns(asked)}, ${versionColumns},
      ${quietSince(sql`coalesce(counted.changed_at, plain.changed_at)`)} AS quiet_ms
    FROM ${askedRuns(asked)} ${changesJoin}`,
);

const selectRuns = createStatement<Asked, NodeRow>(
  ASKED,
  (asked) => sql`
    SELECT run.poll, run.run_id, run.run_status, run.is_started, run.deleted_files, run.changes, run.overdue,
      run.is_expired, run.node_errors, run.is_visible, run.role,
      ${quietSince(sql`greatest(run.changed_at, node.started_at, node.finished_at)`)} AS quiet_ms,
      node.node_id, node.place, node.iterations IS NOT NULL AS is_loop, node.status AS "nodeStatus",
      node.error_code AS "errorCode", node.error_message AS "errorMessage", node.is_handled AS "isHandled",
      node.is_reused AS "isReused", node.source, node.is_stale AS "isStale",
      ${isoText(sql`node.started_at`)} AS "startedAt", ${isoText(sql`node.finished_at`)} AS "finishedAt",
      CASE WHEN node.result IS NOT NULL AND node.until_here > ${TOGETHER_BYTES} THEN node.result_bytes END AS "apartBytes",
      CASE WHEN node.until_here <= ${TOGETHER_BYTES} THEN node.result::text END AS result,
      output.of_node IS NOT NULL AS has_output, CASE WHEN coalesce(node.place, 1) = 1 THEN output.text END AS output_text
    FROM (
      SELECT ${headColumns(asked)}, ${countedOfRun}, counted.changes, coalesce(counted.overdue, 0) AS overdue,
        counted.changed_at, run.created_at, run.id
      FROM ${askedRuns(asked)} LEFT JOIN LATERAL ${changesUnlessPlain} AS counted ON true OFFSET 0
    ) AS run LEFT JOIN LATERAL (
      SELECT of_node, text FROM ${outputOfRun(TOGETHER_BYTES)} AS value WHERE run.is_visible AND NOT run.is_expired
    ) AS output ON true LEFT JOIN LATERAL (
      SELECT *, row_number() OVER by_start AS place, sum(${resultBytes}) OVER by_start AS until_here
      FROM node_results AS stored
      WHERE stored.run_id = run.id AND path = '' AND run.is_visible AND NOT run.is_expired
      WINDOW by_start AS (ORDER BY started_at, node_id)
    ) AS node ON true`,
);

const selectMore = createStatement<{ runIds: string[] }, MoreRow>(
  ['runIds'],
  ({ runIds }) => sql`
    SELECT run.id AS run_id, node.node_id, ${openApprovals} AS approvals, ${storedWait} AS waiting,
      ${iterationCounts} AS iterations
    FROM unnest((SELECT ${runIds}::uuid[])) AS run (id) JOIN node_results AS node ON node.run_id = run.id
      AND node.path = '' AND (node.status = 'in progress' OR node.iterations IS NOT NULL)`,
);

function headColumns({ retentionDays }: AskedValues): RawBuilder<unknown> {
  return sql`asked.poll, run.id AS run_id, ${isExpired(retentionDays)} AS is_expired,
    run.node_errors::text AS node_errors, member.user_id IS NOT NULL AS is_visible, member.role`;
}

/** Returns an expression for the milliseconds since `changedAt`, or since the run was accepted if that is later. */
function quietSince(changedAt: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(extract(epoch FROM now() - greatest(${changedAt}, run.created_at)) * 1000)::float8`;
}

/**
 * Returns a join of the polled runs and the membership of each reader. The lists are in subqueries, which hide their
 * lengths from the planner, so that one generic plan serves all calls.
 */
function askedRuns({ runIds, userIds, projectIds }: AskedValues): RawBuilder<unknown> {
  return sql`
    unnest((SELECT ${runIds}::uuid[]), (SELECT ${userIds}::integer[]), (SELECT ${projectIds}::integer[]))
      WITH ORDINALITY AS asked (run_id, user_id, project_id, poll)
    JOIN runs AS run ON run.id = asked.run_id
    LEFT JOIN projects AS project ON project.id = run.project_id AND project.deleted_at IS NULL
      AND project.id = coalesce(asked.project_id, project.id)
    LEFT JOIN project_members AS member ON member.project_id = project.id AND member.user_id = asked.user_id
      AND ${isVisibleTo('run', sql`asked.user_id`)}`;
}

/** An SQL expression: the open requests of a waiting agent. It refers to `node` and `run` of the statement. */
export const openApprovals = sql`CASE WHEN node.status = 'in progress' THEN (
  SELECT json_agg(json_build_object('request_id', request_id, 'server_label', server_label, 'tool_name', tool_name,
    'arguments', arguments, 'arguments_hash', arguments_hash, 'edited_arguments', edited_arguments, 'required', required,
    'decisions', ${decisionsOf(sql`approval.request_id`)},
    'status', CASE WHEN expires_at <= now() THEN 'expired' ELSE approval.status END,
    'created_at', ${isoText(sql`created_at`)}, 'expires_at', ${isoText(sql`expires_at`)}) ORDER BY ordinal)
  FROM approval_requests approval
  WHERE approval.run_id = run.id AND approval.path = node.path AND approval.node_id = node.node_id AND approval.status = 'pending'
) END`;

function toAsked(polls: readonly Poll[], retentionDays: number): Asked {
  return {
    runIds: polls.map(({ runId }) => runId),
    userIds: polls.map(({ userId }) => userId),
    projectIds: polls.map(({ projectId }) => projectId ?? null),
    retentionDays,
  };
}

function toState(row: HeadRow): PolledState {
  return {
    runId: row.run_id,
    status: row.run_status,
    isStarted: row.is_started,
    quietMs: row.quiet_ms,
    isExpired: row.is_expired,
    isVisible: row.is_visible,
    role: row.role,
    ...toVersion(row),
    nodeErrors: row.node_errors,
  };
}

function hasNode(row: NodeRow): row is NodeRow & { node_id: string; place: number } {
  return row.node_id !== null;
}

function toNode(row: NodeRow & { node_id: string }, more: MoreRow | undefined): PolledNode {
  const isOpen = row.nodeStatus === 'in progress';
  const { approvals = null, waiting = null, iterations = null } = more ?? {};
  return {
    ...toPolledNode(row.node_id, { ...row, waiting: isOpen ? waiting : null, iterations }),
    approvals: isOpen ? approvals : null,
  };
}
