// Looks up time zones of the IANA database and the changes of their clocks.

const MINUTE_MS = 60_000;
/** No zone changes its clocks twice within this time; Morocco changes them before and after Ramadan. */
const STEP_MS = 7 * 24 * 60 * MINUTE_MS;

/** A period in which clocks are ahead of UTC by `offsetMs`. */
export interface OffsetPeriod {
  fromMs: number;
  untilMs: number;
  offsetMs: number;
}

let known: Map<string, string> | undefined;

/**
 * Returns the name of the zone with the capitals that Temporal requires, possibly another name of the same zone.
 * Undefined for an unknown zone.
 */
export function toTimeZone(name: string): string | undefined {
  known ??= new Map(['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => [zone.toLowerCase(), zone]));
  const zone = known.get(name.toLowerCase());
  // Offsets such as +01:00 are refused, because Temporal knows only names.
  if (zone !== undefined || !/^[a-z]/i.test(name)) return zone;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/**
 * Returns the periods between the changes of the zone's clocks in these years, in order. The first one has no beginning
 * and the last one no end.
 */
export function offsetPeriods(timeZone: string, fromYear: number, untilYear: number): OffsetPeriod[] {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const offsetAt = (timeMs: number): number => readOffset(format.format(timeMs));
  const endMs = Date.UTC(untilYear + 1, 0);
  let timeMs = Date.UTC(fromYear, 0);
  let period = { fromMs: -Infinity, untilMs: Infinity, offsetMs: offsetAt(timeMs) };
  const periods = [period];
  while (timeMs < endMs) {
    const nextMs = Math.min(timeMs + STEP_MS, endMs);
    const offsetMs = offsetAt(nextMs);
    if (offsetMs !== period.offsetMs) {
      const fromMs = findChange(timeMs, nextMs, (ms) => offsetAt(ms) === offsetMs);
      period.untilMs = fromMs;
      period = { fromMs, untilMs: Infinity, offsetMs };
      periods.push(period);
    }
    timeMs = nextMs;
  }
  return periods;
}

/** `text` ends in `GMT`, `GMT+05:30` or `GMT-03:00`. */
function readOffset(text: string): number {
  const [, sign, hours, minutes] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(text)!;
  if (sign === undefined) return 0;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
}

/** Returns the first full minute for which `isAfter` is true. `beforeMs` and `afterMs` are full minutes. */
function findChange(beforeMs: number, afterMs: number, isAfter: (ms: number) => boolean): number {
  let [before, after] = [beforeMs / MINUTE_MS, afterMs / MINUTE_MS];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (isAfter(middle * MINUTE_MS)) after = middle;
    else before = middle;
  }
  return after * MINUTE_MS;
}
