// JSON text of node entries, written by the database: parts that polls and event streams share.
import { sql, type RawBuilder } from 'kysely';

/** As JSON writes a Date, which is how every other timestamp leaves the service. */
export function isoText(time: RawBuilder<unknown>): RawBuilder<string> {
  return sql`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** Members of an entry, with the comma before them. */
export function timesText(startedAt: RawBuilder<unknown>, finishedAt: RawBuilder<unknown>): RawBuilder<string> {
  return sql`',"started_at":"' || ${isoText(startedAt)} || '","finished_at":'
    || coalesce('"' || ${isoText(finishedAt)} || '"', 'null')`;
}

/** The member `reused` of a row of `node_results`, with the comma before it. */
export const reusedText: RawBuilder<string> = sql`CASE WHEN is_reused THEN ',"reused":true' ELSE '' END`;

/** The members `error` and `handled` of a failed node of `node_results`, with the comma before them. */
export const errorText: RawBuilder<string> = sql`',"error":{"code":' || to_json(coalesce(error_code, 'failed'))::text
  || ',"message":' || to_json(coalesce(error_message, 'The node failed.'))::text
  || CASE WHEN is_handled THEN '},"handled":true' ELSE '}' END`;
