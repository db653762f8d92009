import type { EndedNode } from '../../db/nodes/kept-results-repository.js';
import { handlesAfter, type ScopePlan } from '../../graph/plan.js';
import type { KeptNode } from '../../graph/planner.js';

/** The planner of a scope needs these facts of nodes whose ends the run has taken over. */
export function toKeptNodes(ends: EndedNode[], plan: ScopePlan): KeptNode[] {
  const numbers = new Map(plan.ids.map((id, number) => [id, number]));
  return ends.flatMap((end): KeptNode[] => {
    const node = numbers.get(end.nodeId);
    const handles = node === undefined ? undefined : handlesAfter(end, plan, node);
    if (node === undefined || handles === undefined) return [];
    const isOrdinary = handles.length === 1 && handles[0] === 0;
    return [{ node, ...(!isOrdinary && { handles }), ...(end.status === 'failed' && { hasFailed: true }) }];
  });
}
