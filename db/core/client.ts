import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { parseJson } from '../../graph/json-text.js';
import type { Tables } from './tables.js';
import { sharedPool, type TakeShare } from './tenants.js';

/** A connection pool or an open transaction. Every repository function accepts either. */
export type Db = Kysely<Tables> | Transaction<Tables>;
export type Database = Kysely<Tables>;

interface DatabaseOptions {
  url: string;
  poolMax: number;
  applicationName: string;
  /** The time for which a statement waits for a free or a new connection. */
  connectTimeoutMs?: number;
  /** Shares the connections between tenants (`onBehalfOf`). If absent, requests are served in order of arrival. */
  takeShare?: TakeShare;
  /** Called once with the pool, for metrics. */
  onPool?: (pool: Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'>) => void;
  /** Called when a connection breaks. The pool replaces it by itself. */
  onError: (error: Error) => void;
}

// `bigint` columns contain counts far below 2^53.
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
    // Opening a connection costs a password hash on both sides, so keep idle ones longer than the
    // default of ten seconds.
    idleTimeoutMillis: 300_000,
    // Callers learn within bounded time that the database is gone; Temporal or the client retries.
    connectionTimeoutMillis: connectTimeoutMs,
    idle_in_transaction_session_timeout: 30_000,
    statement_timeout: 60_000,
  });
  // The pool listens only to idle connections. Without this listener, a connection that breaks between two statements
  // of a transaction would end the process. With the listener, the next statement and the transaction fail.
  pool.on('connect', (client) => client.on('error', onError));
  pool.on('error', () => undefined);
  options.onPool?.(pool);
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: takeShare === undefined ? pool : sharedPool(pool, takeShare) }),
  });
}

const CONNECT_TIMEOUT = /^(?:timeout exceeded when trying to connect|Connection terminated due to connection timeout)$/;
/** SQLSTATE of every cancelled statement. Unlike the message, it does not depend on the server's language. */
const STATEMENT_TIMEOUT = '57014';

/**
 * Returns true if the database is too busy or away: there was no connection in time, or the statement took too long.
 * The statement has had no effect.
 */
export function isDatabaseTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return CONNECT_TIMEOUT.test(error.message) || ('code' in error && error.code === STATEMENT_TIMEOUT);
}

// A statement whose text starts with a comment that names it, such as `/* claim_node */`, is parsed and planned once
// for each connection. Every name must always stand for the same text.

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
 * Returns true if PostgreSQL refused a value (SQLSTATE class 22, such as out of range). A retry is useless, because it
 * would refuse the value again.
 */
export function isDataException(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code);
}
