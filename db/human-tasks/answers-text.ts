import { sql, type RawBuilder } from 'kysely';
import { personOf } from '../users/person.js';
import { isoText } from '../core/iso-text.js';

/**
 * JSON of the first `most` answers to a task, in order, with person and action. `taskId` is the column with its id;
 * `most` may be null for all.
 */
export function answersOf(taskId: RawBuilder<unknown>, most: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    SELECT coalesce(json_agg(json_build_object('answered_by', ${personOf('person')}, 'action', given.action,
      'answered_at', ${isoText(sql`given.answered_at`)}) ORDER BY given.answered_at, person.id), '[]'::json)
    FROM (
      SELECT * FROM human_answers WHERE task_id = ${taskId} ORDER BY answered_at, user_id LIMIT ${most}
    ) AS given JOIN users person ON person.id = given.user_id
  )`;
}
