// Positions are kept, in the scale of wider cards.
import type { Spot } from './draft.js';
import type { N8nNode } from './n8n-file.js';

const SCALE_X = 1.3;
const STEP = 10;

/** Returns where each node stands; the leftmost and the uppermost one at 0. */
export function createSpots(nodes: readonly N8nNode[]): (node: N8nNode) => Spot {
  const left = nodes.reduce((least, { x }) => Math.min(least, x), Infinity);
  const top = nodes.reduce((least, { y }) => Math.min(least, y), Infinity);
  return ({ x, y }) => ({ x: rounded((x - left) * SCALE_X), y: rounded(y - top) });
}

function rounded(value: number): number {
  return Math.round(value / STEP) * STEP;
}
