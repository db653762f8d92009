import { createHash } from 'node:crypto';
import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { parseJson } from '../../graph/json-text.js';
import { Hosts, READ_ONLY, ReadOnlyServerError } from './hosts.js';
import type { Tables } from './tables.js';
import type { DatabasePulse } from './pulse.js';
import { sharedPool, type TakeShare } from './tenants.js';
import { isConnectTimeout, isPoolBusy, OpenConnections, watchedPool } from './watched-pool.js';

/** A connection pool or an open transaction. */
export type Db = Kysely<Tables> | Transaction<Tables>;
export type Database = Kysely<Tables>;

interface DatabaseOptions {
  /** May list several hosts. Connections are then opened to the one that takes writes. */
  url: string;
  poolMax: number;
  applicationName: string;
  /** The time for which a statement waits for a free or a new connection. */
  connectTimeoutMs?: number;
  /** Shares the connections between tenants (`onBehalfOf`). If absent, requests are served in order of arrival. */
  takeShare?: TakeShare;
  /** If present, statements fail or wait as soon as PostgreSQL does not answer (`awayPatienceMs`). */
  pulse?: DatabasePulse;
  /** The time for which a statement waits for a PostgreSQL that is away. Default: 0. */
  awayPatienceMs?: number;
  /** Called once with the pool, for metrics. */
  onPool?: (pool: Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'>) => void;
  /** Called when a connection breaks. The pool replaces it by itself. */
  onError: (error: Error) => void;
}

// Every `bigint` that statements return fits into a number: token counts are at most 2^53, and their sums are limited.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text) => Number(text));

types.setTypeParser(pg.types.builtins.JSON, parseJson);

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Each connection sends these settings as a statement, because many poolers refuse them in the startup message. If a
 * process of the service is cut off in the middle of a transaction, its locks are held until PostgreSQL ends the idle
 * transaction, and other processes wait for them.
 */
const SETTINGS = `
  SET statement_timeout = '60s';
  SET idle_in_transaction_session_timeout = '10s';
  SET plan_cache_mode = force_generic_plan;
  SET jit = off`;
/** A replica is read-only, and so is a server whose configuration refuses writes. */
const ABOUT_SERVER = `
  SELECT pg_backend_pid() AS pid, current_setting('transaction_read_only') = 'on' AS "isReadOnly"`;

export function createDatabase(options: DatabaseOptions): Database {
  const { url, poolMax, applicationName, connectTimeoutMs = CONNECT_TIMEOUT_MS, takeShare, pulse, onError } = options;
  const open = new OpenConnections();
  const hosts = new Hosts(url);
  const pool = new pg.Pool({
    Client: clientOf(hosts),
    max: poolMax,
    application_name: applicationName,
    types,
    keepAlive: true,
    // Opening a connection costs a password hash on both sides, so keep idle ones longer than the
    // default of ten seconds.
    idleTimeoutMillis: 300_000,
    // Limits the time until callers learn that the database is away. Temporal or the client of the API then retries.
    connectionTimeoutMillis: connectTimeoutMs,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits it
    onConnect: (client) => {
      open.add(client);
      return prepare(client as HostClient, { hosts, open });
    },
  });
  // The pool listens only to idle connections. Without this listener, a connection that breaks between two statements
  // of a transaction would end the process. With the listener, the next statement and the transaction fail.
  pool.on('connect', (client) => client.on('error', onError));
  pool.on('error', () => undefined);
  options.onPool?.(pool);
  const writing = hosts.count === 1 ? pool : writingPool(pool, hosts);
  const watched = pulse === undefined ? writing : watchedPool(writing, pulse, open, options.awayPatienceMs ?? 0);
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: takeShare === undefined ? watched : sharedPool(watched, takeShare) }),
    ...(pulse && {
      log(event) {
        if (event.level === 'error') pulse.reportError(event.error);
        else pulse.reportAnswer();
      },
    }),
  });
}

async function prepare(client: HostClient, { hosts, open }: { hosts: Hosts; open: OpenConnections }): Promise<void> {
  // Sends all statements in one round trip.
  const answers = (await client.query(`${SETTINGS}; ${ABOUT_SERVER}`)) as unknown as pg.QueryResult[];
  const { pid, isReadOnly } = answers.at(-1)!.rows[0] as { pid: number; isReadOnly: boolean };
  open.identify(client, pid);
  if (!isReadOnly || hosts.count === 1) return;
  hosts.refuse(client.url);
  throw new ReadOnlyServerError();
}

/**
 * Lends connections to the server that takes writes: tries each server once, and closes connections that were opened to
 * a server before it was found to take no writes.
 */
function writingPool(pool: pg.Pool, hosts: Hosts): Pick<pg.Pool, 'end'> & { connect(): Promise<pg.PoolClient> } {
  return {
    async connect() {
      for (let tries = 1; ;) {
        const { url } = hosts;
        try {
          const client = await pool.connect();
          if (!(client as unknown as HostClient).isOutdated()) return client;
          client.release(true);
        } catch (error) {
          // The pool had no free connection, which says nothing about the server.
          if (isPoolBusy(error)) throw error;
          hosts.leave(url);
          if (tries === hosts.count) throw error;
          tries += 1;
        }
      }
    },
    end: () => pool.end(),
  };
}

/** SQLSTATE of every cancelled statement. Unlike the message, it does not depend on the server's language. */
const STATEMENT_TIMEOUT = '57014';

/**
 * Returns true if the database is too busy: there was no connection in time, or the statement took too long. The
 * statement has had no effect. Outages are recognised by `outageOf`.
 */
export function isDatabaseTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return isConnectTimeout(error) || ('code' in error && error.code === STATEMENT_TIMEOUT);
}

