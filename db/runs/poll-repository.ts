// The read behind `workflow_result`: what a client polls, thousands of times, while runs are being written.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { hashKey } from '../projects/keys-repository.js';
import { countedKey, type CountedKey } from '../projects/rate-limits-repository.js';
import type { Reach } from '../projects/reach.js';
import { resultBytes } from '../nodes/result-bytes.js';
import { decisionsOf } from '../agents/decisions-text.js';
import { isExpired } from '../retention/retention-repository.js';
import { createStatement, type Value } from '../core/statement.js';
import { errorText, isoText, reusedText, timesText } from './entry-text.js';
import { toRun, toState, toText, type NodeRow, type StateRow, type TextRow } from './polled-rows.js';
import type { PolledRun, PolledState, PolledText } from './polled-run.js';
import { AFTER_ID, AFTER_NODE } from './polled-text.js';
import { outputOfRun } from './run-output.js';
import { iterationCounts, iterationsText } from './iterations-text.js';
import { storedWait, waitingText } from './waiting-text.js';
import { stateTagOfRow, versionColumns, versionJoin } from './run-version.js';

export type { OpenRequest, PolledNode, PolledRun, PolledText } from './polled-run.js';

export interface Poll extends Reach {
  runId: string;
}

/**
 * Results are read with the run up to this many bytes in all, in the order of the nodes; those that follow while the answer
 * is sent. The kernel buffers this much of an answer, so that a caller who takes nothing holds nothing.
 */
export const TOGETHER_BYTES = 64 * 1024;

/**
 * What a poll finds; undefined where no run has the id. One statement, hence one snapshot: a terminal status is seen
 * together with everything that was committed before it (a result that is read later was complete by then, and never
 * changes). The nodes of a run that the caller may not see, or whose results have expired, are not read.
 */
export async function readRunForPoll(
  db: Db,
  { runId, ...reach }: Poll,
  retentionDays: number,
): Promise<PolledRun | undefined> {
  const asked = askedBy(runId, reach);
  const { rows } = await sql<NodeRow>`/* poll_run */
    SELECT ${stateColumns(retentionDays)}, node.node_id, node.status AS node_status, node.error_code, node.error_message, node.is_handled, node.is_reused,
      ${isoText(sql`node.started_at`)} AS started_at_text, ${isoText(sql`node.finished_at`)} AS finished_at_text,
      CASE WHEN node.result IS NOT NULL AND until_here > ${TOGETHER_BYTES} THEN node.result_bytes END AS apart_bytes,
      CASE WHEN until_here <= ${TOGETHER_BYTES} THEN node.result::text END AS result, ${ofApprovals(openRequests)} AS approvals, ${storedWait} AS waiting, ${iterationCounts} AS iterations,
      output.of_node IS NOT NULL AS has_output,
      CASE WHEN row_number() OVER (ORDER BY node.started_at, node.node_id) = 1 THEN output.text END AS output_text
    FROM ${runsOf(asked)} LEFT JOIN LATERAL ${nodesOf(retentionDays)} node ON true
    LEFT JOIN LATERAL ${outputOf(retentionDays)} output ON true
    ORDER BY node.started_at, node.node_id`.execute(db);
  return toRun(rows);
}

function askedBy(runId: string, { userId, projectId }: Reach): RawBuilder<unknown> {
  return sql`(
    SELECT ${runId}::uuid AS run_id, ${userId}::integer AS user_id, ${projectId ?? null}::integer AS only_project)`;
}

/** How far a run is, without its nodes; undefined where no run has the id. */
export async function readRunHead(
  db: Db,
  { runId, ...reach }: Poll,
  retentionDays: number,
): Promise<PolledState | undefined> {
  const asked = askedBy(runId, reach);
  const { rows } =
    await sql<StateRow>`/* run_head */ SELECT ${stateColumns(retentionDays)} FROM ${runsOf(asked)}`.execute(db);
  return rows[0] && toState(rows[0]);
}

