import { sql, type RawBuilder } from 'kysely';

/** Formats the time in SQL as JSON writes a Date (ISO 8601), so that all timestamps leave the service in one format. */
export function isoText(time: RawBuilder<unknown>): RawBuilder<string> {
  return sql`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
