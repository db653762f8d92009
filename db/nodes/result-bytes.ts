import { sql } from 'kysely';

/** The size of a row's result, without reading it. The count outlives a result that has expired. */
export const resultBytes = sql<number>`CASE WHEN result IS NULL THEN 0 ELSE result_bytes END`;
