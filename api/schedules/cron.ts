// Parses cron expressions of five fields, as defined by crontab(5).
import { CronExpressionParser } from 'cron-parser';

/**
 * Five fields of standard characters. With the check against `KNOWN_NAMES`, this refuses the extensions of the parser:
 * seconds, `L`, `#`, `H`, `?`, `@hourly`.
 */
const FIVE_FIELDS = /^[\d*,/A-Z-]+(?: [\d*,/A-Z-]+){4}$/;
const NAMES = /[A-Z]+/g;
const KNOWN_NAMES = new Set('JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC SUN MON TUE WED THU FRI SAT'.split(' '));

/** Longer than the time between two occurrences of 29 February on a certain day of the week, within this century. */
const YEARS_AHEAD = 40;
const DAY_MS = 24 * 3_600_000;

export interface CronLine {
  /** The expression with one blank between the fields, names in capitals. */
  cron: string;
  minutes: number[];
  hours: number[];
  daysOfMonth: number[];
  /** Counts from 1. */
  months: number[];
  /** Counts from 0, which is Sunday. */
  daysOfWeek: number[];
  /** True if neither field for days starts with `*`: a day that matches one of them is enough then. */
  isEitherDay: boolean;
  /**
   * True if minutes or hours start with `*`: the line is then due both times in an hour that clocks show twice, and not
   * in an hour that they skip. Any other line is due once for each of its times.
   */
  isByRealTime: boolean;
}

/** Throws an error whose message explains the mistake. */
export function parseCron(text: string): CronLine {
  const cron = text.trim().replaceAll(/\s+/g, ' ').toUpperCase();
  const isKnown = FIVE_FIELDS.test(cron) && (cron.match(NAMES) ?? []).every((name) => KNOWN_NAMES.has(name));
  if (!isKnown) throw new Error('it must have the five fields minute, hour, day of month, month, and day of week');
  const fields = readFields(cron);
  const numbers = (values: readonly (number | string)[]): number[] => [...new Set(values.map(Number))];
  const [minute, hour, dayOfMonth, , dayOfWeek] = cron.split(' ').map((field) => field.startsWith('*'));
  const line = {
    cron,
    minutes: numbers(fields.minute.values),
    hours: numbers(fields.hour.values),
    daysOfMonth: numbers(fields.dayOfMonth.values),
    months: numbers(fields.month.values),
    daysOfWeek: numbers(fields.dayOfWeek.values.map((day) => Number(day) % 7)),
    isEitherDay: !dayOfMonth && !dayOfWeek,
    isByRealTime: minute! || hour!,
  };
  if (!hasDay(line)) throw new Error('no day is in all of its fields');
  return line;
}

const FIELDS = [
  'minute, which is 0 to 59',
  'hour, which is 0 to 23',
  'day of month, which is 1 to 31',
  'month, which is 1 to 12 or JAN to DEC',
  'day of week, which is 0 to 7 or SUN to SAT',
];

/**
 * Parses the fields. Unlike the errors of the parser, its errors name the wrong field and the values that are allowed
 * there, unless each field is right by itself.
 */
function readFields(cron: string) {
  try {
    return CronExpressionParser.parse(cron).fields;
  } catch (error) {
    const alone = cron.split(' ').map((field, index) => FIELDS.map((_, at) => (at === index ? field : '*')).join(' '));
    const wrong = FIELDS.find((_, index) => !isParsed(alone[index]!));
    throw new Error(wrong === undefined ? 'its fields do not fit together' : `it has no valid ${wrong}`, {
      cause: error,
    });
  }
}

function isParsed(cron: string): boolean {
  try {
    return CronExpressionParser.parse(cron) !== undefined;
  } catch {
    return false;
  }
}

/** Returns true if the line is due on the date of `day` in UTC. */
export function isDayOf({ months, daysOfMonth, daysOfWeek, isEitherDay }: CronLine, day: Date): boolean {
  if (!months.includes(day.getUTCMonth() + 1)) return false;
  const isOfMonth = daysOfMonth.includes(day.getUTCDate());
  const isOfWeek = daysOfWeek.includes(day.getUTCDay());
  return isEitherDay ? isOfMonth || isOfWeek : isOfMonth && isOfWeek;
}

function hasDay(line: CronLine): boolean {
  const today = Date.now();
  for (let days = 0; days < YEARS_AHEAD * 366; days++) {
    if (isDayOf(line, new Date(today + days * DAY_MS))) return true;
  }
  return false;
}
