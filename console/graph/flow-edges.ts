import { MarkerType, type Edge } from '@xyflow/react';
import { labelOf, nodesOf, type Drawing } from './drawing.js';
import { linksOf, type Link } from './links.js';
import type { NodeKinds } from './node-kind.js';

/** Keeps the edges that are as before the same objects, and their list, too. One for each canvas. */
export interface EdgeMemory {
  byId: Map<string, Edge>;
  all: Edge[];
}

export function flowEdges(
  drawing: Drawing,
  kinds: NodeKinds,
  selected: ReadonlySet<string>,
  memory: EdgeMemory,
): Edge[] {
  const nodes = nodesOf(drawing);
  const edges = linksOf(drawing, kinds).map((link) => {
    const { id, source, target, isIdle } = link;
    const ariaLabel = `${labelOf(nodes.get(source), kinds)} to ${labelOf(nodes.get(target), kinds)}`;
    const isSelected = selected.has(id);
    const className = isIdle ? 'link link-idle' : 'link';
    const last = memory.byId.get(id);
    if (last?.ariaLabel === ariaLabel && last.selected === isSelected && last.className === className) return last;
    const edge = toEdge(link, { ariaLabel, className, selected: isSelected });
    memory.byId.set(id, edge);
    return edge;
  });
  const isSame = edges.length === memory.all.length && edges.every((edge, at) => edge === memory.all[at]);
  if (!isSame) memory.all = edges;
  return memory.all;
}

function toEdge({ id, source, handle, target }: Link, looks: Partial<Edge>): Edge {
  const markerEnd = { type: MarkerType.ArrowClosed, width: 16, height: 16 };
  return { id, source, target, sourceHandle: handle, markerEnd, ...looks };
}
