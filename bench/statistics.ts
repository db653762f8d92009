// Summarises figures. No outlier is discarded.

/** The median and the range of a figure over the rounds. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** Returns a measured value (nearest rank), never an interpolated one. `share` is 0.5 for the median, 0.99 for p99. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error('there is nothing to take a percentile of');
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

/** Returns the mean of the middle two if the number of values is even. */
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
 * Returns the spread of the ratios of each round. The two sides of a round are measured one after the other, so a
 * machine that becomes slower over time affects both sides of a pair, and one that is busy for a moment affects only
 * one pair.
 */
export function ratiosOfRounds(ours: readonly number[], theirs: readonly number[]): Spread {
  return spreadOf(ours.map((figure, round) => figure / theirs[round]!));
}

/** Returns the slope of the least-squares line: the increase of `y` per unit of `x`. */
export function slope(points: readonly { x: number; y: number }[]): number {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
}
