import { sql } from 'kysely';

/**
 * The size of a row's result without reading it, 0 once the result has expired (the column
 * `result_bytes` keeps the size).
 */
export const resultBytes = sql<number>`CASE WHEN result IS NULL THEN 0 ELSE result_bytes END`;
