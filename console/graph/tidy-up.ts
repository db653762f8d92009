import { Graph, layout } from '@dagrejs/dagre';
import { CARD_WIDTH, cardHeight } from './card-size.js';
import { moveNodes } from './change-nodes.js';
import { dataOf, nodesOf, typeOf, type Drawing } from './drawing.js';
import { exitsOf } from './exits.js';
import { linksOf } from './links.js';
import type { NodeKinds } from './node-kind.js';

/** From left to right, in layers, on whole steps of 10. Nothing but positions changes. */
export function tidyUp(drawing: Drawing, kinds: NodeKinds): Drawing {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 40, ranksep: 72 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodesOf(drawing).values()) {
    const height = cardHeight(exitsOf(kinds.get(typeOf(node)), dataOf(node)));
    graph.setNode(node.id, { width: CARD_WIDTH, height });
  }
  for (const { id, source, target } of linksOf(drawing, kinds)) graph.setEdge(source, target, {}, id);
  layout(graph);
  const positions = graph.nodes().map((id: string) => {
    const { x, y, width, height } = graph.node(id) as { x: number; y: number; width: number; height: number };
    return [id, { x: round(x - width / 2), y: round(y - height / 2) }] as const;
  });
  return moveNodes(drawing, new Map(positions));
}

function round(value: number): number {
  return Math.round(value / 10) * 10;
}
