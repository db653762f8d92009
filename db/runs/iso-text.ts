import { sql, type RawBuilder } from 'kysely';

/** As JSON writes a Date, which is how every other timestamp leaves the service. */
export function isoText(time: RawBuilder<unknown>): RawBuilder<string> {
  return sql`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
