import { iterationPath } from '../../../../graph/iteration-path.js';
import { bodiesOf } from '../../../drawing/bodies.js';
import type { Drawing, NodeKinds } from '../../../drawing/drawing.js';

/** Returns the loops around a node, outermost first. */
export function loopsAround(drawing: Drawing, kinds: NodeKinds, nodeId: string): string[] {
  const { loopOf } = bodiesOf(drawing, kinds);
  const loops: string[] = [];
  for (let loop = loopOf.get(nodeId); loop !== undefined; loop = loopOf.get(loop)) loops.unshift(loop);
  return loops;
}

/** Returns the path of an iteration in the service's format: `LOOP[3]/INNER[0]`. */
export function pathOf(iterations: readonly (readonly [loop: string, index: string])[]): string {
  return iterations.reduce((path, [loop, index]) => iterationPath(path, loop, Number(index)), '');
}
