// Where each node of a run is tried first: inside the workflow task (`local`: one history event, no task-queue trip), or
// in an activity, which it may share with the nodes around it (`normal`) or has to itself (`alone`). This file alone
// decides; docs/adr/0011-node-placement.md says why, temporal-workflows/fusion.ts what shares an activity.
import { nodeDefinitions } from './nodes/registry.js';
import type { NodeDefinition } from './nodes/node-definition.js';
import type { NodeKind, Plan } from './plan.js';

export type Placement = 'local' | 'normal' | 'alone';

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
export function needsSpeeds(plan: Plan, forced: ForcedPlacements): boolean {
  return plan.kinds.some((kind) => forced[kind] === undefined && isPlaced(kind));
}

const CHARACTERS: Record<Placement, string> = { alone: '0', local: '1', normal: '2' };

/**
 * One character a node, in the plan's order: `1` is tried locally first, `2` is a normal activity that may be shared, `0`
 * one of its own. A call that costs money or must not be made twice is never tried locally, whatever an operator says: a
 * local try may be cut short. What is neither quick nor unknown, operators see by itself.
 */
export function placeNodes(
  { plan, dataOf, forced }: Candidates,
  speedOf: (nodeId: string) => NodeSpeed | undefined,
): string {
  const place = (id: string, kind: NodeKind): Placement => {
    if (!isPlaced(kind)) return 'alone';
    const placement = forced[kind] ?? bySpeed(speedOf(id));
    return placement === 'local' && !isRepeatable(kind, dataOf(id)) ? 'normal' : placement;
  };
  return plan.ids.map((id, node) => CHARACTERS[place(id, plan.kinds[node]!)]).join('');
}

function bySpeed(speed: NodeSpeed | undefined): Placement {
  if (speed === undefined || speed.executions < MIN_EXECUTIONS) return 'normal';
  if (speed.p95Ms >= QUICK_P95_MS) return 'alone';
  return speed.failures === 0 ? 'local' : 'normal';
}

/** Triggers, conditions, models and agents have their place by their kind. */
function isPlaced(kind: NodeKind): boolean {
  return definitionOf(kind).isRepeatable !== undefined;
}

/** Whether the node's call may be made again, at no cost. `data`: as drawn. */
export function isRepeatable(kind: NodeKind, data: Record<string, unknown> = {}): boolean {
  return definitionOf(kind).isRepeatable?.(data) ?? false;
}

const definitionOf = (kind: NodeKind): NodeDefinition => nodeDefinitions[kind];
