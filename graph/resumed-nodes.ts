// Decides for which nodes a run that resumes an earlier run reuses results (docs/use/resume.md, "What is kept").
import { handlesAfter, type NodeEnding, type ScopePlan } from './plan.js';

/**
 * `kept`: the node has succeeded, or has failed and the failure was caught, and the same holds for all nodes on which
 * it depends; its result is reused. `continued`: the node has failed otherwise, was stopped or never started, or it
 * depends on a continued node; no node before it runs anew. `anew`: the node was chosen, has changed, or follows such a
 * node; neither its results nor those of its body are reused. `skipped`: all links to the node are dead.
 */
export type Fate = 'kept' | 'continued' | 'anew' | 'skipped';

interface NodesToResume {
  /** The plan of one scope: the drawing outside bodies, or an iteration of a loop. */
  plan: ScopePlan;
  /** Returns the end of a node in this scope of the earlier run, or undefined if it never started. */
  endOf: (nodeId: string) => NodeEnding | undefined;
  /** True for nodes that must run again, whatever their result. */
  isAnew: (nodeId: string) => boolean;
}

/**
 * The state of a link after the earlier run: taken, dead, or to be decided again because its source is continued or
 * runs anew.
 */
type Way = 'taken' | 'dead' | 'open' | 'anew';

/** Returns the fates by node number. */
export function fatesOf({ plan, endOf, isAnew }: NodesToResume): Fate[] {
  const joinsAny = new Set(plan.joinsAny);
  const incoming: Way[][] = plan.ids.map(() => []);
  const fates: Fate[] = [];
  const decided = [0];
  // The list grows while it is iterated: a node is appended once all its predecessors are decided.
  for (const node of decided) {
    const id = plan.ids[node]!;
    const ways = node === 0 ? (['taken'] as const) : incoming[node]!;
    const end = endOf(id);
    const handles = end && handlesAfter(end, plan, node);
    const fate = fateOf(ways, { isKeepable: handles !== undefined, isAnew: isAnew(id), joinsAny: joinsAny.has(node) });
    fates[node] = fate;
    for (const [to, handle] of plan.out[node]!) {
      incoming[to]!.push(wayOf(fate, handles?.includes(handle) === true));
      if (incoming[to]!.length === plan.indegree[to]) decided.push(to);
    }
  }
  return fates;
}

interface Facts {
  isKeepable: boolean;
  isAnew: boolean;
  joinsAny: boolean;
}

function fateOf(ways: readonly Way[], { isKeepable, isAnew, joinsAny }: Facts): Fate {
  if (ways.every((way) => way === 'dead')) return 'skipped';
  if (isAnew || ways.includes('anew')) return 'anew';
  // A node with `join: "any"` that started at its first link doesn't depend on links that are taken later.
  const hasBegun = !ways.includes('open') || (joinsAny && ways.includes('taken'));
  return hasBegun && isKeepable ? 'kept' : 'continued';
}

function wayOf(fate: Fate, isTaken: boolean): Way {
  if (fate === 'kept') return isTaken ? 'taken' : 'dead';
  return ({ continued: 'open', anew: 'anew', skipped: 'dead' } as const)[fate];
}
