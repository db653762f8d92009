// Dense execution: decides how each node of a run may be executed. temporal-workflows/dense/chains.ts then decides
// which nodes share an activity.
import { kinds, type NodeKind } from '../kinds.js';
import type { NodeDefinition } from '../nodes/node-definition.js';
import { nodeDefinitions } from '../nodes/registry.js';
import type { Plan } from '../plan.js';

/**
 * `local`: the first attempt runs inside the workflow task, where it costs one history event and no trip through a task
 * queue. `shared`: the node runs in an activity that it may share with its neighbours. `own`: the node runs in an
 * activity of its own, as in visible execution.
 */
export type Placement = 'local' | 'shared' | 'own';

/** The placements that an operator has set for whole kinds. For the other kinds the speed of each node decides. */
export type ForcedPlacements = Partial<Record<NodeKind, Placement>>;

/** Statistics over a node's last executions, `SPEED_SAMPLE` at most. */
export interface NodeSpeed {
  executions: number;
  /** The number of executions that failed or needed more than one attempt. */
  failures: number;
  p95Ms: number;
}

export const SPEED_SAMPLE = 20;
/** Fewer executions than this are too few to judge a node's speed. */
const MIN_EXECUTIONS = 10;
/**
 * The limit for local nodes. A workflow task stays open while a local node runs, so cancels and the ends of other nodes
 * wait.
 */
const QUICK_P95_MS = 300;

interface Candidates {
  plan: Plan;
  /** Returns the data of a node in the drawing; undefined where it has none. */
  dataOf: (nodeId: string) => Record<string, unknown> | undefined;
  forced: ForcedPlacements;
}

/** Returns whether the placement of any node depends on its speed, so that the speeds must be read. */
export function needsSpeeds(plan: Plan, forced: ForcedPlacements): boolean {
  return plan.kinds.some((kind) => kinds[kind].isDense && forced[kind] === undefined);
}

/**
 * Returns the placement of each node in the plan's order. A call that must not be made twice is never placed locally,
 * whatever an operator has set, because a local attempt may be aborted. Slow nodes get their own activity, so that
 * operators see them individually.
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
