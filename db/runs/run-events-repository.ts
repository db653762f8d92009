// The events of a run, for streams: what readers see of it, one change after the other. ADR 16.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { decisionsOf } from '../agents/decisions-text.js';
import { answersOf } from '../human-tasks/answers-text.js';
import { errorText, isoText, reusedText, timesText } from './entry-text.js';
import { pathOfLoop } from '../nodes/path-text.js';
import { iterationsText } from './iterations-text.js';
import { outputOfRun } from './run-output.js';
import { waitingText } from './waiting-text.js';

export interface RunEvent {
  version: number;
  kind: 'run' | 'node' | 'approval' | 'human_task';
  path: string;
  /** The node's id, or that of the request or the task; empty for the run. */
  subject: string;
  /** The stored status of the run, the node or the request after the change. */
  status: string;
  /**
   * JSON text of the entry, of a run that has ended its output; empty where there is none, and for what has expired. Of a
   * result that is `apart` it ends where the result and a brace follow. It may hold tokens (`replaceTokens`).
   */
  data: string;
  /**
   * Bytes of a result that is too large to be read with others: `readResultPieces` has it. Of a run whose output is in
   * such a result: `readOutputPieces` has that.
   */
  apartBytes: number | null;
}

/** Larger results are read by themselves, by each stream when its turn has come. */
const INLINE_BYTES = 16 * 1024;

/**
 * Gives what has happened since the last call a version and thereby its place, for all readers and for good. Returns the
 * last version of each run; 0 where nothing has happened yet. It waits for the disk: a version that a reader has seen is
 * not given to another event after a crash.
 *
 * Of a node that has ended before its start was given a version, there is its end alone.
 */
export async function orderRunEvents(db: Db, runIds: string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ runId: string; version: number }>`/* order_run_events */
    SELECT of_run AS "runId", last_version AS version FROM order_run_events(${runIds}::uuid[])`.execute(db);
  return new Map(rows.map(({ runId, version }) => [runId, version]));
}

export interface EventsAfter {
  runId: string;
  after: number;
}

/** Up to `limit` events of each run after a version, in their order; only of what `orderRunEvents` has ordered. */
export async function readRunEvents(db: Db, asked: EventsAfter[], limit: number): Promise<Map<string, RunEvent[]>> {
  const { rows } = await sql<RunEvent & { runId: string }>`/* read_run_events */
    SELECT event.run_id AS "runId", event.version, event.kind, event.path, event.subject, event.status,
      coalesce(CASE event.kind WHEN 'node' THEN coalesce(loop.text, ${nodeText}) WHEN 'approval' THEN ${approvalText}
        WHEN 'human_task' THEN ${taskText} ELSE output.text END, '')
        AS data,
      CASE WHEN ${isApart} THEN node.result_bytes
        WHEN output.of_node IS NOT NULL AND output.text IS NULL THEN output.result_bytes END AS "apartBytes"
    FROM unnest(${asked.map(({ runId }) => runId)}::uuid[], ${asked.map(({ after }) => after)}::bigint[]) AS asked (run_id, after)
    CROSS JOIN LATERAL (
      SELECT *, row_number() OVER (PARTITION BY subject, ${pathOfLoop(sql`path`)} ORDER BY version DESC) = 1 AS is_last
      FROM (
        SELECT * FROM run_events WHERE run_id = asked.run_id AND version > asked.after
        ORDER BY version LIMIT ${limit}::integer
      ) AS page
    ) AS event
    LEFT JOIN node_results AS node ON event.kind = 'node' AND node.run_id = event.run_id AND node.path = event.path
      AND node.node_id = event.subject
    LEFT JOIN LATERAL (
      SELECT ${loopText} AS text FROM (
        SELECT * FROM node_results AS loop
        WHERE node.is_iteration AND event.is_last AND loop.run_id = event.run_id
          AND loop.path = ${pathOfLoop(sql`event.path`)} AND loop.node_id = event.subject AND loop.status = 'in progress'
      ) AS node
    ) AS loop ON true
    LEFT JOIN LATERAL (
      SELECT value.* FROM (SELECT event.run_id AS id) AS run CROSS JOIN LATERAL ${outputOfRun(INLINE_BYTES)} AS value
      WHERE event.kind = 'run' AND event.status <> 'In Progress'
    ) AS output ON true
    LEFT JOIN approval_requests AS approval ON event.kind = 'approval' AND approval.request_id = event.subject
    LEFT JOIN human_tasks AS task ON event.kind = 'human_task' AND task.run_id = event.run_id
      AND task.path = event.path AND task.task_id::text = event.subject
    ORDER BY event.run_id, event.version`.execute(db);
  const events = new Map<string, RunEvent[]>(asked.map(({ runId }) => [runId, []]));
  for (const { runId, ...event } of rows) events.get(runId)?.push(event);
  return events;
}

