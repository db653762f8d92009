// Explains the statements that a repository function sends, with EXPLAIN ANALYZE and the planner settings of the
// service's connections.
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { isListPage, type Database } from '../../db/core/client.js';
import type { Tables } from '../../db/core/tables.js';

interface ExplainedStatement {
  sql: string;
  plan: string[];
  /** The time for planning and execution, in milliseconds. */
  tookMs: number;
}

interface Sent {
  sql: string;
  parameters: readonly unknown[];
}

/** Runs `read` once to warm the cache, once to record its statements, and then explains each of them. */
export async function explainRead(
  url: string,
  read: (db: Database) => Promise<unknown>,
): Promise<ExplainedStatement[]> {
  const sent: Sent[] = [];
  const pool = openPool(url, 1);
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => {
      if (/^\s*(select|with)/i.test(query.sql)) sent.push(query);
    },
  });
  try {
    await read(db);
    sent.length = 0;
    await read(db);
    const explained: ExplainedStatement[] = [];
    for (const { sql, parameters } of sent) {
      await pool.query(`SET plan_cache_mode = ${isListPage(sql) ? 'auto' : 'force_generic_plan'}`);
      await pool.query(`PREPARE explained AS ${sql}`);
      const given = parameters.length === 0 ? '' : `(${parameters.map(toLiteral).join(', ')})`;
      const text = `EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) EXECUTE explained ${given}`;
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(text);
      await pool.query('DEALLOCATE explained');
      const plan = rows.map((row) => row['QUERY PLAN']);
      explained.push({ sql, plan, tookMs: plan.reduce((sum, line) => sum + timeOf(line), 0) });
    }
    return explained;
  } finally {
    await db.destroy();
  }
}

function toLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`;
  if (value instanceof Date) return `'${value.toISOString()}'`;
  if (Array.isArray(value))
    return pg.escapeLiteral(`{${value.map((each) => JSON.stringify(toElement(each))).join(',')}}`);
  return pg.escapeLiteral(typeof value === 'string' ? value : JSON.stringify(value));
}

function toElement(value: unknown): string {
  return Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : String(value);
}

function openPool(url: string, max: number): pg.Pool {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  return new pg.Pool({ connectionString: url, max, types });
}

function timeOf(line: string): number {
  return Number(/^(?:Planning|Execution) Time: ([\d.]+) ms$/.exec(line)?.[1] ?? 0);
}

interface PlanNode {
  Plans?: PlanNode[];
}

/**
 * Returns the number of nodes in the generic plan of each statement that `read` sends, without the nodes of the
 * functions that a statement calls.
 */
export async function countPlanNodes(url: string, read: (db: Database) => Promise<unknown>): Promise<number[]> {
  const sent: Sent[] = [];
  const pool = openPool(url, 2);
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void sent.push(query),
  });
  try {
    await read(db);
    const counted: number[] = [];
    for (const { sql } of sent) {
      const { rows } = await pool.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
        `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${sql}`,
      );
      counted.push(countNodes(rows[0]!['QUERY PLAN'][0]!.Plan));
    }
    return counted;
  } finally {
    await db.destroy();
  }
}

function countNodes({ Plans = [] }: PlanNode): number {
  return Plans.reduce((sum, plan) => sum + countNodes(plan), 1);
}
