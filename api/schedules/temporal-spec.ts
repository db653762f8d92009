// Converts a cron line to a spec of Temporal. Temporal's calendars err where clocks are changed, so they exclude the
// days of a change: each moment around the change becomes an interval of its own, and the other hours of such a day get
// a calendar of their own.
import { createHash } from 'node:crypto';
import type { CalendarSpec, ScheduleSpec } from '@temporalio/client';
import { isDayOf, type CronLine } from './cron.js';
import { hoursAroundChanges, momentsOf } from './moments.js';
import { offsetPeriods, type OffsetPeriod } from './time-zones.js';

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
const ALL_DAYS = Array.from({ length: 31 }, (_, index) => index + 1);

/**
 * One year back, because firings of last year may have to be made up for. Six years ahead, because the answer shows the
 * next five times, and a line may be due only once a year.
 */
const YEARS_BACK = 1;
const YEARS_AHEAD = 6;
/** The years that a calendar of Temporal may have. */
const FIRST_YEAR = 2000;
const LAST_YEAR = 2100;
const WHOLE_HOUR_MS = 3_600_000;

/** Days and months as numbers, as in a cron line. */
interface Calendar {
  year?: CalendarSpec['year'];
  months: number[];
  daysOfMonth: number[];
  daysOfWeek: number[] | '*';
  hours: number[];
}

/** A day that is excluded from Temporal's calendars. `hours`: the hours around the change of clocks. */
interface ChangedDay {
  dayMs: number;
  year: number;
  month: number;
  day: number;
  hours: Set<number>;
}

type Spec = Required<Pick<ScheduleSpec, 'intervals' | 'timezone'>> & { calendars: CalendarSpec[] };

/**
 * `year`: the present one. The spec is right from one year before to six years after it. If the line is due around
 * changes of clocks, the spec changes with the year.
 */
export function toSpec(line: CronLine, timeZone: string, year: number): Spec {
  const [first, last] = [year - YEARS_BACK, year + YEARS_AHEAD];
  const periods = offsetPeriods(timeZone, first, last);
  const calendars = calendarsOf(line);
  if (isEveryHour(line) && periods.every(({ offsetMs }) => offsetMs % WHOLE_HOUR_MS === 0)) {
    return { calendars: calendars.map((calendar) => toCalendar(line, calendar)), intervals: [], timezone: 'UTC' };
  }
  const changed = changedDays(line, periods);
  const moments = changed.flatMap(({ dayMs, hours }) => momentsOf(line, periods, dayMs, hours));
  return {
    calendars: [...calendars.flatMap((calendar) => without(calendar, changed)), ...restsOf(line, changed)].map(
      (calendar) => toCalendar(line, calendar),
    ),
    // Temporal counts intervals from 1970, so the second occurrence of such an interval is after 2080.
    intervals: [...new Set(moments)].map((moment) => ({ every: moment })),
    timezone: timeZone,
  };
}

export function nameOfSpec(spec: Spec): string {
  return createHash('sha256').update(JSON.stringify(spec)).digest('hex').slice(0, 8);
}

function isEveryHour({ isByRealTime, hours, months, daysOfMonth, daysOfWeek }: CronLine): boolean {
  return isByRealTime && [hours, months, daysOfMonth, daysOfWeek].map(({ length }) => length).join() === '24,12,31,7';
}

/** Temporal requires that a day matches all fields of a calendar, so "either day" becomes two calendars. */
function calendarsOf({ months, daysOfMonth, daysOfWeek, hours, isEitherDay }: CronLine): Calendar[] {
  if (!isEitherDay) return [{ months, daysOfMonth, daysOfWeek, hours }];
  return [
    { months, daysOfMonth, daysOfWeek: '*', hours },
    { months, daysOfMonth: ALL_DAYS, daysOfWeek, hours },
  ];
}

/**
 * Returns the days of changes on which the line is due in an hour around the change. A day that may start with a
 * missing hour counts for each line that restricts the days of the week, because Temporal may take it for the day
 * before.
 */
function changedDays(line: CronLine, periods: OffsetPeriod[]): ChangedDay[] {
  return [...hoursAroundChanges(periods)].flatMap(([dayMs, hours]) => {
    const date = new Date(dayMs);
    const month = date.getUTCMonth() + 1;
    const isDue = isDayOf(line, date) && line.hours.some((hour) => hours.has(hour));
    const isMistaken = line.months.includes(month) && line.daysOfWeek.length < DAYS.length && hours.has(0);
    return isDue || isMistaken ? [{ dayMs, year: date.getUTCFullYear(), month, day: date.getUTCDate(), hours }] : [];
  });
}

/** Returns the calendar without these days. Temporal's `skip` would exclude the intervals of these days, too. */
function without(calendar: Calendar, changed: ChangedDay[]): Calendar[] {
  if (changed.length === 0) return [calendar];
  const years = changed.map(({ year }) => year);
  const [first, last] = [Math.min(...years), Math.max(...years)];
  const outside = [
    { start: FIRST_YEAR, end: first - 1 },
    { start: last + 1, end: LAST_YEAR },
  ];
  const rest: Calendar[] = [{ ...calendar, year: outside }];
  for (let year = first; year <= last; year++) {
    const ofYear = changed.filter((day) => day.year === year);
    const months = new Set(ofYear.map(({ month }) => month));
    rest.push({ ...calendar, year, months: calendar.months.filter((month) => !months.has(month)) });
    for (const month of months) {
      const days = new Set(ofYear.filter((day) => day.month === month).map(({ day }) => day));
      const daysOfMonth = calendar.daysOfMonth.filter((day) => !days.has(day));
      rest.push({ ...calendar, year, months: [month], daysOfMonth });
    }
  }
  return rest.filter(({ months, daysOfMonth }) => months.length > 0 && daysOfMonth.length > 0);
}

/** Calendars for the hours of these days that are far enough from the change for Temporal. */
function restsOf(line: CronLine, changed: ChangedDay[]): Calendar[] {
  return changed.flatMap(({ dayMs, year, month, day, hours }) => {
    const rest = line.hours.filter((hour) => !hours.has(hour));
    if (rest.length === 0 || !isDayOf(line, new Date(dayMs))) return [];
    return [{ year, months: [month], daysOfMonth: [day], daysOfWeek: '*', hours: rest }];
  });
}

function toCalendar({ minutes }: CronLine, calendar: Calendar): CalendarSpec {
  const { year, months, daysOfMonth, daysOfWeek, hours } = calendar;
  return {
    second: 0,
    minute: minutes,
    hour: hours,
    dayOfMonth: daysOfMonth,
    month: months.map((month) => MONTHS[month - 1]!),
    dayOfWeek: daysOfWeek === '*' ? '*' : daysOfWeek.map((day) => DAYS[day]!),
    ...(year !== undefined && { year }),
  };
}