/**
 * The limit on prepared statements of a connection. The service has about 800 statements, and each process uses some of
 * them. PostgreSQL needs 65 KiB for each prepared statement, so up to 13 MiB for a connection.
 */
const MOST_PREPARED = 200;
/**
 * A statement with more values inserts many rows, and its text depends on their number, so it is unlikely to be
 * repeated.
 */
const MOST_VALUES = 100;
/**
 * The SQLSTATEs of a prepared statement whose columns have changed by a migration, and of one that the server does not
 * have.
 */
const OUTDATED = ['0A000', '26000'];
const PAGE = /\b(?:limit|offset) \$/i;

interface Prepared {
  name: string;
  isList: boolean;
}

type Query = (...parameters: unknown[]) => Promise<unknown>;

interface Internals {
  connection: pg.Connection & { parsedStatements: Record<string, string> };
}

/**
 * Prepares every statement with 1 to `MOST_VALUES` values under the hash of its text, so that each connection parses
 * and plans it once. Beyond `MOST_PREPARED` statements, closes the least recently used one, on the server too.
 *
 * Statements are planned without their values (`SETTINGS`), except for lists, whose filters and page decide which index
 * is best. PostgreSQL plans a list for its values until a plan for all values is no more expensive.
 */
class PreparingClient extends pg.Client {
  /** The prepared statements by text, in the order of their last use. */
  readonly #prepared = new Map<string, Prepared>();
  readonly #query: Query;

  constructor(config?: pg.ClientConfig) {
    super(config);
    this.#query = this.query.bind(this);
    this.query = ((...parameters: unknown[]) => {
      const [text, values] = parameters;
      return typeof text === 'string' && Array.isArray(values) && values.length > 0 && values.length <= MOST_VALUES
        ? this.#execute(text, values)
        : this.#query(...parameters);
    }) as typeof this.query;
  }

  async #execute(text: string, values: unknown[]): Promise<unknown> {
    const isInTransaction = this.getTransactionStatus() !== 'I';
    try {
      return await this.#send(text, values);
    } catch (error) {
      if (!OUTDATED.includes(String((error as { code?: unknown }).code))) throw error;
      this.#close(text);
      if (isInTransaction) throw error;
      // A retry is safe, because the refused statement had no effect.
      return this.#send(text, values);
    }
  }

  #send(text: string, values: unknown[]): Promise<unknown> {
    const { name, isList } = this.#prepare(text);
    if (!isList) return this.#query({ name, text, values });
    return new Promise((resolve, reject) => {
      const query = new pg.Query({ name, text, values }, (error, result) => (error ? reject(error) : resolve(result)));
      void this.#query(plannedForValues(query));
    });
  }

  #prepare(text: string): Prepared {
    const prepared = this.#prepared.get(text) ?? { name: hashOf(text), isList: isListPage(text) };
    this.#prepared.delete(text);
    this.#prepared.set(text, prepared);
    if (this.#prepared.size > MOST_PREPARED) this.#close(this.#prepared.keys().next().value!);
    return prepared;
  }

  /** Does not wait for an answer, because the server reads the message before the next statement. */
  #close(text: string): void {
    const prepared = this.#prepared.get(text);
    if (prepared === undefined) return;
    this.#prepared.delete(text);
    const { connection } = this as unknown as Internals;
    delete connection.parsedStatements[prepared.name];
    connection.close({ type: 'S', name: prepared.name }, true);
  }
}

/**
 * Returns true for a page of a list, which is a statement with a limit or offset as a parameter. A constant limit that
 * is written with `sql.lit` is no parameter.
 */
export function isListPage(text: string): boolean {
  return PAGE.test(text);
}

interface HostClient extends pg.PoolClient {
  readonly url: string;
  /** Returns true if the server of this connection was found to take no writes after the connection was created. */
  isOutdated: () => boolean;
}

/** Returns a client that connects to the current server, and notices if the server refuses a change. */
function clientOf(hosts: Hosts): typeof pg.Client {
  return class extends PreparingClient {
    readonly url = hosts.url;
    readonly #refusals: number;

    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionString: hosts.url });
      this.#refusals = hosts.refusals(this.url);
      const { connection } = this as unknown as Internals;
      connection.on('errorMessage', ({ code }: { code?: string }) => {
        if (code === READ_ONLY) hosts.refuse(this.url);
      });
    }

    isOutdated(): boolean {
      return hosts.refusals(this.url) > this.#refusals;
    }
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** This statement returns no rows, and its setting ends with the transaction. */
const PLAN_FOR_VALUES = `SELECT FROM set_config('plan_cache_mode', 'auto', true) AS mode WHERE mode IS NULL`;

interface SentQuery {
  submit(connection: pg.Connection): unknown;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
}

/**
 * Sends the setting in the same round trip as the statement, because three round trips make a list 15 % more expensive.
 */
function plannedForValues(query: pg.Query): pg.Query {
  const sent = query as unknown as SentQuery;
  const [submit, complete] = [sent.submit.bind(query), sent.handleCommandComplete.bind(query)];
  let isModeSet = false;
  return Object.assign(query, {
    submit(connection: pg.Connection) {
      connection.stream.cork();
      try {
        connection.parse({ name: '', text: PLAN_FOR_VALUES, types: [] }, true);
        connection.bind({ statement: '' }, true);
        connection.execute({ portal: '' }, true);
        return submit(connection);
      } finally {
        connection.stream.uncork();
      }
    },
    handleCommandComplete(message: unknown, connection: pg.Connection) {
      if (isModeSet) complete(message, connection);
      isModeSet = true;
    },
  });
}

/**
 * Returns true if PostgreSQL refused a value (SQLSTATE class 22, such as out of range). A retry is useless, because
 * PostgreSQL would refuse the value again.
 */
export function isDataException(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code);
}
