// A database that describes statements instead of executing them.
import { isDeepStrictEqual } from 'node:util';
import {
  DefaultQueryExecutor,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresQueryCompiler,
  type CompiledQuery,
  type QueryResult,
} from 'kysely';
import pg from 'pg';
import { isListPage, type Database } from '../../../db/core/client.js';
import type { Tables } from '../../../db/core/tables.js';
import { avoidScans, lostIndexes } from './lost-indexes.js';

interface Column {
  name: string;
  /** The name of its type in PostgreSQL; that of an array ends with `[]`. */
  type: string;
}

export interface Described {
  text: string;
  /** The stack of the call that would execute the statement. */
  stack: string;
  columns: Column[];
}

export interface DescribedDatabase {
  db: Database;
  /** Returns the statements that `work` would execute. `answer` invents the rows that a statement seems to return. */
  describe(work: () => Promise<unknown>, answer: (statement: Described) => object[]): Promise<Described[]>;
  /**
   * Returns the described statements that lose an index if they are planned without values. Pages of lists are
   * excluded.
   */
  losingIndexes(): Promise<string[]>;
  /** Executes `change`, and returns the described statements whose columns have changed by it. */
  changedBy(change: string): Promise<string[]>;
  /** The server's error messages for statements that it refused. */
  refusals: Set<string>;
  close(): Promise<void>;
}

/** The limit ends a loop that reads until there are no more rows. */
const MOST_STATEMENTS = 40;
/** The number of stored samples of a statement's values. */
const MOST_SAMPLES = 4;

export async function describeDatabase(url: string): Promise<DescribedDatabase> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows: types } = await client.query<{ oid: number; name: string }>(`
    SELECT type.oid::integer, coalesce(element.typname || '[]', type.typname) AS name
    FROM pg_type AS type LEFT JOIN pg_type AS element ON element.oid = type.typelem AND type.typcategory = 'A'`);
  const nameOf = new Map(types.map(({ oid, name }) => [oid, name]));
  const known = new Map<string, Promise<Column[]>>();
  const samples = new Map<string, (readonly unknown[])[]>();
  const refusals = new Set<string>();
  let underWay: { described: Described[]; answer: (statement: Described) => object[] } | undefined;

  const columnsOf = (text: string): Promise<Column[]> => {
    const columns = known.get(text) ?? readColumns(client, text, nameOf);
    known.set(text, columns);
    return columns;
  };

  async function perform({ sql: text, parameters }: CompiledQuery, stack: string): Promise<QueryResult<unknown>> {
    if (underWay === undefined) throw new Error('nothing is described now');
    const { described, answer } = underWay;
    if (described.length >= MOST_STATEMENTS) throw new Error('enough statements');
    const columns = await columnsOf(text).catch((error: Error) => {
      refusals.add(error.message);
      throw error;
    });
    if (parameters.length > 0) samples.set(text, [...(samples.get(text) ?? []), parameters].slice(-MOST_SAMPLES));
    const statement = { text, stack, columns };
    described.push(statement);
    const rows = answer(statement);
    return { rows, numAffectedRows: BigInt(rows.length) };
  }

  // Overrides the method of the base class until `close`.
  DefaultQueryExecutor.prototype.executeQuery = function <R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { stack = '' } = new Error('here');
    return perform(query, stack) as Promise<QueryResult<R>>;
  };

  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: () => {
        throw new Error('not needed');
      },
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return {
    db,
    refusals,
    async describe(work, answer) {
      const described: Described[] = [];
      underWay = { described, answer };
      // The answers are invented, so the functions may throw.
      await work().catch(() => undefined);
      underWay = undefined;
      return described;
    },
    async losingIndexes() {
      await avoidScans(client);
      const losing: string[] = [];
      for (const [text, values] of samples) {
        if (isListPage(text)) continue;
        const lost = await lostIndexes(client, text, values).catch((error: Error) => [error.message]);
        if (lost.length > 0) losing.push(`${lost.join(', ')}: ${text}`);
      }
      return losing;
    },
    async changedBy(change) {
      const before = [...known];
      const earlier = await Promise.allSettled(before.map(([, columns]) => columns));
      await client.query(change);
      const changed: string[] = [];
      for (const [at, [text]] of before.entries()) {
        const columns = earlier[at]!;
        if (columns.status === 'rejected') continue;
        if (!isDeepStrictEqual(await readColumns(client, text, nameOf), columns.value)) changed.push(text);
      }
      return changed;
    },
    async close() {
      Reflect.deleteProperty(DefaultQueryExecutor.prototype, 'executeQuery');
      await client.end();
    },
  };
}

/** Has the server parse and analyse the text. Returns the columns of its result. */
function readColumns(client: pg.Client, text: string, nameOf: ReadonlyMap<number, string>): Promise<Column[]> {
  return new Promise((resolve, reject) => {
    let fields: pg.FieldDef[] = [];
    const submittable = {
      submit(connection: pg.Connection) {
        connection.parse({ name: '', text, types: [] }, true);
        connection.describe({ type: 'S', name: '' }, true);
        connection.sync();
      },
      handleRowDescription: (message: { fields: pg.FieldDef[] }) => (fields = message.fields),
      handleReadyForQuery: () =>
        resolve(fields.map(({ name, dataTypeID }) => ({ name, type: nameOf.get(dataTypeID) ?? String(dataTypeID) }))),
      handleError: ({ message }: Error) => reject(new Error(`${message}\n${text}`)),
    };
    client.query(submittable as unknown as pg.Submittable);
  });
}
