// These tables hold who may call the service, and in which projects they work.
import type { ColumnType, Generated } from 'kysely';
import type { Decimal, Timestamp } from './column-types.js';

export type Role = 'owner' | 'admin' | 'editor' | 'viewer';

/** The rights of a key: everything, running workflows and answering what runs ask, or reading. */
export type KeyScope = 'full' | 'run' | 'read';

export type SpendingPeriod = 'day' | 'month' | 'total';

/** Writers: `admin`, the embedded stack's first start, and the API (administrators, people of an identity provider). */
export interface UsersTable {
  id: Generated<number>;
  name: string;
  /**
   * The address as the user writes it, unique without regard to case. A user without one cannot sign in with a
   * password.
   */
  email: string | null;
  api_access: Generated<boolean>;
  /** May manage users and the limits of keys. It gives no access to other people's projects. */
  is_admin: Generated<boolean>;
  /** False: keys, tokens and sign-ins are refused, and hooks are unknown. */
  is_active: Generated<boolean>;
  created_at: Generated<Date>;
}

/** Writer: the API and `admin`. The key itself is never stored: `key_hash` is its SHA-256. */
export interface ApiKeysTable {
  id: Generated<number>;
  user_id: number;
  label: Generated<string>;
  key_hash: Buffer;
  /** The last four characters, to tell keys apart in a list. */
  key_hint: string;
  /** The only project that the key reaches; null: all projects of its user. */
  project_id: number | null;
  scope: Generated<KeyScope>;
  /** Null if the key never expires. An expired key is like one that does not exist. */
  expires_at: Date | null;
  /** Requests a minute; null means DEFAULT_RATE_LIMIT. */
  rate_limit: number | null;
  created_at: Generated<Date>;
}

/** Writer: the API, with every request that carries a key. A key without a row has made no request of late. */
export interface RateLimitsTable {
  key_id: number;
  window_ends_at: Date;
  /** The number includes requests that were refused. */
  requests: number;
}

/** Writer: the API, with every request that carries a session token: all sessions of a user count together. */
export interface SessionRateLimitsTable {
  user_id: number;
  window_ends_at: Date;
  /** The number includes requests that were refused. */
  requests: number;
}

/** Writer: the API. `total_spent_usd` is kept by a trigger on `billing_transactions`. */
export interface ProjectsTable {
  id: Generated<number>;
  name: string;
  webhook_url: Generated<string>;
  is_webhook_enabled: Generated<boolean>;
  /** Sealed; made when the webhook is first switched on, replaced by the webhook-secret endpoint. */
  webhook_secret_enc: Buffer | null;
  /** The time when the secret was shown; null for one that nobody has seen. */
  webhook_secret_shown_at: Date | null;
  /** Sealed; signs beside the new one for a day after a rotation. */
  webhook_previous_secret_enc: Buffer | null;
  total_spent_usd: ColumnType<string, never, never>;
  /** Null, like the period, if there is no limit. */
  spending_limit_usd: Decimal | null;
  spending_period: SpendingPeriod | null;
  /** The last UTC day on which something was paid, what was paid on it, and in its month: kept like `total_spent_usd`. */
  spent_on: ColumnType<Date | null, never, never>;
  spent_that_day_usd: ColumnType<string, never, never>;
  spent_that_month_usd: ColumnType<string, never, never>;
  created_by: number;
  created_at: Generated<Date>;
  updated_at: Timestamp;
  deleted_at: Date | null;
}

/** Writer: the API and `admin`. Every change over the API holds the lock on the project's row. */
export interface ProjectMembersTable {
  project_id: number;
  user_id: number;
  role: Role;
  created_at: Generated<Date>;
}

/** Writer: the API and `admin`. A project's own key for a model provider, used before the platform's. */
export interface ProviderKeysTable {
  id: Generated<number>;
  project_id: number;
  provider: string;
  name: string;
  key_enc: Buffer;
  masked_key: string;
  created_at: Generated<Date>;
}
