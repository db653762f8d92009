import { sql, type InferResult } from 'kysely';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { isInReach, isVisibleTo, type Reach } from '../access/reach.js';

/** The amount is an exact decimal. `path` is the iteration that encloses the node, empty outside loops. */
export type RunTransaction = InferResult<ReturnType<typeof selectTransactions>>[number];

interface TransactionQuery {
  runId: string;
  reach: Reach;
  limit: number;
  offset: number;
}

/**
 * Lists the transactions of a run, oldest first. Undefined if there is no such run in reach. Includes runs of archived
 * workflows, because they stay in the project's books.
 */
export async function listRunTransactions(
  db: Db,
  { runId, reach, limit, offset }: TransactionQuery,
): Promise<{ total: number; transactions: RunTransaction[] } | undefined> {
  const { rows } = await sql<{ total: number }>`
    SELECT (SELECT count(*) FROM billing_transactions WHERE run_id = run.id) AS total
    FROM runs run
    JOIN projects project ON project.id = run.project_id AND project.deleted_at IS NULL
    JOIN project_members member ON member.project_id = project.id AND member.user_id = ${reach.userId}
    WHERE run.id = ${runId} AND ${isVisibleTo('run', reach.userId)} AND ${isInReach('project.id', reach)}`.execute(db);
  const run = rows[0];
  if (run === undefined) return undefined;
  if (offset >= run.total) return { total: run.total, transactions: [] };
  const transactions = await selectTransactions(db, runId).limit(limit).offset(offset).execute();
  return { total: run.total, transactions };
}

/** Returns the transactions of a node, oldest first: one for each of its operations. */
export function listNodeTransactions(db: Db, { runId, path, nodeId }: NodeKey): Promise<RunTransaction[]> {
  return selectTransactions(db, runId).where('path', '=', path).where('node_id', '=', nodeId).execute();
}

function selectTransactions(db: Db, runId: string) {
  return db
    .selectFrom('billing_transactions')
    .select(['id', 'operation', 'status', 'amount_usd', 'reason', 'description', 'path', 'user_id'])
    .select(sql<string>`run_id`.as('run_id'))
    .select(['created_at', 'updated_at', 'is_estimated'])
    .where('run_id', '=', runId)
    .orderBy('created_at')
    .orderBy('id');
}
