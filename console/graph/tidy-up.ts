import { bodiesOf } from './bodies.js';
import { CARD_WIDTH, cardHeight } from './card-size.js';
import { moveNodes } from './change-nodes.js';
import { dataOf, nodesOf, typeOf, type Drawing } from './drawing.js';
import { exitsOf } from './exits.js';
import { layOut } from './lay-out.js';
import { linksOf } from './links.js';
import type { NodeKinds } from './node-kind.js';

const GAPS = { nodesep: 40, ranksep: 72 };

/** From left to right, in layers, on whole steps of 10. Nothing but positions changes. */
export function tidyUp(drawing: Drawing, kinds: NodeKinds): Drawing {
  const sizes = new Map(
    [...nodesOf(drawing).values()].map((node) => {
      const height = cardHeight(exitsOf(kinds.get(typeOf(node)), dataOf(node)));
      return [node.id, { width: CARD_WIDTH, height }];
    }),
  );
  const places = layOut(sizes, linksOf(drawing, kinds), bodiesOf(drawing, kinds), GAPS);
  return moveNodes(drawing, new Map([...places].map(([id, { x, y }]) => [id, { x: round(x), y: round(y) }])));
}

function round(value: number): number {
  return Math.round(value / 10) * 10;
}
