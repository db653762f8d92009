// The events of a run for streams: its visible changes, one after the other (ADR 16).
import { sql } from 'kysely';
import { writeJson } from '../../graph/json-text.js';
import type { Db } from '../core/client.js';
import { decisionsOf } from '../agents/decisions-text.js';
import { markDeletedFiles, markResults } from '../files/deleted-marks.js';
import { answersOf } from '../human-tasks/answers-text.js';
import { isoText } from '../core/iso-text.js';
import { iterationCounts } from './iteration-counts.js';
import { toPolledNode, type NodeColumns, type PolledNode } from './polled-run.js';
import { outputOfRun } from '../nodes/run-output.js';
import { startedWait } from './stored-wait.js';

export interface RunEvent {
  version: number;
  kind: 'run' | 'node' | 'approval' | 'human_task';
  path: string;
  /** The id of the node, the request or the task; empty for the run. */
  subject: string;
  /** The stored status of the run, node, request or task after the change. */
  status: string;
  /**
   * The node, request or task after the change, or the output of an ended run. Undefined if the event has none, or the
   * content has expired.
   */
  content: EventNode | EventObject | EventOutput | undefined;
  /** The size of a result or output too large to be read with the events (`readResultPieces`, `readOutputPieces`). */
  apartBytes: number | null;
  /** The approximate memory that the event takes. */
  bytes: number;
}

/** A node and its path. The events of an iteration have the loop as their node, which contains the progress. */
export interface EventNode {
  node: PolledNode;
  path: string;
}

export interface EventObject {
  object: Record<string, unknown>;
}

interface EventOutput {
  /** JSON text; null if the output is too large to be read with the events. */
  output: string | null;
}

/** Larger results are read separately when a stream reaches them. */
const INLINE_BYTES = 16 * 1024;
/** The memory of an event without its result, output or object. */
const EVENT_BYTES = 256;

/**
 * Assigns a permanent version to every change since the last call, and returns the last version of each run (0 if
 * nothing has happened yet). All readers see the same order. The commit waits for the disk, so that a crash cannot
 * reassign a version that a reader has seen.
 *
 * A node that ended before its start was assigned a version has only the event of its end.
 */
export async function orderRunEvents(db: Db, runIds: string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ runId: string; version: number }>`
    SELECT of_run AS "runId", last_version AS version FROM order_run_events(${runIds}::uuid[])`.execute(db);
  return new Map(rows.map(({ runId, version }) => [runId, version]));
}

export interface EventsAfter {
  runId: string;
  after: number;
}

interface EventRow
  extends Pick<RunEvent, 'version' | 'kind' | 'path' | 'subject' | 'status' | 'apartBytes'>, NodeColumns {
  runId: string;
  apartBytes: number | null;
  /** The path of the node in `content`; null if the event has no such node. */
  nodePath: string | null;
  object: Record<string, unknown> | null;
  hasOutput: boolean;
  output: string | null;
}

/**
 * Returns up to `limit` events of each run after a version, in order. Reads only events that `orderRunEvents` has
 * ordered.
 */
