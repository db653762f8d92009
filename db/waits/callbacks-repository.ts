// Callbacks: the token of a node that waits for a callback, and the answer that the callback brings.
import { sql } from 'kysely';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { hashToken } from '../core/random-token.js';

/** Returns the node's sealed token. Stores `fresh` if the node has none yet. */
export async function ensureToken(
  db: Db,
  { runId, path, nodeId }: NodeKey,
  fresh: { token: string; tokenEnc: Buffer },
): Promise<Buffer> {
  const { rows } = await sql<{ tokenEnc: Buffer }>`
    INSERT INTO waits AS wait (run_id, path, node_id, kind, token_hash, token_enc)
    VALUES (${runId}, ${path}, ${nodeId}, 'callback', ${hashToken(fresh.token)}, ${fresh.tokenEnc})
    ON CONFLICT (run_id, path, node_id, call) DO UPDATE SET
      token_hash = coalesce(wait.token_hash, excluded.token_hash),
      token_enc = coalesce(wait.token_enc, excluded.token_enc)
    RETURNING token_enc AS "tokenEnc"`.execute(db);
  return rows[0]!.tokenEnc;
}

/** True if an answer to the row `wait` of an open run would be accepted. */
const isAwaited = sql<boolean>`(
  wait.answered_at IS NULL AND wait.closed_at IS NULL AND coalesce(wait.until > clock_timestamp(), true)
  AND NOT EXISTS (
    SELECT FROM node_results AS node
    WHERE node.run_id = wait.run_id AND node.path = wait.path AND node.node_id = wait.node_id AND node.is_reused))`;

/**
 * `repeated`: already accepted, and the run is open. `too_late`: the run or the wait has ended, or the result of the
 * node is reused.
 */
export type CallbackOutcome = { status: 'accepted'; wait: NodeKey } | { status: 'repeated' | 'too_late' | 'unknown' };

/**
 * Accepts a callback once, even before the node waits, but not for a node with a reused result, which never waits.
 * `seal` seals the answer for the node that the token belongs to.
 */
export async function acceptCallback(db: Db, token: string, seal: (wait: NodeKey) => Buffer): Promise<CallbackOutcome> {
  const hash = hashToken(token);
  const asked = await db
    .selectFrom('waits')
    .select(['run_id as runId', 'path', 'node_id as nodeId'])
    .where('token_hash', '=', hash)
    .executeTakeFirst();
  if (asked === undefined) return { status: 'unknown' };
  const accepted = await sql<NodeKey>`
    UPDATE waits AS wait SET answer_enc = ${seal(asked)}, answered_at = clock_timestamp()
    FROM runs AS run
    WHERE wait.token_hash = ${hash} AND run.id = wait.run_id AND run.status = 'In Progress' AND ${isAwaited}
    RETURNING wait.run_id AS "runId", wait.path, wait.node_id AS "nodeId"`.execute(db);
  const [wait] = accepted.rows;
  if (wait !== undefined) return { status: 'accepted', wait };
  const known = await findCallback(db, token);
  if (known === undefined) return { status: 'unknown' };
  return { status: known.isOpen && known.isAnswered ? 'repeated' : 'too_late' };
}

export interface KnownCallback {
  projectId: number;
  isOpen: boolean;
  isAnswered: boolean;
  /** True if the callback would be accepted now. */
  isAwaited: boolean;
}

/** Returns undefined for an unknown token. */
export async function findCallback(db: Db, token: string): Promise<KnownCallback | undefined> {
  const { rows } = await sql<KnownCallback>`
    SELECT run.project_id AS "projectId", run.status = 'In Progress' AS "isOpen", wait.answered_at IS NOT NULL AS "isAnswered",
      run.status = 'In Progress' AND ${isAwaited} AS "isAwaited"
    FROM waits AS wait JOIN runs AS run ON run.id = wait.run_id WHERE wait.token_hash = ${hashToken(token)}`.execute(
    db,
  );
  return rows[0];
}
