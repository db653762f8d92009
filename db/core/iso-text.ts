import { sql, type RawBuilder } from 'kysely';

/** The text that JSON writes for a Date: every other timestamp leaves the service like this. */
export function isoText(time: RawBuilder<unknown>): RawBuilder<string> {
  return sql`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