const isApart = sql`event.status = 'succeed' AND NOT node.is_iteration AND node.result_bytes > ${sql.lit(INLINE_BYTES)} AND node.result IS NOT NULL`;

/** The entry of a loop that goes on, with its counts as they are now: told once for all its iterations of a page. */
const loopText = sql`'{"id":' || to_json(node.node_id)::text || ',"path":' || to_json(node.path)::text
  || ',"status":"in progress"' || ${timesText(sql`node.started_at`, sql`NULL::timestamptz`)} || ${reusedText}
  || coalesce(${iterationsText}, '') || '}'`;

/** The entry as it was with this status, which may be an earlier one than the node's. */
/** An iteration has no entry of its own: its event tells how far its loop is (`loopText`). */
const nodeText = sql`CASE WHEN node.is_iteration THEN '' ELSE '{"id":' || to_json(event.subject)::text || ',"path":' || to_json(event.path)::text
  || ',"status":' || to_json(event.status)::text
  || ${timesText(sql`node.started_at`, sql`CASE WHEN event.status <> 'in progress' THEN node.finished_at END`)}
  || ${reusedText} || coalesce(${iterationsText}, '') || CASE event.status
    WHEN 'succeed' THEN ',"result":' || CASE WHEN ${isApart} THEN ''
      ELSE coalesce(node.result::text, '{"content":""}') || '}' END
    WHEN 'failed' THEN ${errorText} || '}'
    ELSE coalesce(${waitingText}, '') || '}'
  END END`;

/** Of the decisions or answers in their order, those that there were at the event: all of what is settled. */
const untilThen = sql`CASE WHEN event.status = 'pending' THEN event.counted END`;

/** Of a request as it was then, but for its arguments, which are as they are now. */
const approvalText = sql`json_build_object('request_id', approval.request_id, 'node_id', approval.node_id,
  'path', approval.path, 'server_label', approval.server_label, 'tool_name', approval.tool_name,
  'arguments', approval.arguments, 'arguments_hash', approval.arguments_hash,
  'edited_arguments', approval.edited_arguments, 'required', approval.required, 'status', event.status, 'created_at', ${isoText(sql`approval.created_at`)},
  'expires_at', ${isoText(sql`approval.expires_at`)},
  'decisions', ${decisionsOf(sql`approval.request_id`, untilThen)},
  'decided_at', CASE WHEN event.status <> 'pending' THEN ${isoText(sql`approval.decided_at`)} END,
  'decided_by', CASE WHEN event.status <> 'pending' THEN approval.decided_by END,
  'reason', CASE WHEN event.status <> 'pending' THEN approval.reason ELSE '' END)::text`;

/** Of a task as it was then: who had chosen what, not what they entered. */
const taskText = sql`json_build_object('id', task.task_id, 'node_id', task.node_id, 'path', task.path,
  'message', task.message, 'fields', task.fields, 'actions', task.actions, 'required', task.required,
  'status', event.status, 'created_at', ${isoText(sql`task.created_at`)}, 'expires_at', ${isoText(sql`task.expires_at`)},
  'action', CASE WHEN event.status <> 'pending' THEN task.action END,
  'answers', ${answersOf(sql`task.task_id`, untilThen)})::text`;
