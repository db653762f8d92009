// Dense execution: which nodes one activity executes, one after the other or concurrently, because nothing is to be decided
// between them. Pure, and replayed like the planner: a change of what shares an activity needs `patched()`.
import type { Placement } from '../../graph/dense/placement.js';
import { traitsOf } from '../../graph/kinds.js';
import type { Handle, Plan } from '../../graph/plan.js';
import { isTaken } from '../planner.js';

/** Bounds the activity's input; how long it may take is decided by the activity (activities/dense/node-chain.ts). */
const MAX_FOLLOWERS = 50;
/** So many calls at once are in one worker, whose death they share. */
const MAX_CONCURRENT = 10;
/** How many nodes after a condition are looked at: the workflow's code must not take long. */
const MAX_LOOKED_AT = 200;

export interface DensePlan {
  plan: Plan;
  placements: Placement[];
}

/** Nodes by their numbers, one after the other; where the last is a condition, also what follows each of its handles. */
export interface Chain {
  nodes: number[];
  forks?: Chain[];
}

/**
 * Whether `node` begins inside the workflow task. A trigger, which has nothing to wait for, begins where the node after it
 * does.
 */
export function beginsLocally(dense: DensePlan, node: number): boolean {
  if (dense.plan.kinds[node] !== 'trigger') return isQuick(dense, node);
  const next = onlyNext(dense.plan, node);
  return next === undefined || dense.placements[next] === 'own' || beginsLocally(dense, next);
}

/**
 * What follows `node` (or `concurrent` nodes that have the same one after them) in its activity. Each follower is the only
 * one after the one before, and waits for no other. A local activity continues with what is quick, a normal one also with
 * what may share an activity.
 */
export function chainAfter(dense: DensePlan, node: number, isLocal: boolean, concurrent = 1): Chain {
  const { plan, placements } = dense;
  let room = MAX_FOLLOWERS;
  const take = (before: number, handle: Handle): number | undefined => {
    const next = onlyNext(plan, before, handle, before === node ? concurrent : 1);
    if (next === undefined || room === 0) return undefined;
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
 * Groups ready nodes by the activities that they begin in, in their order. Concurrent in one activity are those that are
 * placed alike and have the same one node after them, or none: so nothing after one of them waits for the others because
 * of the group.
 */
export function groupConcurrent({ plan, placements }: DensePlan, ready: number[]): number[][] {
  const all: number[][] = [];
  const open = new Map<string, number[]>();
  for (const node of ready) {
    const [edge, ...others] = plan.out[node]!;
    const placement = placements[node]!;
    const mayShare = placement !== 'own' && others.length === 0;
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

/** In UTF-16 units: even where each takes three bytes, and with what is added, it is below the server's limit of 400 bytes. */
const MAX_SUMMARY = 120;

/** For the Temporal UI: the labels of a chain, as many as there is room for. The first `concurrent` ones run at once. */
export function summaryOf(labels: string[], concurrent = 1): string {
  let summary = labels[0]!;
  for (const [index, label] of labels.entries()) {
    if (index === 0) continue;
    if (summary.length + label.length > MAX_SUMMARY) return `${summary} and ${labels.length - index} more`;
    summary += index < concurrent ? ` ∥ ${label}` : ` → ${label}`;
  }
  return summary;
}

/** What is executed inside the workflow task wherever the node before it was executed. */
function isQuick({ plan, placements }: DensePlan, node: number): boolean {
  return traitsOf(plan.kinds[node]!).runs === 'inline' || placements[node] === 'local';
}

export function isDecision({ kinds }: Plan, node: number): boolean {
  return traitsOf(kinds[node]!).handles.length > 0;
}

/** The only node that follows when `node` is left by `handle`, if it waits for exactly `concurrent` nodes before it. */
function onlyNext({ out, indegree }: Plan, node: number, handle: Handle = 0, concurrent = 1): number | undefined {
  const [edge, ...others] = out[node]!.filter((to) => isTaken(to, handle));
  return edge !== undefined && others.length === 0 && indegree[edge[0]] === concurrent ? edge[0] : undefined;
}

/**
 * Whether nothing after a condition waits for anything else. Otherwise others may wait for a handle to be found not taken,
 * which the run workflow hears of only when the chain has ended.
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
