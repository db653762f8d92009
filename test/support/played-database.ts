// A database without a server: a function of the test returns the result of each compiled statement.
import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
} from 'kysely';
import type { Database } from '../../db/core/client.js';
import type { Tables } from '../../db/core/tables.js';

/** Transactions begin and end without effect. */
export function playedDatabase(answer: (query: CompiledQuery) => QueryResult<unknown>): Database {
  const connection: DatabaseConnection = {
    executeQuery: <R>(query: CompiledQuery) => Promise.resolve(answer(query) as QueryResult<R>),
    streamQuery: () => {
      throw new Error('no statement is streamed');
    },
  };
  const nothing = (): Promise<void> => Promise.resolve();
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createDriver: () => ({
        init: nothing,
        acquireConnection: () => Promise.resolve(connection),
        beginTransaction: nothing,
        commitTransaction: nothing,
        rollbackTransaction: nothing,
        releaseConnection: nothing,
        destroy: nothing,
      }),
    },
  });
}
