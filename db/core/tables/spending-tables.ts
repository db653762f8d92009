// The calls of the chat proxy, and what limits of money have stopped.
import type { Generated } from 'kysely';
import type { Decimal } from './column-types.js';

/** Writer: the API. The ledger of the chat proxy: a row is there before its call leaves. Its id is its transaction's. */
export interface ChatCallsTable {
  id: string;
  project_id: number | null;
  user_id: number;
  provider: string;
  model: string;
  price_version: string;
  /** The most that the call may cost while it is open; null once it has its transaction. */
  reserved_usd: Decimal | null;
  /** The tokens that are reserved, and later those that were used. */
  input_tokens: number;
  output_tokens: number;
  /** The id of the API process that makes the call. */
  process_id: string;
  /** Its process counts as dead from this time on. */
  leased_until: Date;
  sent_at: Generated<Date>;
}

/** The limit is the project's `spending_limit`, a workflow's `max_run_cost`, or the `max_cost` of an agent or of a run of cases. */
export type SpendingLimitKind = 'project' | 'run' | 'agent' | 'cases';

/** Writer: the function `count_stop`. Retention deletes old days. */
export interface SpendingStopsTable {
  project_id: number;
  /** The day is one of UTC. */
  day: Date;
  limited: SpendingLimitKind;
  source: 'run' | 'chat';
  calls: number;
  last_run_id: string | null;
  last_at: Date;
}

/** Writer: the function `tell_budget_reached`. Of these limits and periods the webhook event was written. */
export interface BudgetsReachedTable {
  project_id: number;
  period: string;
  period_start: Date;
  limit_usd: Decimal;
  reached_at: Generated<Date>;
}
