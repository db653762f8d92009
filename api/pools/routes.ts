// Pools of workers (docs/operate/pools.md).
import { z } from 'zod';
import { routesOf, type Route } from '../http/route.js';
import type { PoolDeps } from './deps.js';

const defineRoute = routesOf<PoolDeps>();

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/pools/',
  summary: 'Lists the pools of workers, for administrators.',
  description:
    'The default pool, and those that have a worker, that a project names, or in which something waits. `backlog` is what ' +
    'no worker has taken yet.',
  isForAdministrators: true,
  responses: {
    200: z.array(
      z.object({
        name: z.string(),
        workers: z.int().describe('Workers that have reported within the last 15 seconds'),
        build_ids: z.array(z.string()).describe('Of versioned workers'),
        backlog: z.int(),
        oldest_seconds: z.number().describe('For how long the first of the backlog has been due'),
      }),
    ),
  },
  async handler({ deps }) {
    const pools = await deps.readPools();
    return {
      status: 200,
      body: pools.map(({ name, workers, buildIds, backlog, oldestSeconds }) => {
        return { name, workers, build_ids: buildIds, backlog, oldest_seconds: Math.round(oldestSeconds * 10) / 10 };
      }),
    };
  },
});

export const poolRoutes: Route<PoolDeps>[] = [list];
