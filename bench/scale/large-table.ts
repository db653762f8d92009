// npm run scale -- --rows 10000000: measures readers, writers and vacuum of a large table of node results before, while
// and after it is partitioned (docs/operate/capacity.md).
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { createApiClient } from '../../harness/client/api-client.js';
import type { TimedClient } from '../../harness/client/timed-client.js';
import { OWN_BUILD } from '../../harness/stack/supervisor.js';
import { percentile } from '../statistics.js';
import { clientOf, fiveCalls, runToEnd, type ScaleBed } from './rows.js';

const BATCH_RUNS = 50_000;
const READS = 300;
const SHARE_CHANGED = 0.01;
const ROWS_A_RUN = 6;
/** As many as `admin database partition` creates by default. */
const PARTITIONS = 16;

/** Prints a line for each figure. */
export async function measureLargeTable(bed: ScaleBed, rows: number, print: (line: string) => void): Promise<void> {
  const { stack, target } = bed;
  const db = new pg.Client({ connectionString: stack.stack.database_url });
  await db.connect();
  const client = clientOf(stack.apiUrl, bed);
  try {
    const api = createApiClient(stack.apiUrl, bed.apiKey);
    const workflow = await api.createWorkflow(await api.createProject(), fiveCalls(target));
    await runToEnd(client, workflow);
    const seconds = await timed(() => seed(db, workflow, Math.ceil(rows / ROWS_A_RUN)));
    print(`${(await count(db)).toLocaleString('en')} rows, seeded in ${seconds.toFixed(0)} s`);
    const runIds = await someRuns(db);
    print(`before: ${await figures(db, client, runIds)}`);
    const during = startLoad(client, runIds, workflow);
    const admin = [path.join(OWN_BUILD, 'cli/admin.js'), 'database', 'partition', '--into', String(PARTITIONS)];
    const env = { ...process.env, DATA_DIR: stack.dataDir };
    const { stdout } = await promisify(execFile)(process.execPath, admin, { env });
    const { polls, runs } = await during.end();
    print(`partitioned: ${stdout.trim()}`);
    print(`meanwhile: ${polls.length} polls, p50 ${ms(polls, 0.5)}, the slowest ${ms(polls, 1)}`);
    print(`meanwhile: ${runs.length} runs of five calls, p50 ${ms(runs, 0.5)}, the slowest ${ms(runs, 1)}`);
    print(`after: ${await figures(db, client, runIds)}`);
  } finally {
    await client.close();
    await db.end();
  }
}

/** Copies the only run of the workflow. Triggers and foreign keys are off, because they would take an hour. */
async function seed(db: pg.Client, workflow: number, runs: number): Promise<void> {
  await db.query('SET session_replication_role = replica');
  await db.query('CREATE TEMP TABLE model AS SELECT * FROM runs WHERE workflow_id = $1', [workflow]);
  const others = await columnsOf(db, 'runs', ['id']);
  const ofNode = await columnsOf(db, 'node_results', ['run_id']);
  for (let seeded = 0; seeded < runs; seeded += BATCH_RUNS) {
    const batch = Math.min(BATCH_RUNS, runs - seeded);
    await db.query('BEGIN');
    await db.query(`CREATE TEMP TABLE made ON COMMIT DROP AS
      SELECT gen_random_uuid() AS made_id, model.id AS model_id FROM model, generate_series(1, ${batch})`);
    await db.query(`INSERT INTO runs (id, ${others}) SELECT made_id, ${others} FROM made JOIN model ON id = model_id`);
    await db.query(`INSERT INTO node_results (run_id, ${ofNode})
      SELECT made_id, ${ofNode} FROM made JOIN node_results ON run_id = model_id`);
    await db.query('COMMIT');
  }
  await db.query('SET session_replication_role = origin');
  await db.query('VACUUM (ANALYZE) runs, node_results');
}

async function columnsOf(db: pg.Client, table: string, without: string[]): Promise<string> {
  const { rows } = await db.query<{ list: string }>(
    `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS list FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attname <> ALL ($2)`,
    [table, without],
  );
  return rows[0]!.list;
}

async function count(db: pg.Client): Promise<number> {
  const { rows } = await db.query<{ count: number }>('SELECT count(*)::integer AS count FROM node_results');
  return rows[0]!.count;
}

async function someRuns(db: pg.Client): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>('SELECT id FROM runs TABLESAMPLE BERNOULLI (5) LIMIT 1000');
  return rows.map(({ id }) => id);
}

/**
 * Returns the time of polls, the size of table and indexes, and the time of a vacuum after the rows of 1 % of the runs
 * have changed.
 */
async function figures(db: pg.Client, client: TimedClient, runIds: readonly string[]): Promise<string> {
  const polls: number[] = [];
  for (let read = 0; read < READS; read++) polls.push(await poll(client, runIds[read % runIds.length]!));
  const { rows } = await db.query<{ table: string; indexes: string; largest: string }>(`
    SELECT pg_size_pretty(sum(pg_table_size(id))) AS table, pg_size_pretty(sum(pg_indexes_size(id))) AS indexes,
      pg_size_pretty(max(pg_indexes_size(id))) AS largest
    FROM (
      SELECT coalesce(part.inhrelid, whole.oid) AS id FROM pg_class AS whole
      LEFT JOIN pg_inherits AS part ON part.inhparent = whole.oid WHERE whole.oid = 'node_results'::regclass
    ) AS parts`);
  await db.query(`UPDATE node_results SET queued_ms = queued_ms + 1
    WHERE run_id IN (SELECT id FROM runs TABLESAMPLE BERNOULLI (${100 * SHARE_CHANGED}))`);
  const vacuumed = await timed(() => db.query('VACUUM node_results'));
  const { table, indexes, largest } = rows[0]!;
  return (
    `polls p50 ${ms(polls, 0.5)}, p99 ${ms(polls, 0.99)}; table ${table}, indexes ${indexes}, ` +
    `those of the largest part ${largest}; vacuum of ${100 * SHARE_CHANGED} % in ${vacuumed.toFixed(1)} s`
  );
}

async function poll(client: TimedClient, runId: string): Promise<number> {
  return (await client.send('GET', `/workflows/workflow_result/?id=${runId}`)).totalMs;
}

/** Repeats polls in one loop and runs in another, until `end` is called. `end` returns their times in milliseconds. */
function startLoad(
  client: TimedClient,
  runIds: readonly string[],
  workflow: number,
): { end(): Promise<{ polls: number[]; runs: number[] }> } {
  const over = new AbortController();
  const repeat = async (once: (turn: number) => Promise<number>): Promise<number[]> => {
    const times: number[] = [];
    for (let turn = 0; !over.signal.aborted; turn++) times.push(await once(turn));
    return times;
  };
  const all = Promise.all([
    repeat((turn) => poll(client, runIds[turn % runIds.length]!)),
    repeat(async () => 1000 * (await timed(() => runToEnd(client, workflow)))),
  ]);
  return {
    async end() {
      over.abort();
      const [polls, runs] = await all;
      return { polls, runs };
    },
  };
}

/** Returns the seconds that the work took. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

function ms(times: readonly number[], share: number): string {
  return `${percentile([...times], share).toFixed(1)} ms`;
}
