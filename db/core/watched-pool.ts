// Lends connections only while PostgreSQL answers, and ends the waits of all statements when it stops answering.
import type { PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { NoConnectionError } from './outage.js';
import type { DatabasePulse, DatabaseState, SuspectConnections } from './pulse.js';
import { sleep } from './sleep.js';
import type { Pool } from './tenants.js';

const TRY_AGAIN_MS = 250;

/** Returns true if all connections of the pool were in use for too long. */
export function isPoolBusy(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect';
}

/** Returns true if there was no connection in time: all were in use, or the server was slow to give one. */
export function isConnectTimeout(error: unknown): boolean {
  const isSlow = error instanceof Error && error.message === 'Connection terminated due to connection timeout';
  return isSlow || isPoolBusy(error);
}

type OpenClient = pg.ClientBase & { connection: pg.Connection; processID: number };

/** The statement that a connection waits for. */
interface Wait {
  query: unknown;
  sinceMs: number;
  /** The number of times in a row that the server was not executing the statement. */
  timesOver: number;
  /**
   * The number of bytes of the statement that the kernel has not taken yet. The wait begins anew when the number
   * changes, because the server is idle until it has the whole statement.
   */
  unsent: number;
}

const SUSPECT_AFTER_MS = 5_000;
/** Twice, because an answer may be on its way when the server is asked. */
const TIMES_OVER = 2;

/** The open connections of a pool. */
export class OpenConnections implements SuspectConnections {
  readonly #clients = new Set<OpenClient>();
  /**
   * Contains no connections through a pooler: a pooler reports another process id than the server's, so
   * `pg_stat_activity` cannot be asked about them.
   */
  readonly #waits = new Map<OpenClient, Wait>();

  add(client: pg.ClientBase): void {
    const open = client as OpenClient;
    this.#clients.add(open);
    open.once('end', () => {
      this.#clients.delete(open);
      this.#waits.delete(open);
    });
  }

  /** `pid` is the process id that the server itself reports for the connection (`pg_backend_pid`). */
  identify(client: pg.ClientBase, pid: number): void {
    const open = client as OpenClient;
    if (open.processID === pid) this.#waits.set(open, { query: null, sinceMs: 0, timesOver: 0, unsent: 0 });
  }

  /** Closes all connections, so that their statements fail at once. The pool opens new ones. */
  cut(): void {
    for (const { connection } of this.#clients) connection.stream.destroy();
  }

  waiting(): number[] {
    const now = performance.now();
    const pids: number[] = [];
    for (const [client, wait] of this.#waits) {
      const [query, unsent] = [statementOf(client), unsentBytesOf(client)];
      if (query !== wait.query || unsent !== wait.unsent)
        Object.assign(wait, { query, unsent, sinceMs: now, timesOver: 0 });
      else if (query !== null && now - wait.sinceMs >= SUSPECT_AFTER_MS) pids.push(client.processID);
    }
    return pids;
  }

  cutIfOver(asked: readonly number[], busy: readonly number[]): void {
    for (const [client, wait] of this.#waits) {
      if (!asked.includes(client.processID) || statementOf(client) !== wait.query) continue;
      if (busy.includes(client.processID)) Object.assign(wait, { sinceMs: performance.now(), timesOver: 0 });
      else if ((wait.timesOver += 1) >= TIMES_OVER) client.connection.stream.destroy();
    }
  }
}

/** Returns the statement that the connection waits for, or null. */
function statementOf(client: OpenClient): unknown {
  // The public name is deprecated, and has no successor.
  return (client as unknown as Record<'_activeQuery', unknown>)['_activeQuery'];
}

/** Node.js has no public property for these bytes: `writableLength` stays the same until a whole write is over. */
function unsentBytesOf({ connection }: OpenClient): number {
  const { _handle: handle } = connection.stream as unknown as Record<'_handle', { writeQueueSize: number } | null>;
  return handle?.writeQueueSize ?? 0;
}

/**
 * Returns a pool that lends connections only while PostgreSQL answers. If it does not answer, a caller waits for up to
 * `patienceMs`; then `connect` throws `NoConnectionError`.
 */
export function watchedPool(pool: Pool, pulse: DatabasePulse, open: OpenConnections, patienceMs: number): Pool {
  pulse.watch(() => {
    if (!answers(pulse.state)) open.cut();
  });
  pulse.watchConnections(open);
  return {
    async connect() {
      const untilMs = performance.now() + patienceMs;
      for (;;) {
        await pulse.until(answers, untilMs - performance.now());
        if (!answers(pulse.state)) throw new NoConnectionError();
        try {
          return await whileItAnswers(pool.connect(), pulse);
        } catch (error) {
          if (isConnectTimeout(error)) throw error;
          pulse.reportError(error);
          if (performance.now() + TRY_AGAIN_MS > untilMs) throw new NoConnectionError(error);
          await sleep(TRY_AGAIN_MS);
        }
      }
    },
    end: () => pool.end(),
  };
}

function answers(state: DatabaseState): boolean {
  return state !== 'no answer';
}

/** Rejects when PostgreSQL no longer answers. A connection that comes later goes back to the pool. */
async function whileItAnswers(
  connecting: Promise<PostgresPoolClient>,
  pulse: DatabasePulse,
): Promise<PostgresPoolClient> {
  let unwatch: (() => void) | undefined;
  const away = new Promise<never>((_resolve, reject) => {
    unwatch = pulse.watch(() => {
      if (!answers(pulse.state)) reject(new NoConnectionError());
    });
  });
  try {
    return await Promise.race([connecting, away]);
  } catch (error) {
    connecting.then(
      (client) => client.release(),
      () => undefined,
    );
    throw error;
  } finally {
    unwatch?.();
  }
}
