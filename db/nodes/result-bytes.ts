import { sql } from 'kysely';

/**
 * How large a row's result is, without reading it. A row from before the column was there, or whose result was written
 * around it, is measured.
 */
export const resultBytes = sql<number>`CASE WHEN result IS NULL THEN 0
  ELSE coalesce(result_bytes, octet_length(result::text)) END`;
