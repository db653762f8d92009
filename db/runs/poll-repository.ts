// The read behind `workflow_result`: what a client polls, thousands of times, while runs are being written.
import { sql, type RawBuilder } from 'kysely';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { hashKey } from '../projects/keys-repository.js';
import { countedKey, type CountedKey } from '../projects/rate-limits-repository.js';
import type { Scope } from '../projects/scope.js';
import { resultBytes } from '../nodes/result-bytes.js';
import { isExpired } from '../retention/retention-repository.js';
import { createStatement, type Value } from '../core/statement.js';
import { AFTER_ID, AFTER_NODE } from './polled-text.js';
import type { NodeStatus, StoredRunStatus } from '../core/tables.js';

interface PolledState {
  runId: string;
  status: StoredRunStatus;
  isStarted: boolean;
  /** The time since one of its nodes began or ended, or since it was accepted. */
  quietMs: number;
  /** Its results are gone, or as good as gone: it ended long ago and nothing pins it. */
  isExpired: boolean;
  isVisible: boolean;
  /** JSON text; only for `Draft`. */
  nodeErrors: string | null;
}

export interface PolledRun extends PolledState {
  nodes: PolledNode[];
}

/** One row, ready to be passed on: most polls of most runs. */
export interface PolledText extends PolledState {
  /**
   * JSON text of the nodes by their ids, each as `toNodeMap` (api/runs/node-map.ts) writes it; null: read them apart. That
   * of an open run is for `splitNodes`.
   */
  nodes: string | null;
}

export interface PolledNode {
  id: string;
  status: NodeStatus;
  /** JSON text, passed on as it is: a result of several megabytes is never parsed here. */
  result: string | null;
  /** The result is too large to be read with all others; `readResultPieces` has it. */
  isApart?: boolean;
  errorCode: string | null;
  errorMessage: string | null;
  /** The requests that a waiting agent has open. */
  approvals?: OpenRequest[] | null;
}

export interface OpenRequest extends Record<string, unknown> {
  /** As JSON writes a Date. */
  expires_at: string;
}

interface StateRow {
  run_id: string;
  run_status: StoredRunStatus;
  is_started: boolean;
  quiet_ms: number;
  is_expired: boolean;
  node_errors: string | null;
  is_visible: boolean;
}

interface TextRow extends StateRow {
  /** Which of the polls it answers; null for a key that was counted without a poll that finds anything. */
  poll: number | null;
  nodes: string | null;
}

interface NodeRow extends StateRow {
  node_id: string | null;
  node_status: NodeStatus | null;
  result: string | null;
  is_apart: boolean;
  error_code: string | null;
  error_message: string | null;
  approvals: OpenRequest[] | null;
}

export interface Poll extends Scope {
  runId: string;
}

/** Results are read with the run up to this many bytes in all, in the order of the nodes; those that follow by themselves. */
export const TOGETHER_BYTES = 512 * 1024;
/**
 * In characters of the database, of which one may be two of ours. The whole result is unpacked for each piece of it, so
 * that small ones cost time and large ones memory.
 */
const PIECE_CHARACTERS = 2 * 1024 * 1024;

/**
 * What a poll finds; undefined where no run has the id. One statement, hence one snapshot: a terminal status is seen
 * together with everything that was committed before it (a result that is read later was complete by then, and never
 * changes). The nodes of a run that the caller may not see, or whose results have expired, are not read.
 */
export async function readRunForPoll(
  db: Db,
  { runId, userId, projectId }: Poll,
  retentionDays: number,
): Promise<PolledRun | undefined> {
  const asked = sql`(
    SELECT ${runId}::uuid AS run_id, ${userId}::integer AS user_id, ${projectId ?? null}::integer AS only_project)`;
  const { rows } = await sql<NodeRow>`/* poll_run */
    SELECT ${stateColumns(retentionDays, sql`node.changed_at`)}, node.node_id, node.status AS node_status, node.error_code, node.error_message,
      node.result IS NOT NULL AND until_here > ${TOGETHER_BYTES} AS is_apart,
      CASE WHEN until_here <= ${TOGETHER_BYTES} THEN node.result::text END AS result, ${ofApprovals(openRequests)} AS approvals
    FROM ${runsOf(asked)} LEFT JOIN LATERAL ${nodesOf(retentionDays)} node ON true
    ORDER BY node.started_at, node.node_id`.execute(db);
  const [row] = rows;
  return row && { ...toState(row), nodes: rows.flatMap((of) => (of.node_id === null ? [] : [toNode(of)])) };
}

