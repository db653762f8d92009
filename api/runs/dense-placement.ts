// Decides whether a run is executed densely, and with which placements. The node speeds are a few seconds old at most
// and are read without delaying a run.
import { LRUCache } from 'lru-cache';
import { findNodeSpeeds } from '../../db/nodes/node-speeds-repository.js';
import type { Database } from '../../db/core/client.js';
import {
  needsSpeeds,
  placeNodes,
  SPEED_SAMPLE,
  type ForcedPlacements,
  type NodeSpeed,
  type Placement,
} from '../../graph/dense/placement.js';
import { executionSettingOf, isExecution, type Document, type Execution } from '../../graph/document.js';
import { kinds, type NodeKind } from '../../graph/kinds.js';
import type { Plan } from '../../graph/plan.js';
import { ConfigError } from '../../config/environment.js';
import type { Logger } from '../../config/logger.js';

interface RunToPlace {
  workflowId: number;
  drawing: unknown;
  document: Document;
  plan: Plan;
}

export interface DensePlacement {
  /**
   * Returns undefined for visible execution. Never fails: without an answer of the database, all speeds are unknown.
   */
  place(run: RunToPlace): Promise<Placement[] | undefined>;
}

const KEPT_MS = 5_000;
const KEPT_WORKFLOWS = 500;

type Speeds = Map<string, NodeSpeed>;

interface DensePlacementDeps {
  db: Database;
  logger: Logger;
  /** The execution of drawings that do not specify one. */
  execution: Execution;
  forced: ForcedPlacements;
}

/** Throws a sentence that names the variable. */
export function parseForced(placements: Record<string, Placement>): ForcedPlacements {
  for (const kind of Object.keys(placements)) {
    if (Object.hasOwn(kinds, kind) && kinds[kind as NodeKind].isDense) continue;
    const names = Object.keys(kinds).filter((name) => kinds[name as NodeKind].isDense);
    throw new ConfigError(`DENSE_PLACEMENT: "${kind}" cannot be placed, only ${names.join(' and ')}.`);
  }
  return placements;
}

export function createDensePlacement({ db, logger, execution, forced }: DensePlacementDeps): DensePlacement {
  const unknown: Speeds = new Map();
  // One look-up at a time runs for each workflow; until it ends, the last answer is used.
  const speeds = new LRUCache<number, Speeds>({
    max: KEPT_WORKFLOWS,
    ttl: KEPT_MS,
    allowStale: true,
    fetchMethod: (workflowId) => findNodeSpeeds(db, workflowId, SPEED_SAMPLE),
  });

  async function findSpeeds(workflowId: number): Promise<Speeds> {
    try {
      return (await speeds.fetch(workflowId)) ?? unknown;
    } catch (error) {
      logger.warn({ err: error, workflow_id: workflowId }, 'node speeds are not known');
      return unknown;
    }
  }

  return {
    async place({ workflowId, drawing, document, plan }) {
      const setting = executionSettingOf(drawing);
      if ((isExecution(setting) ? setting : execution) === 'visible') return undefined;
      const drawn = new Map(document.nodes.map(({ id, data }) => [id, data]));
      const known = needsSpeeds(plan, forced) ? await findSpeeds(workflowId) : unknown;
      const candidates = { plan, forced, dataOf: (id: string) => drawn.get(id) };
      return placeNodes(candidates, (nodeId) => known.get(nodeId));
    },
  };
}
