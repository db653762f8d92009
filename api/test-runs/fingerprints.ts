// Fingerprints show if a node, or anything before it, has changed.
import { createHash } from 'node:crypto';
import { describeNodes, type PlannedDrawing } from '../../graph/changed-nodes.js';
import { enclosingLoops, rootPlan } from '../../graph/plan.js';

/**
 * Returns a fingerprint for each node: equal in two drawings if the node and all nodes that lead to it are equal. A
 * node in a body has the fingerprint of its outermost loop. Secrets are included, so a fingerprint is never shown or
 * stored unsealed.
 */
export function fingerprintsOf(planned: PlannedDrawing): Map<string, string> {
  const { plan } = planned;
  const root = rootPlan(plan);
  const texts = describeNodes(planned);
  const incoming: string[][] = root.ids.map(() => []);
  const left = [...root.indegree];
  const found = new Map<string, string>();
  const decided = [0];
  // The list grows while it is iterated: a node is appended when all nodes before it are done.
  for (const node of decided) {
    const id = root.ids[node]!;
    const before = incoming[node]!.toSorted().map((each) => `\0${each}`);
    const fingerprint = createHash('sha256')
      .update((texts.get(id) ?? '') + before.join(''))
      .digest('base64url');
    found.set(id, fingerprint);
    for (const [to] of root.out[node]!) {
      incoming[to]!.push(fingerprint);
      left[to] = left[to]! - 1;
      if (left[to] === 0) decided.push(to);
    }
  }
  for (const [node, [outermost]] of enclosingLoops(plan).entries()) {
    if (outermost !== undefined) found.set(plan.ids[node]!, found.get(plan.ids[outermost]!)!);
  }
  return found;
}
