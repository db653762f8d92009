// Where each node of a run is tried first: inside the workflow task (`local`: one history event, no task-queue trip)
// or as an activity of its own (`normal`). This file alone decides; docs/adr/0011-node-placement.md says why.
import { nodeDefinitions } from './nodes/registry.js';
import type { NodeDefinition } from './nodes/node-definition.js';
import type { NodeKind, Plan } from './plan.js';

export type Placement = 'local' | 'normal';

/** What an operator has decided for whole kinds; the others go by their speed. */
export type ForcedPlacements = Partial<Record<NodeKind, Placement>>;

/** A node's last executions, `SPEED_SAMPLE` at most. */
export interface NodeSpeed {
  executions: number;
  /** Those that failed, or needed more than one try. */
  failures: number;
  p95Ms: number;
}

export const SPEED_SAMPLE = 20;
/** Fewer executions than this say nothing. */
const MIN_EXECUTIONS = 10;
/** A workflow task stays open while a local node runs: cancels and other nodes' ends wait for it. */
const QUICK_P95_MS = 300;

interface Candidates {
  plan: Plan;
  /** The data of a node in the drawing; undefined where it has none. */
  dataOf: (nodeId: string) => Record<string, unknown> | undefined;
  forced: ForcedPlacements;
}

/** Whether any node's placement depends on its speed, so that it is worth looking up. */
export function needsSpeeds({ plan, dataOf, forced }: Candidates): boolean {
  return plan.ids.some((id, node) => {
    const kind = plan.kinds[node]!;
    return forced[kind] === undefined && isRepeatable(kind, dataOf(id));
  });
}

/**
 * One character a node, in the plan's order: `1` is tried locally first, `0` is a normal activity. A call that costs
 * money or must not be made twice is never tried locally, whatever an operator says: a local try may be cut short.
 */
export function placeNodes(
  { plan, dataOf, forced }: Candidates,
  speedOf: (nodeId: string) => NodeSpeed | undefined,
): string {
  return plan.ids
    .map((id, node) => {
      const kind = plan.kinds[node]!;
      if (!isRepeatable(kind, dataOf(id))) return '0';
      const placement = forced[kind] ?? (isQuick(speedOf(id)) ? 'local' : 'normal');
      return placement === 'local' ? '1' : '0';
    })
    .join('');
}

function isQuick(speed: NodeSpeed | undefined): boolean {
  if (speed === undefined || speed.executions < MIN_EXECUTIONS) return false;
  return speed.failures === 0 && speed.p95Ms < QUICK_P95_MS;
}

/** Whether the node's call may be made again, at no cost. `data`: as drawn. */
export function isRepeatable(kind: NodeKind, data: Record<string, unknown> = {}): boolean {
  const definition: NodeDefinition = nodeDefinitions[kind];
  return definition.isRepeatable?.(data) ?? false;
}
