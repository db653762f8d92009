// Pools of workers (docs/operate/pools.md). The run workflow imports this file, so it imports nothing.

/**
 * The pool of workers that have no `WORKER_POOL`, and of projects without a pool of their own. Only its workers execute
 * inline nodes and the end of a scope (`stretchInPool`).
 */
export const DEFAULT_POOL = 'default';

export const POOL_NAME = /^[a-z0-9-]{1,40}$/;

/** Returns the task queue of a pool. `taskQueue` is that of the default pool. */
export function queueOfPool(taskQueue: string, pool: string): string {
  return pool === DEFAULT_POOL ? taskQueue : `${taskQueue}.${pool}`;
}

export interface ProjectPools {
  /** The pool whose workers execute the project's nodes; null is the default pool. */
  pool: string | null;
  /** The other pools that nodes of the project may name. */
  pools: string[];
}

/** Returns the pools that nodes of the project may name, its own pool first. */
export function allowedPools({ pool, pools }: ProjectPools): string[] {
  return [...new Set([pool ?? DEFAULT_POOL, ...pools])];
}

/** True if a node of the plan names a pool, or `pool`, the pool of the project, is not the default one. */
export function hasPools({ pools }: { pools?: object }, pool: string | null): boolean {
  return pools !== undefined || (pool ?? DEFAULT_POOL) !== DEFAULT_POOL;
}
