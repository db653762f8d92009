// The wait of a node, as readers see it.
import { sql, type RawBuilder } from 'kysely';
import { isoText } from '../core/iso-text.js';

export interface StoredWait {
  for: 'time' | 'callback' | 'human' | 'child' | 'connection' | 'worker';
  /** ISO 8601, as JSON writes a Date; null for a wait without an end. */
  until: string | null;
  /** The sealed token of a callback (`readSealedToken`). */
  token_enc: string | null;
  task_id: string | null;
  run_id: string | null;
  /** The connection that needs a sign-in. */
  connection_id: number | null;
  /** The pool for whose workers the node waits. */
  pool: string | null;
}

/**
 * Selects from the started wait of the row `node` of `node_results`; for an agent, from that of its first open call.
 * An open wait for a connection or a worker comes first.
 */
function ofWait(what: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    SELECT ${what} FROM waits AS wait
    WHERE wait.run_id = node.run_id AND wait.path = node.path AND wait.node_id = node.node_id AND wait.until IS NOT NULL
      AND (wait.call = 0 OR wait.closed_at IS NULL)
    ORDER BY wait.call LIMIT 1
  )`;
}

const token = sql`translate(encode(wait.token_enc, 'base64'), E'\\n', '') || ' '
  || json_build_array(wait.run_id, wait.path, wait.node_id)`;

const taskId = sql`CASE wait.kind WHEN 'human' THEN (
  SELECT task.task_id FROM human_tasks AS task
  WHERE task.run_id = wait.run_id AND task.path = wait.path AND task.node_id = wait.node_id) END`;

/**
 * JSON of a `StoredWait` if the node has started to wait, even if its own wait is over. A wait for a connection or a
 * worker, or of a tool call, is shown only while it is open.
 */
export const startedWait: RawBuilder<unknown> = ofWait(sql`json_build_object('for', wait.kind,
  'until', CASE WHEN isfinite(wait.until) THEN ${isoText(sql`wait.until`)} END, 'token_enc', ${token}, 'task_id', ${taskId}, 'run_id', wait.child_run_id,
  'connection_id', wait.connection_id, 'pool', wait.pool)`);

/** `startedWait` while the node is in progress. */
export const storedWait: RawBuilder<unknown> = sql`CASE WHEN node.status = 'in progress' THEN ${startedWait} END`;

/** The kind of the wait that `startedWait` shows, or null. */
export const waitedFor: RawBuilder<unknown> = ofWait(sql`wait.kind`);

export interface SealedToken {
  tokenEnc: Buffer;
  row: [runId: string, path: string, nodeId: string];
}

/** Parses the base64 of the token, a space, and its node as JSON. */
export function readSealedToken(text: string): SealedToken {
  const end = text.indexOf(' ');
  const row = JSON.parse(text.slice(end + 1)) as SealedToken['row'];
  return { tokenEnc: Buffer.from(text.slice(0, end), 'base64'), row };
}
