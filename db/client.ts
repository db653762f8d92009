import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import type { Tables } from './tables.js';

/** A connection pool or an open transaction: every repository function takes either. */
export type Db = Kysely<Tables> | Transaction<Tables>;
export type Database = Kysely<Tables>;

interface DatabaseOptions {
  url: string;
  poolMax: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** A broken idle connection is reported here; the pool replaces it by itself. */
  onError: (error: Error) => void;
}

// `bigint` comes from counts only, far below 2^53.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text) => Number(text));

export function createDatabase({ url, poolMax, applicationName, onError }: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolMax,
    application_name: applicationName,
    types,
    keepAlive: true,
    // A caller that finds the database gone learns it in bounded time; Temporal or the client retries.
    connectionTimeoutMillis: 5_000,
    idle_in_transaction_session_timeout: 30_000,
    statement_timeout: 60_000,
  });
  pool.on('error', onError);
  // A server that dies says so on every connection, also on one that is taken and has no query under way: the pool does
  // not listen there, and an error that nobody listens to ends the process. The next query on it fails, and reports it.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}
