// Cron expressions of five fields, as crontab(5) understands them, in the calendars of Temporal.
import { CronExpressionParser } from 'cron-parser';

/** Five fields can say this. The parser's own extensions are left out: seconds, `L`, `#`, `H`, `?`, `@hourly`. */
const FIVE_FIELDS = /^[\d*,/A-Z-]+(?: [\d*,/A-Z-]+){4}$/;
const NAMES = /[A-Z]+/g;
const KNOWN_NAMES = new Set('JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC SUN MON TUE WED THU FRI SAT'.split(' '));

const MONTHS = [
  'JANUARY',
  'FEBRUARY',
  'MARCH',
  'APRIL',
  'MAY',
  'JUNE',
  'JULY',
  'AUGUST',
  'SEPTEMBER',
  'OCTOBER',
  'NOVEMBER',
  'DECEMBER',
] as const;
const DAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'] as const;

/** One of Temporal's. */
interface Calendar {
  second: number;
  minute: number[];
  hour: number[];
  month: (typeof MONTHS)[number][];
  dayOfMonth: number[] | '*';
  dayOfWeek: (typeof DAYS)[number][] | '*';
}

/**
 * The time is longer than between two days that are a 29 February and a certain day of the week, within this century.
 */
const YEARS_AHEAD = 40;
const DAY_MS = 24 * 3_600_000;

interface CronTimes {
  /** The expression with one blank between the fields, names in capitals. */
  cron: string;
  calendars: Calendar[];
  /** True if it means all hours of all days, so that days that are longer or shorter make no difference. */
  isEveryHour: boolean;
}

/** Throws an error whose message says what is wrong. */
export function parseCron(text: string): CronTimes {
  const cron = text.trim().replaceAll(/\s+/g, ' ').toUpperCase();
  const isKnown = FIVE_FIELDS.test(cron) && (cron.match(NAMES) ?? []).every((name) => KNOWN_NAMES.has(name));
  if (!isKnown) throw new Error('it must have the five fields minute, hour, day of month, month, and day of week');
  const { fields } = CronExpressionParser.parse(cron);
  const numbers = (values: readonly (number | string)[]): number[] => [...new Set(values.map(Number))];
  const days = numbers(fields.dayOfWeek.values.map((day) => Number(day) % 7));
  const time = {
    second: 0,
    minute: numbers(fields.minute.values),
    hour: numbers(fields.hour.values),
    month: numbers(fields.month.values).map((month) => MONTHS[month - 1]!),
  };
  const ofMonth = { ...time, dayOfMonth: numbers(fields.dayOfMonth.values) };
  const ofWeek = { ...time, dayOfWeek: days.map((day) => DAYS[day]!) };
  const calendars = calendarsOf(cron, ofMonth, ofWeek);
  if (!calendars.some(comesOnce)) throw new Error('no day is in all of its fields');
  return {
    cron,
    calendars,
    isEveryHour:
      time.hour.length === 24 && time.month.length === 12 && ofMonth.dayOfMonth.length === 31 && days.length === 7,
  };
}

/** A day that is in one of the two fields for days is enough if both say something. */
function calendarsOf(
  cron: string,
  ofMonth: Omit<Calendar, 'dayOfWeek'>,
  ofWeek: Omit<Calendar, 'dayOfMonth'>,
): Calendar[] {
  const [, , dayOfMonth, , dayOfWeek] = cron.split(' ');
  const isEither = !dayOfMonth!.startsWith('*') && !dayOfWeek!.startsWith('*');
  return isEither
    ? [
        { ...ofMonth, dayOfWeek: '*' },
        { ...ofWeek, dayOfMonth: '*' },
      ]
    : [{ ...ofMonth, ...ofWeek }];
}

/** Returns whether the time comes at least once, by Temporal's rule: a day must be in all fields of the calendar. */
function comesOnce({ month, dayOfMonth, dayOfWeek }: Calendar): boolean {
  const months = new Set(month.map((name) => MONTHS.indexOf(name)));
  const ofMonth = dayOfMonth === '*' ? undefined : new Set(dayOfMonth);
  const ofWeek = dayOfWeek === '*' ? undefined : new Set(dayOfWeek.map((name) => DAYS.indexOf(name)));
  const today = Date.now();
  for (let days = 0; days < YEARS_AHEAD * 366; days++) {
    const day = new Date(today + days * DAY_MS);
    const isOfMonth = ofMonth?.has(day.getUTCDate()) ?? true;
    const isOfWeek = ofWeek?.has(day.getUTCDay()) ?? true;
    if (isOfMonth && isOfWeek && months.has(day.getUTCMonth())) return true;
  }
  return false;
}

// Time zones by their names in the IANA database.

const HALF_A_YEAR_MS = 183 * 24 * 3_600_000;

let known: Map<string, string> | undefined;

/** The zone as Temporal spells it; an alias may become the zone that it stands for. Undefined for an unknown one. */
export function toTimeZone(name: string): string | undefined {
  known ??= new Map(['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => [zone.toLowerCase(), zone]));
  const zone = known.get(name.toLowerCase());
  // An offset such as +01:00 is none: Temporal knows names alone.
  if (zone !== undefined || !/^[a-z]/i.test(name)) return zone;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Returns whether the clocks of the zone show the same minutes as UTC, in summer and in winter. */
export function hasWholeHours(timeZone: string): boolean {
  const format = new Intl.DateTimeFormat('en', { timeZone, minute: 'numeric' });
  const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  return [hour, hour + HALF_A_YEAR_MS].every((time) => Number(format.format(time)) === 0);
}
