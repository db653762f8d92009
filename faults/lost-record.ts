// Locks rows from outside the service, so that an update waits, and is lost if the process that sent it is killed and
// its database connection is ended.
import pg from 'pg';
import { eventually } from '../harness/timing/eventually.js';
import { partsReplaced } from './parts.js';
import type { Stage } from './stage.js';
import type { World } from './world.js';

/** The time limit for an event that must occur under load. */
const WITHIN = { timeoutMs: 30_000, intervalMs: 20 };

/** The key of a row of `node_results`, which is a node or an iteration of a loop. */
interface RowPlace {
  runId: string;
  path?: string;
  nodeId: string;
}

/**
 * Locks the node's row and calls `release`, which lets the node's call be answered. The update with the result then
 * waits for the lock, which shows that the answer has arrived. Then kills the worker and ends its database connection,
 * because PostgreSQL would otherwise still execute the waiting statement.
 */
export async function loseRecord(stage: Stage, place: RowPlace, release: () => void = () => undefined): Promise<void> {
  const { world } = stage;
  const lock = await lockNode(world, place);
  try {
    release();
    await eventually(async () => (await lock.waiting()).length > 0, WITHIN);
    await stage.hit(
      { what: 'kill -9 of the worker before its record', cuts: 'calls', apiDown: false, ends: ['worker'] },
      async () => {
        const pids = { ...world.stack.stack.pids };
        process.kill(pids.worker!, 'SIGKILL');
        for (const pid of await lock.waiting()) await world.query('SELECT pg_terminate_backend($1)', [pid]);
        await eventually(async () => (await lock.waiting()).length === 0);
        await lock.release();
        await partsReplaced(world, ['worker'], pids);
      },
    );
  } finally {
    await lock.release();
  }
}

async function lockNode(world: World, { runId, path = '', nodeId }: RowPlace): Promise<RowLock> {
  const isNode = 'run_id = $1 AND path = $2 AND node_id = $3';
  const key = [runId, path, nodeId];
  // The node has a row only after the run has reached it and its first attempt has claimed it.
  const isMarked = `SELECT FROM node_results WHERE ${isNode}`;
  await eventually(async () => (await world.query(isMarked, key)).length === 1, WITHIN);
  const lock = await lockRow(world, `SELECT status FROM node_results WHERE ${isNode} FOR UPDATE`, key);
  if (lock.row['status'] === 'in progress') return lock;
  await lock.release();
  throw new Error(`the fault came too late: the node is ${String(lock.row['status'])}`);
}

interface RowLock {
  row: Record<string, unknown>;
  /** Returns the ids of PostgreSQL's processes that wait for the lock. */
  waiting: () => Promise<number[]>;
  release: () => Promise<void>;
}

/** Locks the row that `text` selects FOR UPDATE until the release. */
export async function lockRow(world: World, text: string, values: unknown[]): Promise<RowLock> {
  const client = new pg.Client({ connectionString: world.stack.stack.database_url });
  await client.connect();
  await client.query('BEGIN');
  const { rows: own } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const { rows } = await client.query<Record<string, unknown>>(text, values);
  let released: Promise<void> | undefined;
  return {
    row: rows[0] ?? {},
    async waiting() {
      const blocked = 'SELECT pid FROM pg_stat_activity WHERE $1::integer = ANY(pg_blocking_pids(pid))';
      return (await world.query<{ pid: number }>(blocked, [own[0]!.pid])).map(({ pid }) => pid);
    },
    release: () => (released ??= client.end()),
  };
}