/** One request of a key. */
export interface KeyRequest {
  /** The run that it polls. */
  runId?: string;
  /** State tags of answers that the caller has. A run that is in one of these states is not read, nor is the request counted. */
  known?: string[] | undefined;
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
  const polls = requests.flatMap(({ runId, known }, poll) =>
    runId === undefined ? [] : [{ poll, run_id: runId, known }],
  );
  const select = requests.some(({ known }) => known !== undefined) ? selectKnownPolls : selectPolls;
  const rows = await select(db, {
    keyHash: hashKey(apiKey),
    count: requests.length,
    polls: JSON.stringify(polls),
    retentionDays,
    defaultRateLimit,
  });
  const runs = requests.map((): PolledText | undefined => undefined);
  for (const row of rows) if (row.poll !== null) runs[row.poll] = toText(row);
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

const VALUES = ['keyHash', 'count', 'polls', 'retentionDays', 'defaultRateLimit'] as const;

const selectPolls = createStatement<SelectPolls, CountedKey & TextRow>(
  VALUES,
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
        ${selectTexts(asked, retentionDays)}
      ) AS polled ON true`;
  },
);

/** The same, for requests some of which tell what they know: those whose runs are in a known state are not counted. */
const selectKnownPolls = createStatement<SelectPolls, CountedKey & TextRow>(
  VALUES,
  ({ keyHash, count, polls, retentionDays, defaultRateLimit }) => {
    const given = recordsOf(polls, sql`poll integer, run_id uuid, known text[]`);
    const unchanged = sql`unchanged AS (
      SELECT given.poll, state.* FROM holder CROSS JOIN ${given} AS given CROSS JOIN LATERAL (
        SELECT ${stateColumns(retentionDays)}, (
          SELECT coalesce(json_agg(node_id), '[]')::text FROM node_results AS node WHERE node.run_id = run.id AND path = ''
        ) AS nodes FROM ${runsOf(sql`(SELECT given.run_id, holder.user_id, holder.project_id AS only_project)`)}
      ) AS state
      WHERE api_access AND known IS NOT NULL AND is_visible AND NOT is_expired AND ${stateTagOfRow} = ANY (known)
    ),`;
    const counted = sql<number>`(${count}::integer - (SELECT count(*) FROM unchanged))`;
    const behind = sql`${count}::integer - 1 - given.poll - (SELECT count(*) FROM unchanged WHERE poll > given.poll)`;
    const asked = sql`(
      SELECT given.poll, given.run_id, "userId" AS user_id, "projectId" AS only_project FROM counted_key, ${given} AS given
      WHERE "apiAccess" AND NOT EXISTS (SELECT FROM unchanged WHERE poll = given.poll)
        AND requests - (${behind}) <= coalesce("rateLimit", ${defaultRateLimit}::integer)
    )`;
    return sql`/* count_and_poll_known */
      WITH ${countedKey(keyHash, counted, unchanged)}
      SELECT * FROM counted_key LEFT JOIN (
        ${selectTexts(asked, retentionDays)} UNION ALL SELECT *, false, NULL, true FROM unchanged
      ) AS polled ON true`;
  },
);

function selectTexts(asked: RawBuilder<unknown>, retentionDays: Value<number>): RawBuilder<unknown> {
  return sql`SELECT asked.poll, ${stateColumns(retentionDays)}, nodes.nodes, output.of_node IS NOT NULL AS has_output,
      output.text AS output_text, false AS is_unchanged
    FROM ${runsOf(asked)} LEFT JOIN LATERAL (
      SELECT CASE WHEN NOT coalesce(bool_or(until_here > ${TOGETHER_BYTES}), false)
        THEN '{' || coalesce(string_agg(${nodeText}, ${betweenNodes} ORDER BY started_at, node_id), '') || '}' END AS nodes
      FROM ${nodesOf(retentionDays)} node
    ) nodes ON true LEFT JOIN LATERAL ${outputOf(retentionDays)} output ON true`;
}

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
 * `asked`: a table expression with `run_id`, `user_id` and `only_project`, null where the key has no such restriction.
 * OFFSET 0 keeps the planner from reading all runs for the few that are asked for, whose number it does not know.
 */
function runsOf(asked: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${asked} AS asked
    CROSS JOIN LATERAL (SELECT * FROM runs WHERE id = asked.run_id OFFSET 0) run
    LEFT JOIN projects project ON project.id = run.project_id AND project.deleted_at IS NULL
    LEFT JOIN project_members member ON member.project_id = project.id AND member.user_id = asked.user_id
      AND project.id = coalesce(asked.only_project, project.id)
    ${versionJoin}`;
}

function stateColumns(retentionDays: Value<number>): RawBuilder<unknown> {
  return sql`run.id AS run_id, run.status AS run_status, run.run_started_at IS NOT NULL AS is_started,
    (extract(epoch FROM now() - greatest(reached.changed_at, run.created_at)) * 1000)::float8 AS quiet_ms,
    ${isExpired(retentionDays)} AS is_expired, run.node_errors::text AS node_errors, member.user_id IS NOT NULL AS is_visible, member.role,
    ${versionColumns}`;
}

/** With how much a reader has of all results up to each. */
function nodesOf(retentionDays: Value<number>): RawBuilder<unknown> {
  return sql`(
    SELECT *, sum(${resultBytes}) OVER (ORDER BY started_at, node_id) AS until_here FROM node_results
    WHERE run_id = run.id AND path = '' AND member.user_id IS NOT NULL AND NOT ${isExpired(retentionDays)}
  )`;
}

function outputOf(retentionDays: Value<number>): RawBuilder<unknown> {
  return sql`(
    SELECT of_node, text FROM ${outputOfRun(TOGETHER_BYTES)} AS value
    WHERE member.user_id IS NOT NULL AND NOT ${isExpired(retentionDays)}
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
  'tool_name', tool_name, 'arguments', arguments, 'arguments_hash', arguments_hash, 'edited_arguments', edited_arguments,
  'required', required, 'decisions', ${decisionsOf(sql`approval.request_id`)},
  'status', CASE WHEN expires_at <= now() THEN 'expired' ELSE approval.status END,
  'created_at', ${isoText(sql`created_at`)}, 'expires_at', ${isoText(sql`expires_at`)}) ORDER BY ordinal)`;

const requestsText = sql`',"approval_requests":' || (${openRequests})::text
  || ',"waiting":{"for":"approval","until":"' || ${isoText(sql`max(expires_at)`)} || '"}'`;

const betweenNodes = sql`CASE run.status WHEN 'In Progress' THEN ${sql.lit(AFTER_NODE)} ELSE ',' END`;
const afterId = sql`CASE run.status WHEN 'In Progress' THEN ${sql.lit(AFTER_ID)} ELSE ':' END`;

/** A member of `PolledText.nodes`. What is too large is not unpacked for nothing. */
const nodeText = sql`CASE WHEN until_here <= ${TOGETHER_BYTES} THEN
  to_json(node_id)::text || ${afterId} || '{"id":' || to_json(node_id)::text || ',"status":' || to_json(node.status)::text
  || ${timesText(sql`node.started_at`, sql`node.finished_at`)} || ${reusedText}
  || coalesce(${iterationsText}, '') || CASE node.status
    WHEN 'succeed' THEN ',"result":' || coalesce(result::text, '{"content":""}')
    WHEN 'in progress' THEN coalesce(${ofApprovals(requestsText)}, ${waitingText}, '')
    ELSE ${errorText}
  END || '}'
END`;
