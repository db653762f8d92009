// The hash of a record. Whoever changes a record, or its place among the others, cannot keep the hashes behind it.
import { createHash } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';

/** Everything that a record tells, as texts of the database: what was stored comes back the same for ever. */
export const hashedColumns: RawBuilder<string[]> = sql<string[]>`ARRAY[id::text,
  to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), project_id::text, action, outcome, actor_id::text,
  actor_name, via, key_id::text, address, target_type, target_id, target_name, changes::text, count::text]`;

/** SHA-256 over the hash of the record before it (empty for the first one), the position in the chain and the texts. */
export function hashRecord(before: Buffer, position: number, texts: readonly (string | null)[]): Buffer {
  return createHash('sha256')
    .update(before)
    .update(JSON.stringify([position, ...texts]))
    .digest();
}
