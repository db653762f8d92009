// How much is read at once of what has to be sealed.
import { sql } from 'kysely';

export const DUE_ROWS = 100;
/** Drawings have up to 10 MiB, and the process that seals them does other work, too. */
export const DUE_BYTES = 2 * 1024 * 1024;

/** A drawing without this text has no headers, and need not be parsed. */
export const HAS_HEADERS = sql<boolean>`document::text LIKE '%"headers"%'`;
