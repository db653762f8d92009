import { CARD_WIDTH } from './card-size.js';
import { nodesOf, positionOf, type Drawing, type Position } from './drawing.js';

const GAP = 60;
const ROW = 150;

/** Right of what is selected (or of the last node), else in the middle of what is seen; below what is there already. */
export function freePlace(drawing: Drawing, selected: ReadonlySet<string>, middle: Position): Position {
  const nodes = [...nodesOf(drawing).values()];
  const anchor = nodes.findLast(({ id }) => selected.has(id)) ?? nodes.at(-1);
  const from = anchor && positionOf(anchor);
  const x = from === undefined ? Math.round(middle.x - CARD_WIDTH / 2) : from.x + CARD_WIDTH + GAP;
  const taken = nodes.map(positionOf).filter((position) => Math.abs(position.x - x) < CARD_WIDTH + 16);
  let y = from === undefined ? Math.round(middle.y) : from.y;
  while (taken.some((position) => Math.abs(position.y - y) < ROW - 20)) y += ROW;
  return { x, y };
}
