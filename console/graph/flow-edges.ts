import { MarkerType, type Edge } from '@xyflow/react';
import { labelOf, nodesOf, type Drawing } from './drawing.js';
import { linksOf } from './links.js';
import type { NodeKinds } from './node-kind.js';

/** Keeps the edges that are as before the same objects. One for each canvas. */
export type EdgeMemory = Map<string, Edge>;

export function flowEdges(
  drawing: Drawing,
  kinds: NodeKinds,
  selected: ReadonlySet<string>,
  memory: EdgeMemory,
): Edge[] {
  const nodes = nodesOf(drawing);
  return linksOf(drawing, kinds).map(({ id, source, handle, target, isIdle }) => {
    const ariaLabel = `${labelOf(nodes.get(source), kinds)} to ${labelOf(nodes.get(target), kinds)}`;
    const isSelected = selected.has(id);
    const className = isIdle ? 'link link-idle' : 'link';
    const last = memory.get(id);
    if (last?.ariaLabel === ariaLabel && last.selected === isSelected && last.className === className) return last;
    const edge: Edge = {
      id,
      source,
      target,
      sourceHandle: handle,
      selected: isSelected,
      ariaLabel,
      className,
      markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16 },
    };
    memory.set(id, edge);
    return edge;
  });
}
