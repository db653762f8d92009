import { isNode, type Drawing, type DrawnNode } from './drawing.js';
import { asArray } from './json.js';

/** The drawing with another node in place of this one; the same drawing where nothing changes. */
export function replaceNode(drawing: Drawing, id: string, change: (node: DrawnNode) => DrawnNode): Drawing {
  const nodes = asArray(drawing['nodes']);
  const at = nodes.findIndex((node) => isNode(node) && node.id === id);
  const node = nodes[at];
  if (!isNode(node)) return drawing;
  const changed = change(node);
  return changed === node ? drawing : { ...drawing, nodes: nodes.with(at, changed) };
}
