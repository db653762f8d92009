// The ledger of the chat proxy. A call is there, with what it may cost, before it leaves; its end writes its transaction, once.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { lazily } from '../core/lazily.js';
import type { TransactionStatus } from '../core/tables.js';
import { passedLimitColumns, type PassedLimit, type PassedLimitRow } from './reserve-call.js';

export interface ChatCall {
  id: string;
  /** Null for a call that belongs to no project, which no limit stops. */
  projectId: number | null;
  userId: number;
  provider: string;
  model: string;
  priceVersion: string;
  processId: string;
}

export interface ReservedCall extends ChatCall {
  reservedUsd: string;
  inputTokens: number;
  outputTokens: number;
  leaseSeconds: number;
}

/**
 * Returns the limit that the call would pass; nothing is stored then. A database whose machine dies may forget the calls of its
 * last second, but not their ends.
 */
export async function beginChatCall(db: Db, call: ReservedCall): Promise<PassedLimit | undefined> {
  const { rows } = await sql<PassedLimitRow>`/* begin_chat_call */
    WITH refused AS MATERIALIZED (
      SELECT * FROM refuse_in_project(${call.projectId}::integer, ${call.reservedUsd}::numeric, 0, NULL)
    ), begun AS (
      INSERT INTO chat_calls (id, project_id, user_id, provider, model, price_version, reserved_usd, input_tokens,
        output_tokens, process_id, leased_until)
      SELECT ${call.id}::uuid, ${call.projectId}::integer, ${call.userId}::integer, ${call.provider}, ${call.model}, ${call.priceVersion},
        ${call.reservedUsd}::numeric, ${call.inputTokens}::bigint, ${call.outputTokens}::bigint, ${call.processId}::uuid,
        now() + make_interval(secs => ${call.leaseSeconds}::integer)
      WHERE NOT EXISTS (SELECT FROM refused)
    )
    SELECT ${passedLimitColumns}, ${lazily} FROM (SELECT) AS asked LEFT JOIN refused ON true`.execute(db);
  const { limited, limitUsd, period, spentUsd, reservedUsd } = rows[0]!;
  return limited === null ? undefined : { limited, limitUsd, period, spentUsd, reservedUsd };
}

export interface ChatEnd {
  status: TransactionStatus;
  amountUsd: string;
  isEstimated: boolean;
  reason: string;
  inputTokens: number;
  outputTokens: number;
}

/**
 * Writes the transaction of a call, in the statement that frees what it has reserved. Idempotent; changes nothing where the call
 * was given up for dead. A call that the database has forgotten is stored again.
 */
export async function endChatCall(db: Db, call: ChatCall, end: ChatEnd): Promise<void> {
  await sql`/* end_chat_call */
    WITH ended AS (
      INSERT INTO chat_calls AS known (id, project_id, user_id, provider, model, price_version, input_tokens, output_tokens,
        process_id, leased_until)
      VALUES (${call.id}, ${call.projectId}, ${call.userId}, ${call.provider}, ${call.model}, ${call.priceVersion},
        ${end.inputTokens}, ${end.outputTokens}, ${call.processId}, now())
      ON CONFLICT (id) DO UPDATE SET reserved_usd = NULL, input_tokens = excluded.input_tokens,
        output_tokens = excluded.output_tokens
      WHERE known.reserved_usd IS NOT NULL
      RETURNING id, project_id, user_id, price_version, model
    )
    INSERT INTO billing_transactions (id, node_id, project_id, user_id, operation, status, amount_usd, is_estimated,
      price_version, reason, description)
    SELECT id, '', project_id, user_id, 'chat', ${end.status}, ${end.amountUsd}::numeric, ${end.isEstimated}::boolean,
      price_version, ${end.reason}, model
    FROM ended`.execute(db);
}

/** The calls are still under way. */
export async function extendChatCalls(db: Db, ids: string[], leaseSeconds: number): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('chat_calls')
    .set({ leased_until: sql`now() + make_interval(secs => ${leaseSeconds}::integer)` })
    .where('id', 'in', ids)
    .where('reserved_usd', 'is not', null)
    .execute();
}

const AT_ONCE = 500;

/**
 * Ends the calls of processes that died: nobody knows what they have used, so they cost what was reserved, and are marked as
 * estimated. Returns how many there were.
 */
export async function endDeadChatCalls(db: Db): Promise<number> {
  const { rows } = await sql`/* end_dead_chat_calls */
    WITH dead AS (
      SELECT * FROM chat_calls WHERE reserved_usd IS NOT NULL AND leased_until < now()
      ORDER BY project_id, id LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED
    ), ended AS (
      UPDATE chat_calls SET reserved_usd = NULL FROM dead WHERE chat_calls.id = dead.id
    )
    INSERT INTO billing_transactions (id, node_id, project_id, user_id, operation, status, amount_usd, is_estimated,
      price_version, reason, description)
    SELECT id, '', project_id, user_id, 'chat', 'Error', reserved_usd, true, price_version,
      'The process that made the call died before it was recorded; what was reserved is charged.', model
    FROM dead ORDER BY project_id, id
    RETURNING id`.execute(db);
  return rows.length;
}
