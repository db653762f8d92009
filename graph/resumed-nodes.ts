// Decides which nodes of an earlier run keep their results in a run that resumes it
// (docs/use/resume.md, "What is kept").
import { handlesAfter, type NodeEnding, type ScopePlan } from './plan.js';

/**
 * A node is `kept` if it has ended, and so have all before it on which it depends. It is `continued` if it has failed,
 * was stopped or never began; the nodes that led to it are kept. It runs `anew` if it was chosen or has changed, or
 * comes after such a node, and nothing that is in it is kept either. It is `skipped` if no link leads to it.
 */
export type Fate = 'kept' | 'continued' | 'anew' | 'skipped';

interface NodesToResume {
  /** The plan of the drawing outside bodies. */
  plan: ScopePlan;
  /** Returns the end of a node in the earlier run, which is undefined if it never began. */
  endOf: (nodeId: string) => NodeEnding | undefined;
  /** The nodes that begin anew, whatever they have put out. */
  isAnew: (nodeId: string) => boolean;
}

/** The fate of a link in the earlier run: taken, dead, or the reason why that has to be decided again. */
type Way = 'taken' | 'dead' | 'open' | 'anew';

/** Returns the fate of each node, by its number. */
export function fatesOf({ plan, endOf, isAnew }: NodesToResume): Fate[] {
  const joinsAny = new Set(plan.joinsAny);
  const incoming: Way[][] = plan.ids.map(() => []);
  const fates: Fate[] = [];
  const decided = [0];
  // The list grows while it is iterated: a node is appended when all nodes before it are done.
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
  // A node that has begun with the first of its links is not changed by one that is taken later.
  const hasBegun = !ways.includes('open') || (joinsAny && ways.includes('taken'));
  return hasBegun && isKeepable ? 'kept' : 'continued';
}

function wayOf(fate: Fate, isTaken: boolean): Way {
  if (fate === 'kept') return isTaken ? 'taken' : 'dead';
  return ({ continued: 'open', anew: 'anew', skipped: 'dead' } as const)[fate];
}
