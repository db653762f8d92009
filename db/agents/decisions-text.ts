import { sql, type RawBuilder } from 'kysely';
import { personOf, type Person } from '../users/person.js';
import { isoText } from '../core/iso-text.js';

export interface Decision {
  decided_by: Person;
  decision: 'approved' | 'rejected';
  reason: string;
  /** ISO 8601, as JSON writes a Date. */
  decided_at: string;
  arguments_hash: string;
}

/**
 * JSON of the first `most` `Decision`s on a request, in order. `requestId` is the column with its id; `most`
 * may be null for all.
 */
export function decisionsOf(
  requestId: RawBuilder<unknown>,
  most: RawBuilder<unknown> = sql`NULL`,
): RawBuilder<Decision[]> {
  return sql<Decision[]>`(
    SELECT coalesce(json_agg(json_build_object('decided_by', ${personOf('person')},
      'decision', made.decision, 'reason', made.reason, 'decided_at', ${isoText(sql`made.decided_at`)},
      'arguments_hash', made.arguments_hash) ORDER BY made.decided_at, person.id), '[]'::json)
    FROM (
      SELECT * FROM approval_decisions WHERE request_id = ${requestId} ORDER BY decided_at, user_id LIMIT ${most}
    ) AS made JOIN users person ON person.id = made.user_id
  )`;
}
