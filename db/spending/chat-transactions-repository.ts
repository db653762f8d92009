import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import type { RunTransaction } from './billing-repository.js';
import { isInReach, type Reach } from '../access/reach.js';

interface ChatTransaction extends Omit<RunTransaction, 'run_id'> {
  run_id: null;
  project_id: number | null;
  provider: string;
  model: string;
  input_tokens: number;
  output_tokens: number;
}

interface ChatTransactionQuery {
  reach: Reach;
  projectId: number | undefined;
  limit: number;
  offset: number;
}

/**
 * Lists the transactions of the chat proxy in the user's projects and, unless the request is limited to a project,
 * those of the user's own calls outside projects, newest first.
 */
export async function listChatTransactions(
  db: Db,
  { reach, projectId, limit, offset }: ChatTransactionQuery,
): Promise<{ total: number; transactions: ChatTransaction[] }> {
  const isProject = projectId === undefined ? sql`` : sql`AND project.id = ${projectId}`;
  const withOwn = projectId === undefined && reach.projectId === undefined;
  // Reads each project by its index, and no further than the page needs.
  const newest = sql`ORDER BY paid.created_at DESC, paid.id DESC LIMIT ${offset + limit}`;
  const visible = (first: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    SELECT paid.* FROM project_members AS member
      JOIN projects AS project ON project.id = member.project_id AND project.deleted_at IS NULL
      CROSS JOIN LATERAL (
        SELECT * FROM billing_transactions AS paid WHERE paid.project_id = project.id AND paid.run_id IS NULL ${first}
      ) AS paid
    WHERE member.user_id = ${reach.userId} AND ${isInReach('member.project_id', reach)} ${isProject}
    UNION ALL (
      SELECT paid.* FROM billing_transactions AS paid
      WHERE ${withOwn}::boolean AND paid.user_id = ${reach.userId} AND paid.project_id IS NULL AND paid.run_id IS NULL
      ${first})`;
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total FROM (${visible(sql``)}) AS paid`.execute(db);
  const total = rows[0]?.total ?? 0;
  if (offset >= total) return { total, transactions: [] };
  const { rows: transactions } = await sql<ChatTransaction>`
    WITH page AS MATERIALIZED (
      SELECT * FROM (${visible(newest)}) AS paid ORDER BY created_at DESC, id DESC LIMIT ${limit} OFFSET ${offset}
    )
    SELECT page.id, operation, status, amount_usd, is_estimated, reason, description, NULL AS run_id, path, page.user_id,
      created_at, updated_at, page.project_id, call.provider, call.model, call.input_tokens, call.output_tokens
    FROM page JOIN chat_calls AS call ON call.id = page.id
    ORDER BY created_at DESC, page.id DESC`.execute(db);
  return { total, transactions };
}
