// Credentials of projects, which drawings name.
import type { Generated } from 'kysely';
import type { Json } from './column-types.js';

export type ConnectionKind =
  | 'header'
  | 'query'
  | 'path'
  | 'basic'
  | 'bearer'
  | 'oauth2_client_credentials'
  | 'oauth2'
  | 'mcp_oauth';

/** `needs_authorization`: somebody has to sign in at the provider. `failing`: the other side has refused the credential. */
export type ConnectionStatus = 'ready' | 'needs_authorization' | 'failing';

/** Writers: the API (everything), and the worker (tokens, status, and when it was used last). */
export interface ConnectionsTable {
  id: Generated<number>;
  project_id: number;
  name: string;
  kind: ConnectionKind;
  /** The credential goes to these and to no other (connections/origins.ts). */
  origins: string[];
  /** What is no secret, by the kind (connections/kinds.ts). */
  settings: Json<Record<string, unknown>>;
  /** What people have entered, as JSON by the kind. */
  secrets_enc: Buffer;
  /** What a provider has given, as JSON (connections/tokens.ts); null for kinds without, and before the first sign-in. */
  tokens_enc: Buffer | null;
  status: ConnectionStatus;
  status_reason: string | null;
  /** The name that the provider tells of who has signed in. */
  account: string | null;
  /** When the access token expires. */
  expires_at: Date | null;
  /** The number rises with each set of tokens. */
  tokens_version: Generated<number>;
  /** The number rises with each change of an address that secrets are sent to. */
  version: Generated<number>;
  /** Whoever asks the provider for new tokens has the lease. */
  lease: string | null;
  leased_until: Date | null;
  /** When the grant was lost, or the first run began to wait for it; null while nobody has to be asked. */
  grant_lost_at: Date | null;
  last_used_at: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/** Writer: the API. A sign-in at a provider that was begun. */
export interface ConnectionSignInsTable {
  /** SHA-256 of the `state` that goes to the provider and comes back. */
  state_hash: Buffer;
  connection_id: number;
  user_id: number;
  /** SHA-256 of the cookie of the browser that has begun. */
  cookie_hash: Buffer;
  /** What the exchange of the code needs, as JSON: the verifier among it. */
  flow_enc: Buffer;
  expires_at: Date;
}

/** Writer: the worker. Which connections a run has used. */
export interface ConnectionUsesTable {
  run_id: string;
  connection_id: number;
}
