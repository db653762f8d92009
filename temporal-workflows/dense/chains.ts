// Dense execution: decides which nodes one activity executes, one after the other or concurrently, because the run
// workflow has nothing to decide between them. This code is pure and is replayed like the planner, so a change of the
// nodes that share an activity needs `patched()`.
import type { Placement } from '../../graph/dense/placement.js';
import { traitsOf } from '../../graph/kinds.js';
import type { Handle, Plan } from '../../graph/plan.js';

/** Bounds the activity's input. The activity itself limits its duration (activities/dense/node-chain.ts). */
const MAX_FOLLOWERS = 50;
/** The limit on concurrent calls in one activity, because the death of a worker interrupts them all. */
const MAX_CONCURRENT = 10;
/** The limit on nodes visited after a condition, because workflow code must not take long. */
const MAX_LOOKED_AT = 200;

export interface DensePlan {
  plan: Plan;
  placements: Placement[];
}

/**
 * Node numbers in the order of execution. If the last node is a condition, `forks` has a chain for each of its handles.
 */
export interface Chain {
  nodes: number[];
  forks?: Chain[];
}

/**
 * Returns whether `node` begins inside the workflow task. A trigger has nothing to wait for, so it begins where the
 * node after it does.
 */
export function beginsLocally(dense: DensePlan, node: number): boolean {
  if (dense.plan.kinds[node] !== 'trigger') return isQuick(dense, node);
  const next = onlyNext(dense.plan, node);
  return next === undefined || dense.placements[next] === 'own' || beginsLocally(dense, next);
}

/**
 * Returns the nodes that follow `node` in its activity. With `concurrent` nodes, these all have the same single
 * successor. Each follower is the only successor of the node before it and waits for no other node. A local activity
 * continues only with quick nodes. A normal activity also continues with nodes that may share an activity.
 */
export function chainAfter(dense: DensePlan, node: number, isLocal: boolean, concurrent = 1): Chain {
  const { plan, placements } = dense;
  let room = MAX_FOLLOWERS;
  const take = (before: number, handle: Handle): number | undefined => {
    const next = onlyNext(plan, before, handle, before === node ? concurrent : 1);
    if (next === undefined || room === 0 || !isPlain(plan, next)) return undefined;
    const mayShare = !isLocal && placements[next] === 'shared';
    if (!mayShare && !isQuick(dense, next)) return undefined;
    room--;
    return next;
  };
  const after = (from: number): Chain => {
    const nodes: number[] = [];
    for (let at = from; !isDecision(plan, at);) {
      const next = take(at, 0);
      if (next === undefined) return { nodes };
      nodes.push(next);
      at = next;
    }
    const decision = nodes.at(-1) ?? from;
    if (!isTree(plan, decision)) return { nodes };
    const handles = traitsOf(plan.kinds[decision]!).handles;
    const forks = handles.map((_, index) => fork(decision, index + 1));
    return forks.every((chain) => chain.nodes.length === 0) ? { nodes } : { nodes, forks };
  };
  const fork = (decision: number, handle: Handle): Chain => {
    const first = take(decision, handle);
    if (first === undefined) return { nodes: [] };
    const { nodes, ...forks } = after(first);
    return { nodes: [first, ...nodes], ...forks };
  };
  return after(node);
}

/** The number of nodes of a chain and all its forks. */
export function lengthOf({ nodes, forks = [] }: Chain): number {
  return forks.reduce((length, chain) => length + lengthOf(chain), nodes.length);
}

/**
 * Groups ready nodes by the activities that they begin in, in their order. Nodes are concurrent in one activity if they
 * have the same placement and the same single successor, or none. The group therefore never delays a node that follows
 * one of them.
 */
export function groupConcurrent({ plan, placements }: DensePlan, ready: number[]): number[][] {
  const all: number[][] = [];
  const open = new Map<string, number[]>();
  for (const node of ready) {
    const [edge, ...others] = plan.out[node]!;
    const placement = placements[node]!;
    const mayShare = placement !== 'own' && others.length === 0 && isPlain(plan, node);
    const place = mayShare ? `${placement} before ${edge?.[0]}` : `${node} alone`;
    let group = open.get(place);
    if (group === undefined || group.length === MAX_CONCURRENT) {
      group = [];
      all.push(group);
      open.set(place, group);
    }
    group.push(node);
  }
  return all;
}

/**
 * The limit in UTF-16 units. Even at three bytes per unit and with the added text, a summary stays below the server's
 * limit of 400 bytes.
 */
const MAX_SUMMARY = 120;

/**
 * Returns the summary for the Temporal UI: as many labels of a chain as fit. The first `concurrent` nodes run at once.
 */
export function summaryOf(labels: string[], concurrent = 1): string {
  let summary = labels[0]!;
  for (const [index, label] of labels.entries()) {
    if (index === 0) continue;
    if (summary.length + label.length > MAX_SUMMARY) return `${summary} and ${labels.length - index} more`;
    summary += index < concurrent ? ` ∥ ${label}` : ` → ${label}`;
  }
  return summary;
}

/** Returns whether a node may be executed inside the workflow task. */
function isQuick({ plan, placements }: DensePlan, node: number): boolean {
  return traitsOf(plan.kinds[node]!).runs === 'inline' || placements[node] === 'local';
}

/**
 * Returns whether the node may share an activity with others: whoever survives its own failure, starts with one of
 * several ways or is left by handles that its data lists has the run workflow decide after it.
 */
export function isPlain({ kinds, caught, joinsAny }: Plan, node: number): boolean {
  const isCaught = caught?.[node] !== undefined;
  return !isCaught && joinsAny?.includes(node) !== true && traitsOf(kinds[node]!).handlesFrom === undefined;
}

export function isDecision({ kinds }: Plan, node: number): boolean {
  return traitsOf(kinds[node]!).handles.length > 0;
}

/**
 * Returns the only successor when `node` is left by `handle`, if that successor waits for exactly `concurrent` nodes.
 */
function onlyNext({ out, indegree }: Plan, node: number, handle: Handle = 0, concurrent = 1): number | undefined {
  const [edge, ...others] = out[node]!.filter(([, on]) => on === handle);
  return edge !== undefined && others.length === 0 && indegree[edge[0]] === concurrent ? edge[0] : undefined;
}

/**
 * Returns whether every node after a condition has one incoming edge. Otherwise another node might wait for the news
 * that a handle was not taken, which the run workflow gets only when the chain has ended.
 */
function isTree({ out, indegree }: Plan, decision: number): boolean {
  const nodes = [decision];
  for (const node of nodes) {
    for (const [to] of out[node]!) {
      if (indegree[to] !== 1 || nodes.length === MAX_LOOKED_AT) return false;
      nodes.push(to);
    }
  }
  return true;
}
