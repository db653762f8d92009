// Measures what a run of five HTTP nodes costs: processor time of each part, and bytes in PostgreSQL's tables, in its
// WAL and in Temporal's store.
import { statSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { createApiClient } from '../../harness/client/api-client.js';
import { cpuBetween, cpuOf, ofEachPart, type CpuSeconds } from '../processes.js';
import { clientOf, fiveCalls, runToEnd, type ScaleBed } from './rows.js';

const WARM_UP_RUNS = 300;
const RUNS = 1_000;
const AT_ONCE = 10;

export interface RunCost {
  /** Milliseconds of processor time. */
  cpuMs: CpuSeconds;
  /** The bytes that a run adds to each table and its indexes, the largest first. */
  tables: { name: string; bytes: number }[];
  /** Bytes of WAL. */
  wal: number;
  /** Bytes in Temporal's store. */
  temporal: number;
}

export async function measureRun(bed: ScaleBed): Promise<RunCost> {
  const { stack, target } = bed;
  const api = createApiClient(stack.apiUrl, bed.apiKey);
  const workflow = await api.createWorkflow(await api.createProject(), fiveCalls(target));
  const client = clientOf(stack.apiUrl, bed);
  const once = (): Promise<void> => runToEnd(client, workflow);
  const { worker = 0, api: apiPid = 0, temporal = 0, postgres = 0 } = stack.stack.pids;
  const pids = { worker, api: apiPid, temporal, postgres };
  const execute = async (runs: number): Promise<void> => {
    const lane = async (): Promise<void> => {
      for (let run = 0; run < runs / AT_ONCE; run++) await once();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  };
  await execute(WARM_UP_RUNS);
  const [before, cpuBefore] = [await sizesOf(bed), cpuOf(pids)];
  await execute(RUNS);
  const [cpuAfter, after] = [cpuOf(pids), await sizesOf(bed)];
  await client.close();
  const spent = cpuBetween(cpuBefore, cpuAfter);
  const tables = [...after.tables]
    .map(([name, bytes]) => ({ name, bytes: (bytes - (before.tables.get(name) ?? 0)) / RUNS }))
    .filter(({ bytes }) => bytes > 0)
    .toSorted((a, b) => b.bytes - a.bytes);
  const cpuMs = ofEachPart((part) => (1000 * spent[part]) / RUNS);
  return { cpuMs, tables, wal: (after.wal - before.wal) / RUNS, temporal: (after.temporal - before.temporal) / RUNS };
}

async function sizesOf({ stack }: ScaleBed): Promise<{ tables: Map<string, number>; wal: number; temporal: number }> {
  const client = new pg.Client({ connectionString: stack.stack.database_url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; bytes: number }>(`
      SELECT relname AS name, pg_total_relation_size(oid)::float8 AS bytes FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`);
    const log = await client.query<{ bytes: number }>(
      "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes",
    );
    const store = path.join(stack.dataDir, 'temporal.db');
    const sizes = [store, `${store}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
    return {
      tables: new Map(rows.map(({ name, bytes }) => [name, bytes])),
      wal: log.rows[0]!.bytes,
      temporal: sizes.reduce((sum, size) => sum + size, 0),
    };
  } finally {
    await client.end();
  }
}
