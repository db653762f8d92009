// Lends connections only while PostgreSQL answers, and ends the wait of every statement once it does not.
import type { PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { NoConnectionError } from './outage.js';
import type { DatabasePulse, DatabaseState } from './pulse.js';
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

/** The open connections of a pool. */
export class OpenConnections {
  readonly #clients = new Set<pg.ClientBase & { connection: pg.Connection }>();

  add(client: pg.ClientBase): void {
    const open = client as pg.ClientBase & { connection: pg.Connection };
    this.#clients.add(open);
    open.once('end', () => this.#clients.delete(open));
  }

  /** Rejects their statements at once. The pool replaces the connections. */
  cut(): void {
    for (const { connection } of this.#clients) connection.stream.destroy();
  }
}

/**
 * Returns a pool that lends connections only while PostgreSQL answers. A caller waits for that for at most
 * `patienceMs`; then `connect` throws `NoConnectionError`.
 */
export function watchedPool(pool: Pool, pulse: DatabasePulse, open: OpenConnections, patienceMs: number): Pool {
  pulse.watch(() => {
    if (!answers(pulse.state)) open.cut();
  });
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
          pulse.saw(error);
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
