import { bodiesOf } from '../../../drawing/bodies.js';
import type { Drawing, NodeKinds } from '../../../drawing/drawing.js';

/** Returns the loops in whose bodies a node is, the outermost first. */
export function loopsAround(drawing: Drawing, kinds: NodeKinds, nodeId: string): string[] {
  const { loopOf } = bodiesOf(drawing, kinds);
  const loops: string[] = [];
  for (let loop = loopOf.get(nodeId); loop !== undefined; loop = loopOf.get(loop)) loops.unshift(loop);
  return loops;
}

/** Returns the path of an iteration as the service writes it: `LOOP[3]/INNER[0]`, with the signs between ids encoded. */
export function pathOf(iterations: readonly (readonly [loop: string, index: string])[]): string {
  const encode = (id: string): string =>
    id.replace(/[%/[\]~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return iterations.map(([loop, index]) => `${encode(loop)}[${Number(index)}]`).join('/');
}
