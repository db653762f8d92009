// Node speeds as run acceptance needs them: seconds old at most, and never in the way of a run.
import { LRUCache } from 'lru-cache';
import { findNodeSpeeds } from '../../db/nodes/node-speeds-repository.js';
import type { Database } from '../../db/core/client.js';
import type { Document } from '../../graph/document.js';
import { needsSpeeds, placeNodes, SPEED_SAMPLE, type ForcedPlacements, type NodeSpeed } from '../../graph/placement.js';
import type { Plan } from '../../graph/plan.js';
import type { Logger } from '../../config/logger.js';

export interface NodePlacement {
  /** For `RunGraphInput.local`. Never fails: without the database's answer every node is a normal activity. */
  place(workflowId: number, document: Document, plan: Plan): Promise<string>;
}

const KEPT_MS = 5_000;
const KEPT_WORKFLOWS = 500;

type Speeds = Map<string, NodeSpeed>;

interface NodePlacementDeps {
  db: Database;
  logger: Logger;
  forced: ForcedPlacements;
}

export function createNodePlacement({ db, logger, forced }: NodePlacementDeps): NodePlacement {
  const unknown: Speeds = new Map();
  // One look-up at a time for each workflow; while it is under way, the last answer serves.
  const speeds = new LRUCache<number, Speeds>({
    max: KEPT_WORKFLOWS,
    ttl: KEPT_MS,
    allowStale: true,
    fetchMethod: (workflowId) => findNodeSpeeds(db, workflowId, SPEED_SAMPLE),
  });
  return {
    async place(workflowId, document, plan) {
      const drawn = new Map(document.nodes.map(({ id, data }) => [id, data]));
      const candidates = { plan, forced, dataOf: (id: string) => drawn.get(id) };
      let known = unknown;
      if (needsSpeeds(plan, forced)) {
        known =
          (await speeds.fetch(workflowId).catch((error: unknown) => {
            logger.warn({ err: error, workflow_id: workflowId }, 'node speeds are not known');
            return undefined;
          })) ?? unknown;
      }
      return placeNodes(candidates, (nodeId) => known.get(nodeId));
    },
  };
}
