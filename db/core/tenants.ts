// For whom statements are executed. A tenant may not have all connections of the pool.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { PostgresPool, PostgresPoolClient } from 'kysely';

interface Work {
  tenant: string;
  /** The connections that the work has now. */
  connections: number;
}

const works = new AsyncLocalStorage<Work | undefined>();

/** The statements of `work` count for the tenant. */
export function onBehalfOf<T>(tenant: string, work: () => T): T {
  return works.run({ tenant, connections: 0 }, work);
}

/** The statements of `work` are for several tenants, or for none. */
export function onNobodysBehalf<T>(work: () => T): T {
  return works.run(undefined, work);
}

/** Resolves when the tenant may have one connection more; the result gives it back. */
export type TakeShare = (tenant: string) => Promise<() => void>;

interface Pool {
  connect(): Promise<PostgresPoolClient>;
  end(): Promise<void>;
}

/** A work that has a connection waits for no share of a further one: two such works could wait for each other. */
export function sharedPool(pool: Pool, take: TakeShare): PostgresPool {
  return {
    async connect() {
      const work = works.getStore();
      if (work === undefined || work.connections > 0) return pool.connect();
      const giveBack = await take(work.tenant);
      try {
        const client = await pool.connect();
        work.connections += 1;
        const release = client.release.bind(client);
        // The pool sets the method anew each time.
        client.release = () => {
          work.connections -= 1;
          release();
          giveBack();
        };
        return client;
      } catch (error) {
        giveBack();
        throw error;
      }
    },
    end: () => pool.end(),
  };
}
