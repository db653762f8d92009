// Measures the memory of processes, and the backlog of the task queues.
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import pg from 'pg';
import { rssMiB } from '../../harness/processes/figures.js';
import type { LoadStack } from './stack.js';
import { collectGarbage } from '../../harness/processes/collect-garbage.js';

export interface Weight {
  apiRssMiB: number;
  apiHeapMiB: number;
  workerRssMiB: number;
  workerHeapMiB: number;
}

export interface Peaks extends Weight {
  databaseConnections: number;
  backlog: number;
}

const MIB = 1024 * 1024;
const SAMPLE_EVERY_MS = 250;

export async function weigh(stack: LoadStack): Promise<Weight> {
  const { pids, api_url: apiUrl } = stack.stack;
  return {
    apiRssMiB: rssMiB(pids.api),
    apiHeapMiB: await heapMiB(`${apiUrl}/metrics`),
    workerRssMiB: rssMiB(pids.worker),
    workerHeapMiB: await heapMiB(stack.workerMetricsUrl),
  };
}

/** Measures after a garbage collection, because garbage that has not been collected is not a leak. */
export async function weighSettled(stack: LoadStack, settleMs = 10_000): Promise<Weight> {
  await pause(settleMs);
  for (const part of ['api', 'worker'] as const) {
    const pid = stack.stack.pids[part];
    if (pid !== undefined) await collectGarbage(pid, path.join(stack.dataDir, 'logs', `${part}.log`));
  }
  return weigh(stack);
}

/** Samples until `end` is called. A process that does not run at the moment counts as 0. */
export function watchPeaks(stack: LoadStack): { end(): Promise<Peaks> } {
  const peaks: Peaks = {
    apiRssMiB: 0,
    apiHeapMiB: 0,
    workerRssMiB: 0,
    workerHeapMiB: 0,
    databaseConnections: 0,
    backlog: 0,
  };
  const over = new AbortController();
  const watch = async (): Promise<void> => {
    for (let round = 0; !over.signal.aborted; round += 1) {
      const sample: Partial<Peaks> = await sampleOf(stack, round % 8 === 0).catch(() => ({}));
      for (const name of Object.keys(sample) as (keyof Peaks)[]) peaks[name] = Math.max(peaks[name], sample[name] ?? 0);
      await pause(SAMPLE_EVERY_MS);
    }
  };
  const watching = watch();
  return {
    async end() {
      over.abort();
      await watching;
      return peaks;
    },
  };
}

/**
 * Each sample reads sizes from the kernel. Only thorough ones send requests, which cost the measured processes time.
 */
async function sampleOf(stack: LoadStack, isThorough: boolean): Promise<Partial<Peaks>> {
  const { pids } = stack.stack;
  const rss = { apiRssMiB: rssMiB(pids.api), workerRssMiB: rssMiB(pids.worker) };
  if (!isThorough) return rss;
  const [weight, databaseConnections, backlog] = await Promise.all([
    weigh(stack).catch(() => rss),
    countConnections(stack).catch(() => 0),
    backlogOf(stack).catch(() => 0),
  ]);
  return { ...weight, databaseConnections, backlog };
}

async function heapMiB(url: string): Promise<number> {
  const text = await (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text();
  return Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(text)?.[1]) / MIB;
}

async function countConnections({ stack }: LoadStack): Promise<number> {
  const client = new pg.Client({ connectionString: stack.database_url });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: string }>(
      `SELECT count(*) FROM pg_stat_activity WHERE application_name IN ('api', 'worker')`,
    );
    return Number(rows[0]?.count);
  } finally {
    await client.end();
  }
}

const WORKFLOWS = 1;
const ACTIVITIES = 2;

/** Returns the number of tasks that no worker has taken yet. */
async function backlogOf({ stack }: LoadStack): Promise<number> {
  const connection = await Connection.connect({ address: stack.temporal_address, connectTimeout: 2_000 });
  try {
    const counts = [WORKFLOWS, ACTIVITIES].map(async (taskQueueType) => {
      const answer = await connection.workflowService.describeTaskQueue({
        namespace: stack.temporal_namespace,
        taskQueue: { name: 'workflow-runs' },
        taskQueueType,
        reportStats: true,
      });
      return Number(answer.stats?.approximateBacklogCount ?? 0);
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  } finally {
    await connection.close();
  }
}