/** One request of a key. */
export interface KeyRequest {
  /** The run that it polls. */
  runId?: string;
}

export interface CountedRequests {
  /** As in `countKeyRequests`. */
  key: CountedKey | undefined;
  /** What each request polls for, as in `readRunForPoll`; undefined for those over the limit, too. */
  runs: (PolledText | undefined)[];
}

/** `countKeyRequests`, and what the requests among them that are polls find, in one statement. */
export async function countAndPoll(
  db: Db,
  apiKey: string,
  requests: KeyRequest[],
  { retentionDays, defaultRateLimit }: { retentionDays: number; defaultRateLimit: number },
): Promise<CountedRequests> {
  const polls = requests.flatMap(({ runId }, poll) => (runId === undefined ? [] : [{ poll, run_id: runId }]));
  const rows = await selectPolls(db, {
    keyHash: hashKey(apiKey),
    count: requests.length,
    polls: JSON.stringify(polls),
    retentionDays,
    defaultRateLimit,
  });
  const runs = requests.map((): PolledText | undefined => undefined);
  for (const row of rows) if (row.poll !== null) runs[row.poll] = { ...toState(row), nodes: row.nodes };
  return { key: rows[0], runs };
}

interface SelectPolls {
  keyHash: Buffer;
  /** Of requests, polls or not. */
  count: number;
  /** JSON text. */
  polls: string;
  retentionDays: number;
  defaultRateLimit: number;
}

const selectPolls = createStatement<SelectPolls, CountedKey & TextRow>(
  ['keyHash', 'count', 'polls', 'retentionDays', 'defaultRateLimit'],
  ({ keyHash, count, polls, retentionDays, defaultRateLimit }) => {
    // The number of each request within the window, as `CountedKey` counts them.
    const asked = sql`(
      SELECT given.poll, given.run_id, "userId" AS user_id, "projectId" AS only_project
      FROM counted_key, ${recordsOf(polls, sql`poll integer, run_id uuid`)} AS given
      WHERE "apiAccess" AND requests - (${count}::integer - 1 - given.poll) <= coalesce("rateLimit", ${defaultRateLimit}::integer)
    )`;
    return sql`/* count_and_poll */
      WITH ${countedKey(keyHash, count)}
      SELECT * FROM counted_key LEFT JOIN (
        SELECT asked.poll, ${stateColumns(retentionDays, sql`nodes.changed_at`)}, nodes.nodes
        FROM ${runsOf(asked)} LEFT JOIN LATERAL (
          SELECT CASE WHEN NOT coalesce(bool_or(until_here > ${TOGETHER_BYTES}), false)
            THEN '{' || coalesce(string_agg(${nodeText}, ${betweenNodes} ORDER BY started_at, node_id), '') || '}' END AS nodes,
            max(changed_at) AS changed_at
          FROM ${nodesOf(retentionDays)} node
        ) nodes ON true
      ) AS polled ON true`;
  },
);

/**
 * A table expression of the rows of a JSON text: one parameter, whose number of rows is not seen when it is planned. The
 * condition is always true and lets the planner expect one row. Expecting a hundred, it takes the statement for so
 * costly that planning it anew each time seems to cost nothing beside it, when in truth that is most of its cost.
 */
function recordsOf(rows: RawBuilder<string>, columns: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    SELECT * FROM json_to_recordset(${rows}::json) AS given (${columns})
    WHERE poll BETWEEN 0 AND 1000000
  )`;
}

/**
 * `asked`: a table expression with `run_id`, `user_id` and `only_project`, null where the key has no such restriction. OFFSET 0 keeps the planner from reading all runs for the few that
 * are asked for, whose number it does not know.
 */
function runsOf(asked: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${asked} AS asked
    CROSS JOIN LATERAL (SELECT * FROM runs WHERE id = asked.run_id OFFSET 0) run
    LEFT JOIN projects project ON project.id = run.project_id AND project.deleted_at IS NULL
    LEFT JOIN project_members member ON member.project_id = project.id AND member.user_id = asked.user_id
      AND project.id = coalesce(asked.only_project, project.id)`;
}

