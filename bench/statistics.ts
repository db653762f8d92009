// How figures are summed up. Everything is a plain number; no figure is thrown away.

/** Over rounds: the middle one, and how far they lie apart. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** Nearest rank: a value that was measured, never one between two. `share` is 0.5 for the median, 0.99 for p99. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error('there is nothing to take a percentile of');
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

/** The mean of the middle two where their number is even. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('there is nothing to take a median of');
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/**
 * The rounds' own ratios. Rounds of one number stand beside each other in time: a machine that grows slower from round to
 * round moves both sides of a pair, and one that was busy for a moment moves one pair.
 */
export function ratiosOfRounds(ours: readonly number[], theirs: readonly number[]): Spread {
  return spreadOf(ours.map((figure, round) => figure / theirs[round]!));
}

/** What each further unit of `x` adds to `y`: the slope of the least-squares line. */
export function slope(points: readonly { x: number; y: number }[]): number {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
}
