// Attributes statements to tenants, so that no tenant can use all connections of the pool.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { PostgresPool, PostgresPoolClient } from 'kysely';

interface Work {
  tenant: string;
  connections: number;
}

const works = new AsyncLocalStorage<Work | undefined>();

/** Attributes the statements of `work` to the tenant. */
export function onBehalfOf<T>(tenant: string, work: () => T): T {
  return works.run({ tenant, connections: 0 }, work);
}

/** Runs statements that serve several tenants, or none. */
export function onNobodysBehalf<T>(work: () => T): T {
  return works.run(undefined, work);
}

/** Resolves when the tenant may use one more connection. Call the result to give this share back. */
export type TakeShare = (tenant: string) => Promise<() => void>;

export interface Pool {
  connect(): Promise<PostgresPoolClient>;
  end(): Promise<void>;
}

/**
 * Work that already holds a connection gets more without waiting for a share. Otherwise two pieces of work that hold
 * one could wait for each other forever.
 */
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
        // The pool assigns `release` each time it lends the client.
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
