// Addresses at which other services start runs.
import type { Generated } from 'kysely';

/** The sender of a delivery proves in this way that it has the hook's secret. */
export type HookVerification = 'none' | 'standard-webhooks' | 'hmac-sha256';

/** Writer: the API. The hooks of a workflow are deleted together with it. */
export interface HooksTable {
  id: Generated<number>;
  workflow_id: number;
  /** The user in whose name the runs are started. */
  author_id: number;
  verify: HookVerification;
  /** The header that carries the signature; null unless `verify` is `hmac-sha256`. */
  header: string | null;
  /** SHA-256 of the token in the address. */
  token_hash: Buffer;
  token_enc: Buffer;
  /** Signatures are made with this secret; null if none are asked for. */
  secret_enc: Buffer | null;
  created_at: Generated<Date>;
  /** The status with which the last delivery that was not throttled was answered. */
  last_delivery_at: Date | null;
  last_delivery_status: number | null;
}

/** Writer: the API. What a hook has got in its current minute. */
export interface HookWindowsTable {
  hook_id: number;
  ends_at: Date;
  deliveries: number;
  /** Deliveries whose signature was wrong. */
  refusals: number;
}
