// Which nodes one activity does, in a row or side by side, because nothing is to be decided between them
// (docs/adr/0017-fused-nodes.md, 0018-nodes-side-by-side.md).
// Pure, and replayed like the planner: a change of what is fused needs `patched()`.
import type { Branch, NodeKind, Plan } from '../graph/plan.js';
import { isTaken } from './planner.js';

/** Bounds the activity's input; how long it may take is its own matter (activities/dense/fused-nodes.ts). */
const MAX_FOLLOWERS = 50;
/** So many calls at once are one worker's, whose death they share. */
const MAX_BESIDE = 10;
/** Of what comes after a condition: the workflow's code must not take long. */
const MAX_LOOKED_AT = 200;

/** Kinds that only read and decide, wherever the node before them is done; the others have their place from their run. */
const IS_QUICK: Record<NodeKind, boolean> = {
  trigger: true,
  condition: true,
  http: false,
  llm: false,
  mcp: false,
  agent: false,
};

/** By `RunGraphInput.local`: placed inside the workflow task, or in an activity that may be shared. */
const LOCAL = '1';
const SHARED = '2';

/**
 * Whether a local activity does the node first. A trigger, which has nothing to wait for, goes with the node after it.
 */
export function beginsLocally(plan: Plan, local: string, node: number): boolean {
  if (plan.kinds[node] !== 'trigger') return isQuick(plan, local, node);
  const next = onlyNext(plan, node);
  return next === undefined || plan.kinds[next] === 'agent' || beginsLocally(plan, local, next);
}

/** Nodes by their numbers, one after the other, and where the last is a condition, what follows each of its answers. */
export interface Row {
  nodes: number[];
  forks?: [whenTrue: Row, whenFalse: Row];
}

/**
 * What follows `node`, or `beside` nodes with the same one after them, in its activity: each is the only one after the one
 * before, and waits for no other. A local activity goes on to what is quick, a normal one also to what may share one.
 */
export function rowAfter(plan: Plan, local: string, node: number, isLocal: boolean, beside = 1): Row {
  let room = MAX_FOLLOWERS;
  const take = (before: number, branch: Branch): number | undefined => {
    const next = onlyNext(plan, before, branch, before === node ? beside : 1);
    if (next === undefined || room === 0) return undefined;
    const mayShare = !isLocal && (local.charAt(next) === SHARED || plan.kinds[before] === 'trigger');
    if (!mayShare && !isQuick(plan, local, next)) return undefined;
    room--;
    return next;
  };
  const after = (from: number): Row => {
    const nodes: number[] = [];
    for (let at = from; plan.kinds[at] !== 'condition';) {
      const next = take(at, 0);
      if (next === undefined) return { nodes };
      nodes.push(next);
      at = next;
    }
    const decision = nodes.at(-1) ?? from;
    if (!isTree(plan, decision)) return { nodes };
    const forks: [Row, Row] = [side(decision, 1), side(decision, 2)];
    return forks.every((row) => row.nodes.length === 0) ? { nodes } : { nodes, forks };
  };
  const side = (decision: number, branch: Branch): Row => {
    const first = take(decision, branch);
    if (first === undefined) return { nodes: [] };
    const { nodes, ...forks } = after(first);
    return { nodes: [first, ...nodes], ...forks };
  };
  return after(node);
}

/** Of all ways. */
export function lengthOf({ nodes, forks }: Row): number {
  return (forks ?? []).reduce((length, row) => length + lengthOf(row), nodes.length);
}

function isQuick(plan: Plan, local: string, node: number): boolean {
  return IS_QUICK[plan.kinds[node]!] || local.charAt(node) === LOCAL;
}

/**
 * `ready` by the activities that they begin in, in their order. Side by side in one, local or normal, are those that may
 * share it and have the same one node after them, or none: so nothing after one of them waits for the others on that account.
 */
export function besideEachOther(plan: Plan, local: string, ready: number[]): number[][] {
  const all: number[][] = [];
  const open = new Map<string, number[]>();
  for (const node of ready) {
    const [edge, ...others] = plan.out[node]!;
    const placement = local.charAt(node);
    const mayShare = (placement === LOCAL || placement === SHARED) && others.length === 0;
    const place = mayShare ? `${placement} before ${edge?.[0]}` : `${node} alone`;
    let group = open.get(place);
    if (group === undefined || group.length === MAX_BESIDE) {
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

/** For the Temporal UI: `labels` of a row in their order, as many as there is room for; the first so many are side by side. */
export function summaryOf(labels: string[], beside = 1): string {
  let summary = labels[0]!;
  for (const [index, label] of labels.entries()) {
    if (index === 0) continue;
    if (summary.length + label.length > MAX_SUMMARY) return `${summary} and ${labels.length - index} more`;
    summary += index < beside ? ` ∥ ${label}` : ` → ${label}`;
  }
  return summary;
}

/** After a condition, when it has taken `branch`. It waits for so many as are `beside` each other before it. */
function onlyNext({ out, indegree }: Plan, node: number, branch: Branch = 0, beside = 1): number | undefined {
  const [edge, ...others] = out[node]!.filter((to) => isTaken(to, branch));
  return edge !== undefined && others.length === 0 && indegree[edge[0]] === beside ? edge[0] : undefined;
}

/**
 * Whether nothing after a condition waits for anything else. Otherwise others may wait for a way to be found not taken,
 * which the run workflow hears of only when the row has ended.
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
