// Computes when a cron line is due around a change of clocks, where an hour may come twice or be missing.
import { isDayOf, type CronLine } from './cron.js';
import type { OffsetPeriod } from './time-zones.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * Moments up to this long before and after the changed hour are computed here, too. Temporal's search errs in an hour
 * that comes twice or is missing, and in the hour before it: a calendar of minutes 15 and 45 of the hour before gives a
 * moment within the changed hour.
 */
const AROUND_MS = HOUR_MS;

/**
 * Returns the hours on the clock around each change, by day. The key is the beginning of the day in milliseconds, as if
 * the clock showed UTC.
 */
export function hoursAroundChanges(periods: OffsetPeriod[]): Map<number, Set<number>> {
  const days = new Map<number, Set<number>>();
  for (const [index, { fromMs, offsetMs }] of periods.entries()) {
    const before = periods[index - 1];
    if (before === undefined) continue;
    const firstMs = fromMs + Math.min(before.offsetMs, offsetMs) - AROUND_MS;
    const endMs = fromMs + Math.max(before.offsetMs, offsetMs) + AROUND_MS;
    for (let ms = floor(firstMs, HOUR_MS); ms < endMs; ms += HOUR_MS) {
      const day = floor(ms, DAY_MS);
      const hours = days.get(day) ?? new Set();
      days.set(day, hours.add((ms - day) / HOUR_MS));
    }
  }
  return days;
}

/**
 * Returns the moments, in real UTC, at which the line is due on the day in these hours. `dayMs`: the beginning of the
 * day, as if the clock showed UTC.
 */
export function momentsOf(line: CronLine, periods: OffsetPeriod[], dayMs: number, hours: Set<number>): number[] {
  if (!isDayOf(line, new Date(dayMs))) return [];
  return line.hours
    .filter((hour) => hours.has(hour))
    .flatMap((hour) => line.minutes.map((minute) => dayMs + hour * HOUR_MS + minute * MINUTE_MS))
    .flatMap((clockMs) => (line.isByRealTime ? shownAt(periods, clockMs) : [reachedAt(periods, clockMs)]));
}

/** Clocks show the time once, twice in a repeated hour, and never in a missing one. */
function shownAt(periods: OffsetPeriod[], clockMs: number): number[] {
  return periods.flatMap(({ fromMs, untilMs, offsetMs }) => {
    const ms = clockMs - offsetMs;
    return ms >= fromMs && ms < untilMs ? [ms] : [];
  });
}

/** The first moment at which clocks show this time or a later one: in a missing hour, the moment of the change. */
function reachedAt(periods: OffsetPeriod[], clockMs: number): number {
  const { fromMs, offsetMs } = periods.find(({ untilMs, offsetMs: offset }) => untilMs + offset > clockMs)!;
  return Math.max(fromMs, clockMs - offsetMs);
}

function floor(ms: number, unitMs: number): number {
  return Math.floor(ms / unitMs) * unitMs;
}
