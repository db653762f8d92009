import { sql } from 'kysely';

/** How large a row's result is, without reading it. The count outlives a result that has expired. */
export const resultBytes = sql<number>`CASE WHEN result IS NULL THEN 0 ELSE result_bytes END`;
