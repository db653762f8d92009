import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { parseJson } from '../../graph/json-text.js';
import { PreparingClient } from './preparing-client.js';
import type { Tables } from './tables.js';

/** A connection pool or an open transaction: every repository function takes either. */
export type Db = Kysely<Tables> | Transaction<Tables>;
export type Database = Kysely<Tables>;

interface DatabaseOptions {
  url: string;
  poolMax: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** How long a statement waits for a connection, a free one or a new one. */
  connectTimeoutMs?: number;
  /** Given the pool once, to be counted by whoever shows metrics. */
  onPool?: (pool: Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'>) => void;
  /** A connection that breaks is reported here; the pool replaces it by itself. */
  onError: (error: Error) => void;
}

// `bigint` comes from counts only, far below 2^53.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text) => Number(text));

types.setTypeParser(pg.types.builtins.JSON, parseJson);

const CONNECT_TIMEOUT_MS = 5_000;

export function createDatabase(options: DatabaseOptions): Database {
  const { url, poolMax, applicationName, connectTimeoutMs = CONNECT_TIMEOUT_MS, onError } = options;
  const pool = new pg.Pool({
    Client: PreparingClient,
    connectionString: url,
    max: poolMax,
    application_name: applicationName,
    types,
    keepAlive: true,
    // A new connection costs a password's hash on either side; the default of ten seconds would make many.
    idleTimeoutMillis: 300_000,
    // A caller that finds the database gone learns it in bounded time; Temporal or the client retries.
    connectionTimeoutMillis: connectTimeoutMs,
    idle_in_transaction_session_timeout: 30_000,
    statement_timeout: 60_000,
  });
  // On each connection, for as long as it lives: the pool hears only those that nobody uses. One that breaks between two
  // statements of a transaction would otherwise end the process. Its next statement fails, and its transaction with it.
  pool.on('connect', (client) => client.on('error', onError));
  pool.on('error', () => undefined);
  options.onPool?.(pool);
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

const CONNECT_TIMEOUT = /^(?:timeout exceeded when trying to connect|Connection terminated due to connection timeout)$/;
/** What the server answers in whatever language: the code is that of every cancelled statement. */
const STATEMENT_TIMEOUT = '57014';

/**
 * Whether the database is too busy, or away: there was no connection in time, or the statement took too long. Nothing
 * of it was done.
 */
export function isDatabaseTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return CONNECT_TIMEOUT.test(error.message) || ('code' in error && error.code === STATEMENT_TIMEOUT);
}
