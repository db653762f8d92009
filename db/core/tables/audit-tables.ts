// The audit log. Extensions, section 9; ADR 25.
import type { Generated } from 'kysely';
import type { Json } from './column-types.js';

export type AuditVia = 'session' | 'key' | 'link' | 'hook' | 'callback' | 'schedule' | 'system';

/** Writers: whoever changes something, with the change. The database refuses changes and early deletions of records. */
export interface AuditRecordsTable {
  id: Generated<number>;
  at: Generated<Date>;
  /** Null if it belongs to no project. */
  project_id: number | null;
  /** One of `db/audit/actions.ts`. */
  action: string;
  outcome: 'success' | 'refused';
  actor_id: number | null;
  /** The name at that time. */
  actor_name: string | null;
  via: AuditVia;
  key_id: number | null;
  address: string | null;
  target_type: string | null;
  target_id: string | null;
  target_name: string | null;
  /** `{field: [before, after]}` */
  changes: Json<Record<string, [unknown, unknown]>>;
  /** The number of refusals that it stands for. */
  count: Generated<number>;
  /** The number in its chain, from 1; null until it is chained. */
  position: Generated<number | null>;
  /** SHA-256 of the record and the hash before it. */
  hash: Generated<Buffer | null>;
}

/** Writer: the API, which chains the records; retention. 0 is the chain of the records of no project. */
export interface AuditChainsTable {
  project_id: number;
  /** The number of records that it has had. */
  entries: Generated<number>;
  last_id: number | null;
  last_hash: Generated<Buffer>;
  /** The number of first records that retention has deleted, and the hash of the last one of them. */
  expired: Generated<number>;
  expired_hash: Generated<Buffer>;
}

/** Writer: the API. Counts the refusals of one address and target in a minute; the row goes when the minute is over. */
export interface AuditRefusalsTable {
  key: Buffer;
  minute: Date;
  count: number;
  /** The last refusal: what the record tells that stands for those above the limit. */
  last: Json<unknown>;
}