/** `changedAt`: an expression for when a node of the run last began or ended. */
function stateColumns(retentionDays: Value<number>, changedAt: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`run.id AS run_id, run.status AS run_status, run.run_started_at IS NOT NULL AS is_started,
    
    (extract(epoch FROM now() - coalesce(${changedAt}, run.created_at)) * 1000)::float8 AS quiet_ms,
    ${isExpired(retentionDays)} AS is_expired, run.node_errors::text AS node_errors, member.user_id IS NOT NULL AS is_visible`;
}

/** With how much a reader has of all results up to each. */
function nodesOf(retentionDays: Value<number>): RawBuilder<unknown> {
  return sql`(
    SELECT *, sum(${resultBytes}) OVER (ORDER BY started_at, node_id) AS until_here,
      max(greatest(started_at, finished_at)) OVER () AS changed_at
    FROM node_results
    WHERE run_id = run.id AND path = '' AND member.user_id IS NOT NULL AND NOT ${isExpired(retentionDays)}
  )`;
}

/** `what`: an expression over the requests that a waiting agent has open. */
export function ofApprovals(what: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`CASE WHEN node.status = 'in progress' THEN (
    SELECT ${what} FROM approval_requests approval
    WHERE approval.run_id = run.id AND approval.path = node.path AND approval.node_id = node.node_id AND approval.status = 'pending'
  ) END`;
}

export const openRequests = sql`json_agg(json_build_object('request_id', request_id, 'server_label', server_label,
  'tool_name', tool_name, 'arguments', arguments,
  'status', CASE WHEN expires_at <= now() THEN 'expired' ELSE approval.status END,
  'created_at', ${isoText(sql`created_at`)}, 'expires_at', ${isoText(sql`expires_at`)}) ORDER BY ordinal)`;

const requestsText = sql`',"approval_requests":' || (${openRequests})::text
  || ',"waiting":{"for":"approval","until":"' || ${isoText(sql`max(expires_at)`)} || '"}'`;

const betweenNodes = sql`CASE run.status WHEN 'In Progress' THEN ${sql.lit(AFTER_NODE)} ELSE ',' END`;
const afterId = sql`CASE run.status WHEN 'In Progress' THEN ${sql.lit(AFTER_ID)} ELSE ':' END`;

/** A member of `PolledText.nodes`. What is too large is not unpacked for nothing. */
const nodeText = sql`CASE WHEN until_here <= ${TOGETHER_BYTES} THEN
  to_json(node_id)::text || ${afterId} || '{"id":' || to_json(node_id)::text || ',"status":' || to_json(node.status)::text
  || CASE node.status
    WHEN 'succeed' THEN ',"result":' || coalesce(result::text, '{"content":""}')
    WHEN 'in progress' THEN coalesce(${ofApprovals(requestsText)}, '')
    ELSE ',"error":{"code":' || to_json(coalesce(error_code, 'failed'))::text
      || ',"message":' || to_json(coalesce(error_message, 'The node failed.'))::text || '}'
  END || '}'
END`;

function toState(row: StateRow): PolledState {
  return {
    runId: row.run_id,
    status: row.run_status,
    isStarted: row.is_started,
    quietMs: row.quiet_ms,
    isExpired: row.is_expired,
    isVisible: row.is_visible,
    nodeErrors: row.node_errors,
  };
}

/** As JSON writes a Date, which is how every other timestamp leaves the service. */
export function isoText(time: RawBuilder<unknown>): RawBuilder<string> {
  return sql`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

function toNode(row: NodeRow): PolledNode {
  return {
    id: row.node_id ?? '',
    status: row.node_status ?? 'failed',
    result: row.result,
    isApart: row.is_apart,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    approvals: row.approvals,
  };
}

/**
 * A result's JSON text, piece by piece, and no connection is held between two. Throws when it has expired meanwhile: what
 * was begun cannot be ended then.
 */
export async function* readResultPieces(db: Db, { runId, path, nodeId }: NodeKey): AsyncGenerator<string> {
  for (let from = 1; ; from += PIECE_CHARACTERS) {
    const { rows } = await sql<{ piece: string }>`
      SELECT substr(result::text, ${from}::integer, ${PIECE_CHARACTERS}::integer) AS piece FROM node_results
      WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND result IS NOT NULL`.execute(db);
    const found = rows[0];
    if (found === undefined) throw new Error('a result expired while it was read');
    yield found.piece;
    // A full piece has at least as many characters as we count it by.
    if (found.piece.length < PIECE_CHARACTERS) return;
  }
}
