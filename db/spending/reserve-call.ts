// Applies the spending limits to model calls (docs/use/spending.md). The statement that claims a call reserves its
// maximum cost. When its answer is recorded, its price replaces the reservation.
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

/** The limit that a call would exceed. Amounts in USD. */
export interface PassedLimit {
  limited: SpendingLimitKind;
  limitUsd: string;
  /** Set for limits of a project. */
  period: SpendingPeriod | null;
  spentUsd: string;
  /** Reserved by other calls that are in flight, or in no transaction yet. */
  reservedUsd: string;
}

const SPANS: Record<SpendingPeriod, string> = { day: ' on this day (UTC)', month: ' in this month (UTC)', total: '' };

/** Returns the end of a sentence about the limit; may be empty. */
export function spanOf(period: SpendingPeriod | null): string {
  return period === null ? '' : SPANS[period];
}

interface PaidCallToClaim extends NewCall {
  projectId: number;
  reservedUsd: string;
  reservedTokens: TokenCounts;
  /** The cost limit of the call's agent; null if there is none. */
  maxCostUsd: string | null;
}

/** The columns that `refuse_call` and similar functions return. */
export const passedLimitColumns = sql`
  refused.limited, trim_scale(refused.limit_usd) AS "limitUsd", refused.period,
  trim_scale(refused.spent_usd) AS "spentUsd", trim_scale(refused.reserved_usd) AS "reservedUsd"`;

export interface PassedLimitRow extends Omit<PassedLimit, 'limited'> {
  /** Null if no limit is exceeded. */
  limited: SpendingLimitKind | null;
}

export interface PassedLimitOfCall extends Omit<PassedLimit, 'limited'> {
  /** `test` for the `max_cost` of a test, and `run` for the `max_run_cost` of a workflow. */
  limited: SpendingLimitKind | 'test';
}

interface ClaimRow extends PassedLimitRow {
  isOfTest: boolean;
  /** Null, with the next two, if nothing was claimed. */
  attempts: number | null;
  crashes: number;
  hasReaders: boolean;
  isOpen: boolean;
}

/**
 * `claimCall` for a model call. If the call would exceed a limit, claims nothing and returns the limit; if the run has
 * ended, claims nothing and returns undefined. The end of the run waits for the claim, and charges the calls that are
 * still in flight. A call that reserves nothing is claimed by `claimCall` without these checks.
 */
export async function claimPaidCall(db: Db, call: PaidCallToClaim): Promise<CallClaim | PassedLimitOfCall | undefined> {
  const { projectId, reservedUsd, reservedTokens, maxCostUsd } = call;
  if (isZeroDecimal(reservedUsd)) return claimCall(db, call);
  const claim = claimOf(
    call,
    { projectId, usd: reservedUsd, tokens: reservedTokens },
    sql`FROM open_run WHERE NOT EXISTS (SELECT FROM refused)`,
  );
  const { rows } = await sql<ClaimRow>`
    WITH refused AS MATERIALIZED (
      SELECT * FROM refuse_call(${call.runId}::uuid, ${call.path}, ${call.nodeId}, ${call.turn ?? 0}::integer,
        ${reservedUsd}::numeric, ${maxCostUsd}::numeric)
    ), open_run AS MATERIALIZED (
      SELECT id FROM runs WHERE id = ${call.runId}::uuid AND status = 'In Progress' FOR KEY SHARE
    ), claimed AS (${claim})
    SELECT claimed.attempts, claimed.crashes, claimed."hasReaders", EXISTS (SELECT FROM open_run) AS "isOpen", ${passedLimitColumns},
      EXISTS (
        SELECT FROM runs AS run JOIN test_runs AS test ON test.run_id = coalesce(run.root_run_id, run.id)
        WHERE refused.limited = 'run' AND run.id = ${call.runId}::uuid AND test.max_cost_usd = refused.limit_usd
      ) AS "isOfTest"
    FROM (SELECT) AS asked LEFT JOIN claimed ON true LEFT JOIN refused ON true`.execute(db);
  const { attempts, crashes, hasReaders, isOpen, limited, isOfTest, ...passed } = rows[0]!;
  if (!isOpen) return undefined;
  if (limited !== null) return { limited: isOfTest ? 'test' : limited, ...passed };
  return toClaim(attempts === null ? undefined : { attempts, crashes, hasReaders });
}
