// Dense execution: how each node of a run may be executed. This file alone decides; which nodes then share an activity is
// temporal-workflows/dense/chains.ts.
import { kinds, type NodeKind } from '../kinds.js';
import type { NodeDefinition } from '../nodes/node-definition.js';
import { nodeDefinitions } from '../nodes/registry.js';
import type { Plan } from '../plan.js';

/**
 * `local`: first inside the workflow task, where it costs one history event and no trip through a task queue. `shared`: in
 * an activity that it may share with its neighbours. `own`: in an activity of its own, as in visible execution.
 */
export type Placement = 'local' | 'shared' | 'own';

/** What an operator has decided for whole kinds; the others go by their speed. */
export type ForcedPlacements = Partial<Record<NodeKind, Placement>>;

/** A node's last executions, `SPEED_SAMPLE` at most. */
export interface NodeSpeed {
  executions: number;
  /** Those that failed, or needed more than one attempt. */
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

/** Whether any node's placement depends on its speed, so that the speeds are worth looking up. */
export function needsSpeeds(plan: Plan, forced: ForcedPlacements): boolean {
  return plan.kinds.some((kind) => kinds[kind].isDense && forced[kind] === undefined);
}

/**
 * The placement of each node in the plan's order. A call that must not be made twice is never placed locally, whatever an
 * operator says, because a local attempt may be cut short. Slow nodes get their own activity, so that operators see them
 * individually.
 */
export function placeNodes(
  { plan, dataOf, forced }: Candidates,
  speedOf: (nodeId: string) => NodeSpeed | undefined,
): Placement[] {
  return plan.ids.map((id, node) => {
    const kind = plan.kinds[node]!;
    if (!kinds[kind].isDense) return 'own';
    const placement = forced[kind] ?? bySpeed(speedOf(id));
    return placement === 'local' && !mayRunLocally(kind, dataOf(id)) ? 'shared' : placement;
  });
}

function bySpeed(speed: NodeSpeed | undefined): Placement {
  if (speed === undefined || speed.executions < MIN_EXECUTIONS) return 'shared';
  if (speed.p95Ms >= QUICK_P95_MS) return 'own';
  return speed.failures === 0 ? 'local' : 'shared';
}

function mayRunLocally(kind: NodeKind, data: Record<string, unknown> = {}): boolean {
  const definition: NodeDefinition = nodeDefinitions[kind];
  return definition.mayRunLocally?.(data) ?? false;
}
