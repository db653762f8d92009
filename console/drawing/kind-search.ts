import type { NodeKind } from './drawing.js';

/** Returns the kinds that contain all typed words in title, type, category or description, matches in titles first. */
export function searchKinds(kinds: readonly NodeKind[], text: string): NodeKind[] {
  const wanted = text.trim().toLowerCase().split(/\s+/);
  const isIn = (where: string): boolean => wanted.every((word) => where.toLowerCase().includes(word));
  const ranks = new Map(kinds.map((kind) => [kind, rank(kind, isIn)]));
  return kinds.filter((kind) => ranks.get(kind)! < NONE).toSorted((one, other) => ranks.get(one)! - ranks.get(other)!);
}

const NONE = 3;

function rank({ title, type, category, description }: NodeKind, isIn: (where: string) => boolean): number {
  if (isIn(title)) return 0;
  if (isIn(`${title} ${type} ${category}`)) return 1;
  return isIn(`${title} ${type} ${category} ${description}`) ? 2 : NONE;
}