export async function readRunEvents(db: Db, asked: EventsAfter[], limit: number): Promise<Map<string, RunEvent[]>> {
  const { rows } = await sql<EventRow>`
    SELECT event.run_id AS "runId", event.version, event.kind, event.path, event.subject, event.status,
      CASE WHEN ${isApart} THEN changed.result_bytes
        WHEN output.of_node IS NOT NULL AND output.text IS NULL THEN output.result_bytes END AS "apartBytes",
      node.path AS "nodePath", CASE WHEN changed.is_iteration THEN node.status ELSE event.status END AS "nodeStatus",
      CASE WHEN event.status = 'succeed' AND NOT changed.is_iteration AND NOT ${isApart} THEN node.result::text END AS result,
      node.error_code AS "errorCode", node.error_message AS "errorMessage", node.is_handled AS "isHandled",
      node.is_reused AS "isReused", node.source, node.is_stale AS "isStale", ${isoText(sql`node.started_at`)} AS "startedAt",
      CASE WHEN event.status <> 'in progress' THEN ${isoText(sql`node.finished_at`)} END AS "finishedAt",
      CASE WHEN event.status = 'in progress' AND NOT changed.is_iteration THEN ${startedWait} END AS waiting,
      ${iterationCounts} AS iterations,
      CASE event.kind WHEN 'approval' THEN ${approval} WHEN 'human_task' THEN ${humanTask} END AS object,
      output.of_node IS NOT NULL AS "hasOutput", output.text AS output
    FROM unnest(${asked.map(({ runId }) => runId)}::uuid[], ${asked.map(({ after }) => after)}::bigint[]) AS asked (run_id, after)
    CROSS JOIN LATERAL (
      SELECT *, row_number() OVER (PARTITION BY subject, loop_path(path) ORDER BY version DESC) = 1 AS is_last
      FROM (
        SELECT * FROM run_events WHERE run_id = asked.run_id AND version > asked.after
        ORDER BY version LIMIT ${sql.lit(limit)}
      ) AS page
    ) AS event
    LEFT JOIN node_results AS changed ON event.kind = 'node' AND changed.run_id = event.run_id AND changed.path = event.path
      AND changed.node_id = event.subject
    LEFT JOIN node_results AS node ON node.run_id = changed.run_id AND node.node_id = changed.node_id
      AND node.path = CASE WHEN changed.is_iteration THEN loop_path(event.path) ELSE event.path END
      AND (NOT changed.is_iteration OR (event.is_last AND node.status = 'in progress'))
    LEFT JOIN LATERAL (
      SELECT value.* FROM (SELECT event.run_id AS id) AS run CROSS JOIN LATERAL ${outputOfRun(INLINE_BYTES)} AS value
      WHERE event.kind = 'run' AND event.status <> 'In Progress'
    ) AS output ON true
    LEFT JOIN approval_requests AS approval ON event.kind = 'approval' AND approval.request_id = event.subject
    LEFT JOIN human_tasks AS task ON event.kind = 'human_task' AND task.run_id = event.run_id
      AND task.path = event.path AND task.task_id::text = event.subject
    ORDER BY event.run_id, event.version`.execute(db);
  const events = new Map<string, RunEvent[]>(asked.map(({ runId }) => [runId, []]));
  for (const row of await markDeleted(db, rows)) events.get(row.runId)?.push(toEvent(row));
  return events;
}

async function markDeleted(db: Db, rows: readonly EventRow[]): Promise<EventRow[]> {
  const runIds = rows.map(({ runId }) => runId);
  const marked = await markResults(db, runIds, rows);
  const outputs = await markDeletedFiles(
    db,
    runIds,
    rows.map(({ output }) => output),
  );
  return marked.map((row, at) => ({ ...row, output: outputs[at]! }));
}

const isApart = sql`(event.status = 'succeed' AND NOT changed.is_iteration AND changed.result_bytes > ${sql.lit(INLINE_BYTES)}
  AND changed.result IS NOT NULL)`;

/**
 * The number of decisions or answers at the time of the event; null, which means all, if the request or task is settled
 * by then.
 */
const untilThen = sql`CASE WHEN event.status = 'pending' THEN event.counted END`;

/** JSON of a request at the time of the event, except its arguments, which are the current ones. */
const approval = sql`json_build_object('request_id', approval.request_id, 'node_id', approval.node_id,
  'path', approval.path, 'server_label', approval.server_label, 'tool_name', approval.tool_name,
  'arguments', approval.arguments, 'arguments_hash', approval.arguments_hash,
  'edited_arguments', approval.edited_arguments, 'required', approval.required, 'status', event.status, 'created_at', ${isoText(sql`approval.created_at`)},
  'expires_at', ${isoText(sql`approval.expires_at`)},
  'decisions', ${decisionsOf(sql`approval.request_id`, untilThen)},
  'decided_at', CASE WHEN event.status <> 'pending' THEN ${isoText(sql`approval.decided_at`)} END,
  'decided_by', CASE WHEN event.status <> 'pending' THEN approval.decided_by END,
  'reason', CASE WHEN event.status <> 'pending' THEN approval.reason ELSE '' END)`;

/** JSON of a task at the time of the event, with the person and the action of each answer, but no entered values. */
const humanTask = sql`json_build_object('id', task.task_id, 'node_id', task.node_id, 'path', task.path,
  'message', task.message, 'fields', task.fields, 'files', task.files, 'actions', task.actions, 'required', task.required,
  'status', event.status, 'created_at', ${isoText(sql`task.created_at`)}, 'expires_at', ${isoText(sql`task.expires_at`)},
  'action', CASE WHEN event.status <> 'pending' THEN task.action END,
  'answers', ${answersOf(sql`task.task_id`, untilThen)})`;

function toEvent(row: EventRow): RunEvent {
  const { version, kind, path, subject, status, apartBytes, object, result, output } = row;
  const bytes = EVENT_BYTES + (result ?? output ?? (object === null ? '' : writeJson(object))).length;
  return { version, kind, path, subject, status, apartBytes, bytes, content: toContent(row) };
}

function toContent(row: EventRow): RunEvent['content'] {
  if (row.object !== null) return { object: row.object };
  if (row.hasOutput) return { output: row.output };
  if (row.nodePath === null) return undefined;
  return { node: toPolledNode(row.subject, row), path: row.nodePath };
}
