import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { parseJson } from '../../graph/json-text.js';
import type { Tables } from './tables.js';
import { sharedPool, type TakeShare } from './tenants.js';

/** A connection pool or an open transaction: every repository function takes either. */
export type Db = Kysely<Tables> | Transaction<Tables>;
export type Database = Kysely<Tables>;

interface DatabaseOptions {
  url: string;
  poolMax: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** The time for which a statement waits for a connection, a free one or a new one. */
  connectTimeoutMs?: number;
  /** Shares the connections between tenants (`onBehalfOf`). By default whoever comes first has them. */
  takeShare?: TakeShare;
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
  const { url, poolMax, applicationName, connectTimeoutMs = CONNECT_TIMEOUT_MS, takeShare, onError } = options;
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
  // Each connection has a listener for as long as it lives, because the pool listens only to those that nobody uses. A
  // connection that breaks between two statements of a transaction would otherwise end the process. Its next statement
  // fails, and its transaction with it.
  pool.on('connect', (client) => client.on('error', onError));
  pool.on('error', () => undefined);
  options.onPool?.(pool);
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: takeShare === undefined ? pool : sharedPool(pool, takeShare) }),
  });
}

const CONNECT_TIMEOUT = /^(?:timeout exceeded when trying to connect|Connection terminated due to connection timeout)$/;
/** The server answers this code for every cancelled statement, in whatever language its message is. */
const STATEMENT_TIMEOUT = '57014';

/**
 * Returns whether the database is too busy, or away: there was no connection in time, or the statement took too long.
 * Nothing of it was done.
 */
export function isDatabaseTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return CONNECT_TIMEOUT.test(error.message) || ('code' in error && error.code === STATEMENT_TIMEOUT);
}

// Statements that every run executes several times are parsed and planned once a connection: those whose text begins
// with a comment that names them, such as `/* claim_node */`. A name stands for one text for ever.

const NAME = /^\/\* (\w+) \*\/\s/;

type Query = (...parameters: unknown[]) => unknown;

class PreparingClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const query = this.query.bind(this) as Query;
    this.query = ((...parameters: unknown[]) => {
      const [text, values, ...rest] = parameters;
      const name = typeof text === 'string' && Array.isArray(values) ? NAME.exec(text)?.[1] : undefined;
      return name === undefined ? query(...parameters) : query({ name, text, values }, ...rest);
    }) as typeof this.query;
  }
}

/**
 * Returns whether PostgreSQL has refused a value (class 22: out of range, no such text). It refuses the same value each
 * time, so a retry is in vain.
 */
export function isDataException(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code);
}
