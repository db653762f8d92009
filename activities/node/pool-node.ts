// Decides which pool of workers executes a node (docs/operate/pools.md). A worker of the default pool decides before
// the node enters a queue. The worker that takes the node from there checks again, because the project may have another
// pool by then.
import { LRUCache } from 'lru-cache';
import type { EnteredPool, EnterPoolRef } from '../../contract/activities.js';
import type { Db } from '../../db/core/client.js';
import {
  addPoolNodes,
  endWorkerWaits,
  findPoolsOfProject,
  findPoolsOfRun,
} from '../../db/pools/pool-nodes-repository.js';
import { allowedPools, DEFAULT_POOL, type ProjectPools } from '../../graph/pools.js';
import type { NodeKey } from '../../graph/plan.js';
import { runClosedFailure } from './failures.js';

interface PoolDeps {
  db: Db;
  /** The pool of this worker. */
  pool: string;
  /** Null for an unversioned worker. */
  buildId: string | null;
}

interface TakenNodes extends Omit<NodeKey, 'nodeId'> {
  projectId: number;
  nodeIds: readonly string[];
  /** The pool that the nodes name, if they do. */
  named: string | undefined;
  /** The number of the activity's attempt, from 1. */
  attempt: number;
}

export interface PoolNodes {
  enter(ref: EnterPoolRef): Promise<EnteredPool>;
  /**
   * Called by the activity that has taken the nodes. Returns false if they belong to another pool by now; the run then
   * asks again.
   */
  take(nodes: TakenNodes): Promise<boolean>;
}

/** Workers know of a change of the pools of a project after this time at the latest. */
const FRESH_MS = 2_000;

export function createPoolNodes({ db, pool: ownPool, buildId }: PoolDeps): PoolNodes {
  const known = new LRUCache<number, Promise<ProjectPools>>({ max: 10_000, ttl: FRESH_MS });

  function poolsOf(projectId: number): Promise<ProjectPools> {
    let pools = known.get(projectId);
    if (pools === undefined) {
      pools = findPoolsOfProject(db, projectId);
      known.set(projectId, pools);
      pools.catch(() => known.delete(projectId));
    }
    return pools;
  }

  return {
    async enter({ runId, path, nodeId, others = [], pool: named }) {
      const project = await findPoolsOfRun(db, runId);
      if (project === undefined) throw runClosedFailure();
      const pool = poolFor(project, named);
      if (pool === undefined) return { refused: true };
      if (pool === DEFAULT_POOL) return { pool };
      if (!(await addPoolNodes(db, { runId, path }, [nodeId, ...others], { pool, buildId }))) throw runClosedFailure();
      return { pool };
    },
    async take({ runId, path, projectId, nodeIds, named, attempt }) {
      if (poolFor(await poolsOf(projectId), named) !== ownPool) {
        // The cached pools may be older than the decision that sent the nodes here.
        known.delete(projectId);
        if (poolFor(await poolsOf(projectId), named) !== ownPool) return false;
      }
      if (ownPool !== DEFAULT_POOL || attempt > 1) await endWorkerWaits(db, { runId, path }, nodeIds);
      return true;
    },
  };
}

/** Returns undefined if the project does not have the pool that the node names. */
function poolFor(project: ProjectPools, named: string | undefined): string | undefined {
  if (named === undefined) return project.pool ?? DEFAULT_POOL;
  return allowedPools(project).includes(named) ? named : undefined;
}
