// Model calls and the limits of money (docs/use/spending.md). A call is reserved in the statement that claims it, and
// what is reserved becomes what was paid in the statement that records its transaction.
import { sql } from 'kysely';
import { isZeroDecimal } from '../../graph/decimal.js';
import type { Db } from '../core/client.js';
import type { SpendingLimitKind, SpendingPeriod } from '../core/tables.js';
import {
  claimCall,
  claimOf,
  toClaim,
  type CallClaim,
  type NewCall,
  type TokenCounts,
} from '../nodes/provider-calls-repository.js';

/** The limit that a call would pass. Amounts in USD. */
export interface PassedLimit {
  limited: SpendingLimitKind;
  limitUsd: string;
  /** The period of the limit of a project. */
  period: SpendingPeriod | null;
  spentUsd: string;
  /** The amount is reserved by other calls that are on the wire, or not in the books yet. */
  reservedUsd: string;
}

const SPANS: Record<SpendingPeriod, string> = { day: ' on this day (UTC)', month: ' in this month (UTC)', total: '' };

/** Returns the end of a sentence about the limit, which is empty if it has no period. */
export function spanOf(period: SpendingPeriod | null): string {
  return period === null ? '' : SPANS[period];
}

interface PaidCallToClaim extends NewCall {
  projectId: number;
  /** The most that it may cost. */
  reservedUsd: string;
  reservedTokens: TokenCounts;
  /** The limit of its agent; null if it has none. */
  maxCostUsd: string | null;
}

/** `refuse_call` and the like return these columns. */
export const passedLimitColumns = sql`
  refused.limited, trim_scale(refused.limit_usd) AS "limitUsd", refused.period,
  trim_scale(refused.spent_usd) AS "spentUsd", trim_scale(refused.reserved_usd) AS "reservedUsd"`;

export interface PassedLimitRow extends Omit<PassedLimit, 'limited'> {
  /** Null if no limit is passed. */
  limited: SpendingLimitKind | null;
}

interface ClaimRow extends PassedLimitRow {
  /** Null, with the next two, where nothing was claimed. */
  attempts: number | null;
  crashes: number;
  hasReaders: boolean;
  isOpen: boolean;
}

/**
 * `claimCall` for a model call. Claims nothing where the call would pass a limit, which is returned, or where its run has ended:
 * then undefined is. The end of the run waits for the claim, and charges what is still on the wire.
 */
export async function claimPaidCall(db: Db, call: PaidCallToClaim): Promise<CallClaim | PassedLimit | undefined> {
  const { projectId, reservedUsd, reservedTokens, maxCostUsd } = call;
  if (isZeroDecimal(reservedUsd)) return claimCall(db, call);
  const claim = claimOf(
    call,
    { projectId, usd: reservedUsd, tokens: reservedTokens },
    sql`FROM open_run WHERE NOT EXISTS (SELECT FROM refused)`,
  );
  const { rows } = await sql<ClaimRow>`/* claim_paid_call */
    WITH refused AS MATERIALIZED (
      SELECT * FROM refuse_call(${call.runId}::uuid, ${call.path}, ${call.nodeId}, ${call.turn ?? 0}::integer,
        ${reservedUsd}::numeric, ${maxCostUsd}::numeric)
    ), open_run AS MATERIALIZED (
      SELECT id FROM runs WHERE id = ${call.runId}::uuid AND status = 'In Progress' FOR KEY SHARE
    ), claimed AS (${claim})
    SELECT claimed.attempts, claimed.crashes, claimed."hasReaders", EXISTS (SELECT FROM open_run) AS "isOpen", ${passedLimitColumns}
    FROM (SELECT) AS asked LEFT JOIN claimed ON true LEFT JOIN refused ON true`.execute(db);
  const { attempts, crashes, hasReaders, isOpen, limited, ...passed } = rows[0]!;
  if (!isOpen) return undefined;
  if (limited !== null) return { limited, ...passed };
  return toClaim(attempts === null ? undefined : { attempts, crashes, hasReaders });
}
