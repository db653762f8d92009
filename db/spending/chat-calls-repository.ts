// The ledger of the chat proxy. A call is stored with its maximum cost before it is sent; its end writes one
// transaction.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { lazily } from '../core/lazily.js';
import type { TransactionStatus } from '../core/tables.js';
import { anyOf } from '../core/statement.js';
import { passedLimitColumns, type PassedLimit, type PassedLimitRow } from './reserve-call.js';

export interface ChatCall {
  id: string;
  /** Null for a call outside projects, to which no limit applies. */
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
 * Reserves a call. If the call would exceed a limit, returns the limit and does not store the call. The commit does not
 * wait for the disk: a crash of the database's machine may lose the calls of the last second, but never their ends.
 */
export async function startChatCall(db: Db, call: ReservedCall): Promise<PassedLimit | undefined> {
  const { rows } = await sql<PassedLimitRow>`
    WITH refused AS MATERIALIZED (
      SELECT * FROM refuse_in_project(${call.projectId}::integer, ${call.reservedUsd}::numeric, 0, NULL)
    ), started AS (
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
 * Writes the transaction of a call and releases its reservation, in one statement. Idempotent; changes nothing if
 * `endDeadChatCalls` has ended the call. A call that the database has lost is stored again.
 */
export async function endChatCall(db: Db, call: ChatCall, end: ChatEnd): Promise<void> {
  await sql`
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

/** Extends the leases of calls that are still under way. */
export async function extendChatCalls(db: Db, ids: string[], leaseSeconds: number): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('chat_calls')
    .set({ leased_until: sql`now() + make_interval(secs => ${leaseSeconds}::integer)` })
    .where('id', '=', anyOf(ids))
    .where('reserved_usd', 'is not', null)
    .execute();
}

const AT_ONCE = 500;

/**
 * Ends up to `AT_ONCE` calls whose lease has ended, such as those of dead processes. The usage is unknown, so each call
 * costs the reserved amount, marked as estimated. Returns the number of calls.
 */
export async function endDeadChatCalls(db: Db): Promise<number> {
  const { rows } = await sql`
    WITH dead AS (
      SELECT * FROM chat_calls WHERE reserved_usd IS NOT NULL AND leased_until < now()
      ORDER BY project_id, id LIMIT ${sql.lit(AT_ONCE)} FOR UPDATE SKIP LOCKED
    ), ended AS (
      UPDATE chat_calls SET reserved_usd = NULL FROM dead WHERE chat_calls.id = dead.id
    )
    INSERT INTO billing_transactions (id, node_id, project_id, user_id, operation, status, amount_usd, is_estimated,
      price_version, reason, description)
    SELECT id, '', project_id, user_id, 'chat', 'Error', reserved_usd, true, price_version,
      'The service stopped before the cost of the call was known. The charge is the amount that was reserved for the call.', model
    FROM dead ORDER BY project_id, id
    RETURNING id`.execute(db);
  return rows.length;
}
