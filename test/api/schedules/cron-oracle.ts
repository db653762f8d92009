// Computes when cron lines are due without the service's code: it reads the zone's clock minute by minute.

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Clocks are changed at full quarters of an hour. */
const QUARTER = 15;
const BOUNDS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const;

/** One minute on the clock of a zone. */
export interface Shown {
  ms: number;
  /** The local time, encoded as if it were UTC. */
  clock: number;
  /** The fields in the order of a cron line. */
  fields: [minute: number, hour: number, day: number, month: number, weekday: number];
}

/** Every minute from `fromMs` to before `untilMs` on the zone's clock. `fromMs`: a full quarter of an hour. */
export function watchClock(timeZone: string, fromMs: number, untilMs: number): Shown[] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  const minutes: Shown[] = [];
  for (let ms = fromMs; ms < untilMs; ms += QUARTER * MINUTE_MS) {
    const clock = Date.parse(`${format.format(ms).replace(' ', 'T')}Z`);
    for (let more = 0; more < QUARTER * MINUTE_MS; more += MINUTE_MS) minutes.push(toShown(ms + more, clock + more));
  }
  return minutes;
}

function toShown(ms: number, clock: number): Shown {
  const date = new Date(clock);
  const [minute, hour] = [date.getUTCMinutes(), date.getUTCHours()];
  return { ms, clock, fields: [minute, hour, date.getUTCDate(), date.getUTCMonth() + 1, date.getUTCDay()] };
}

interface Line {
  isDue: (fields: Shown['fields']) => boolean;
  isByRealTime: boolean;
}

/** Reads numbers, `*`, `a-b`, lists and steps. */
function readLine(cron: string): Line {
  const texts = cron.split(' ');
  const [minutes, hours, days, months, weekdays] = texts.map((text, index) => new Set(readField(text, BOUNDS[index]!)));
  const hasStar = texts.map((text) => text.startsWith('*'));
  const isEither = !hasStar[2] && !hasStar[4];
  const isDue = ([minute, hour, day, month, weekday]: Shown['fields']): boolean =>
    minutes!.has(minute) &&
    hours!.has(hour) &&
    months!.has(month) &&
    (isEither ? days!.has(day) || weekdays!.has(weekday) : days!.has(day) && weekdays!.has(weekday));
  return { isDue, isByRealTime: hasStar[0]! || hasStar[1]! };
}

function readField(text: string, [least, most]: readonly [number, number]): number[] {
  return text.split(',').flatMap((part) => {
    const [range, step] = part.split('/');
    const [first, last] = range === '*' ? [least, most] : (range!.split('-').map(Number) as [number, number?]);
    const end = last ?? (step === undefined ? first : most);
    const numbers = [];
    for (let number = first; number <= end; number += Number(step ?? 1)) numbers.push(number);
    return numbers;
  });
}

/**
 * The times of the cron line in `watched`. A line with fixed minutes and hours is due when the clock first shows the
 * time or skips it. A line with `*` as minute or hour is due whenever the clock shows its time.
 */
export function dueTimes(cron: string, watched: Shown[]): number[] {
  const { isDue, isByRealTime } = readLine(cron);
  if (isByRealTime) return watched.flatMap(({ ms, fields }) => (isDue(fields) ? [ms] : []));
  const times = [];
  let next = watched[0]!.clock;
  for (const { ms, clock, fields } of watched) {
    if (clock < next) continue;
    let isTime = isDue(fields);
    for (; next < clock; next += MINUTE_MS) isTime ||= isDue(toShown(ms, next).fields);
    next += MINUTE_MS;
    if (isTime) times.push(ms);
  }
  return times;
}

/** Spans of two days with a change of the zone's clocks in the middle. */
export function daysOfChange(timeZone: string, fromMs: number, untilMs: number): [fromMs: number, untilMs: number][] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, timeStyle: 'short' });
  const spans: [number, number][] = [];
  let shown = format.format(fromMs);
  for (let ms = fromMs; ms < untilMs; ms += DAY_MS) {
    const then = format.format(ms + DAY_MS);
    if (then !== shown) spans.push([ms - DAY_MS / 2, ms + (3 * DAY_MS) / 2]);
    shown = then;
  }
  return spans;
}

export function toText(times: number[]): string {
  return times.map((time) => new Date(time).toISOString().slice(0, 16)).join(' ');
}
