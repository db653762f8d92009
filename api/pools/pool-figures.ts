// Reads the figures of the pools from the database. The queue of the default pool is read from Temporal, because nodes
// enter that queue without a row in the database; if Temporal does not answer, the queue counts as empty.
import type { Client } from '@temporalio/client';
import { bounded } from '../../acceptance/bounded-call.js';
import type { Db } from '../../db/core/client.js';
import { readPools, type PoolFigures } from '../../db/pools/pool-nodes-repository.js';
import { DEFAULT_POOL } from '../../graph/pools.js';
import type { Logger } from '../../telemetry/logger.js';

export type ReadPools = () => Promise<PoolFigures[]>;

interface Deps {
  db: Db;
  temporal: Client;
  logger: Logger;
  taskQueue: string;
}

type Queue = Pick<PoolFigures, 'backlog' | 'oldestSeconds'>;

const ASK_FOR_MS = 1_000;
const WORKFLOWS = 1; // temporal.api.enums.v1.TaskQueueType
const ACTIVITIES = 2;

export function createPoolFigures({ db, temporal, logger, taskQueue }: Deps): ReadPools {
  const ask = async (taskQueueType: number): Promise<Queue> => {
    const { namespace } = temporal.options;
    const request = { namespace, taskQueue: { name: taskQueue }, taskQueueType, reportStats: true };
    const { stats } = await bounded(temporal, () => temporal.workflowService.describeTaskQueue(request), ASK_FOR_MS);
    const backlog = Number(stats?.approximateBacklogCount ?? 0);
    return { backlog, oldestSeconds: backlog === 0 ? 0 : Number(stats?.approximateBacklogAge?.seconds ?? 0) };
  };
  return async () => {
    const [pools, ...queues] = await Promise.all([
      readPools(db),
      ...[WORKFLOWS, ACTIVITIES].map((type) =>
        ask(type).catch((error: unknown) => {
          logger.debug({ err: error }, 'Temporal does not say what waits in the queue of the default pool');
          return { backlog: 0, oldestSeconds: 0 };
        }),
      ),
    ]);
    return pools.map((pool) => (pool.name === DEFAULT_POOL ? withQueues(pool, queues) : pool));
  };
}

/** A node that waits for a worker may also be in the queue, so the larger number counts. */
function withQueues(pool: PoolFigures, queues: readonly Queue[]): PoolFigures {
  const queued = queues.reduce((sum, { backlog }) => sum + backlog, 0);
  return {
    ...pool,
    backlog: Math.max(pool.backlog, queued),
    oldestSeconds: Math.max(pool.oldestSeconds, ...queues.map(({ oldestSeconds }) => oldestSeconds)),
  };
}
