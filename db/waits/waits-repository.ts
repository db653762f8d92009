// Waiting nodes. PostgreSQL decides races: a conditional update accepts a callback once and ends a wait once. The
// signal to the run workflow only wakes it.
import { sql } from 'kysely';
import { keyColumns } from '../nodes/key-columns.js';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { notifyWatchers } from '../watches/notify-watchers.js';

type WaitKind = 'time' | 'callback' | 'human';

export interface OpenWait {
  kind: WaitKind;
  /** The end of the wait in milliseconds since the epoch. */
  untilMs: number;
  isAnswered: boolean;
}

/**
 * Starts the wait together with its node, so that readers see both or neither. If an earlier attempt has started it,
 * returns that wait, whose end never changes. Returns undefined if the run is not open.
 */
export async function startWait(
  db: Db,
  { runId, path, nodeId }: NodeKey,
  wait: Omit<OpenWait, 'isAnswered'>,
): Promise<OpenWait | undefined> {
  const { rows } = await sql<OpenWait>`
    WITH open_run AS (
      SELECT id FROM runs WHERE id = ${runId} AND status = 'In Progress' FOR KEY SHARE
    ), started AS (
      INSERT INTO node_results (run_id, path, node_id, status)
      SELECT id, ${path}, ${nodeId}, 'in progress' FROM open_run
      ON CONFLICT (run_id, path, node_id) DO NOTHING
    )
    INSERT INTO waits AS wait (run_id, path, node_id, kind, until)
    SELECT id, ${path}, ${nodeId}, ${wait.kind}, ${new Date(wait.untilMs)}::timestamptz FROM open_run
    ON CONFLICT (run_id, path, node_id, call) DO UPDATE SET until = coalesce(wait.until, excluded.until)
    RETURNING kind, (extract(epoch FROM until) * 1000)::float8 AS "untilMs", answered_at IS NOT NULL AS "isAnswered",
      ${notifyWatchers(runId)}`.execute(db);
  return rows[0];
}

export interface EndedWait {
  /** The size of the sealed body of the callback (`readAnswer` reads the body); null if no callback was accepted. */
  answerBytes: number | null;
}

/**
 * Ends the node's own wait if it is answered or its time is over; else returns undefined. Later answers are refused.
 * Idempotent.
 */
export async function endWait(db: Db, { runId, path, nodeId }: NodeKey): Promise<EndedWait | undefined> {
  const { rows } = await sql<EndedWait>`
    UPDATE waits SET closed_at = coalesce(closed_at, clock_timestamp())
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND call = 0
      AND (answered_at IS NOT NULL OR closed_at IS NOT NULL OR until <= clock_timestamp())
    RETURNING octet_length(answer_enc) AS "answerBytes"`.execute(db);
  return rows[0];
}

/** Returns the sealed body of the callback that ended the wait. */
export async function readAnswer(db: Db, key: NodeKey): Promise<Buffer> {
  const wait = await db
    .selectFrom('waits')
    .select('answer_enc')
    .where((row) => row.and(keyColumns(key)))
    .where('answer_enc', 'is not', null)
    .executeTakeFirst();
  if (!wait?.answer_enc) throw new Error('the answer of a wait is gone');
  return wait.answer_enc;
}
