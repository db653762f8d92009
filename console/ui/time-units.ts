// Lengths of time that the service stores in seconds, in the largest unit without a remainder.

export const TIME_UNITS = [
  { name: 'seconds', seconds: 1 },
  { name: 'minutes', seconds: 60 },
  { name: 'hours', seconds: 3600 },
  { name: 'days', seconds: 86_400 },
] as const;

export type TimeUnit = (typeof TIME_UNITS)[number]['name'];

export function secondsOf(unit: TimeUnit): number {
  return TIME_UNITS.find(({ name }) => name === unit)!.seconds;
}

/** Returns the largest unit in which the length is a whole number. Zero and fractions are seconds. */
export function unitOf(seconds: number): TimeUnit {
  if (seconds === 0) return 'seconds';
  return TIME_UNITS.findLast((unit) => seconds % unit.seconds === 0)?.name ?? 'seconds';
}

/** Returns `90 seconds`, `2 minutes` or `1 day`. */
export function formatSeconds(seconds: number): string {
  const unit = unitOf(seconds);
  const count = seconds / secondsOf(unit);
  return `${count} ${count === 1 ? unit.replace(/s$/, '') : unit}`;
}
