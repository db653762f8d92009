// Compares the times of the specs for Temporal with those of cron-oracle.ts, in all time zones.
// clocks-of-all-zones.test.ts checks that Temporal itself finds the same times.
import assert from 'node:assert/strict';
import type { CalendarSpec } from '@temporalio/client';
import { parseCron } from '../../../api/schedules/cron.js';
import { toSpec } from '../../../api/schedules/temporal-spec.js';
import { offsetPeriods } from '../../../api/schedules/time-zones.js';
import { daysOfChange, dueTimes, toText, watchClock, type Shown } from './cron-oracle.js';
import { sampleLines } from './cron-lines.js';

const YEAR = new Date().getUTCFullYear();
const [FROM, UNTIL] = [Date.UTC(YEAR, 0, 1), Date.UTC(YEAR + 3, 0, 1)];
const DAY_MS = 24 * 3_600_000;
const SAMPLES = 3;
const SEED = Number(process.env['SCHEDULES_SEED'] ?? 1);

const FIELDS = ['minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek'] as const;
const MONTHS = Array.from({ length: 12 }, (_, month) => nameOf({ month: 'long' }, Date.UTC(2026, month, 1)));
/** The fourth of January 2026 is a Sunday. */
const DAYS = Array.from({ length: 7 }, (_, day) => nameOf({ weekday: 'long' }, Date.UTC(2026, 0, 4 + day)));

function nameOf(options: Intl.DateTimeFormatOptions, ms: number): string {
  return new Intl.DateTimeFormat('en', { ...options, timeZone: 'UTC' }).format(ms).toUpperCase();
}

type Spec = ReturnType<typeof toSpec>;

/** Returns a function that returns whether a minute of a clock is in the calendar. */
function inCalendar(calendar: CalendarSpec): (fields: Shown['fields']) => boolean {
  const [minutes, hours, days, months, weekdays] = FIELDS.map(
    (name) => new Set(calendar[name] as (string | number)[] | '*'),
  );
  return ([minute, hour, day, month, weekday]) =>
    minutes!.has(minute) &&
    hours!.has(hour) &&
    days!.has(day) &&
    months!.has(MONTHS[month - 1]!) &&
    (weekdays!.has('*') || weekdays!.has(DAYS[weekday]!));
}

function isOfYear({ year }: CalendarSpec, wanted: number): boolean {
  const years = [year ?? []].flat() as (number | { start: number; end: number })[];
  const isIn = years.map((one) =>
    typeof one === 'number' ? one === wanted : one.start <= wanted && wanted <= one.end,
  );
  return years.length === 0 || isIn.includes(true);
}

/** The times of the spec among the `watched` minutes, which are in the zone of the spec and within one year. */
function timesOf({ calendars, intervals }: Spec, watched: Shown[]): number[] {
  const year = new Date(watched[0]!.clock).getUTCFullYear();
  const matches = calendars.filter((calendar) => isOfYear(calendar, year)).map(inCalendar);
  const alone = new Set(intervals.map(({ every }) => every as number));
  return watched.flatMap(({ ms, fields }) => (alone.has(ms) || matches.some((match) => match(fields)) ? [ms] : []));
}

describe('specs of schedules', function () {
  this.timeout(120_000);

  it(`are due as clocks show, in all time zones for three years (seed ${SEED})`, () => {
    let compared = 0;
    /** The first zone of each group with the same clocks. Only this one is compared minute by minute. */
    const known = new Map<string, string>();
    for (const zone of Intl.supportedValuesOf('timeZone')) {
      const changes = daysOfChange(zone, FROM, UNTIL);
      const spans = changes.length > 0 ? changes : [[FROM, FROM + 2 * DAY_MS] as const];
      const watched = spans.map((span) => watchClock(zone, ...span));
      const key = watched.map((minutes) => minutes.map(({ ms, clock }) => `${ms} ${clock - ms}`).join()).join();
      const alike = known.get(key);
      if (alike !== undefined) {
        assert.deepEqual(
          offsetPeriods(zone, YEAR, YEAR + 2),
          offsetPeriods(alike, YEAR, YEAR + 2),
          `${zone}, ${alike}`,
        );
        continue;
      }
      const lines = sampleLines(SEED, known.size, SAMPLES);
      known.set(key, zone);
      const inUtc = spans.map((span) => watchClock('UTC', ...span));
      for (const cron of lines) {
        const spec = toSpec(parseCron(cron), zone, YEAR);
        for (const [at, minutes] of watched.entries()) {
          const found = timesOf(spec, spec.timezone === 'UTC' ? inUtc[at]! : minutes);
          const due = dueTimes(cron, minutes);
          compared += due.length;
          assert.equal(toText(found), toText(due), `${cron} in ${zone}`);
        }
      }
    }
    assert.ok(compared > 100_000, `${compared}`);
  });

  it('names the field of a cron expression that is wrong, and its values', () => {
    assert.throws(() => parseCron('60 * * * *'), /no valid minute, which is 0 to 59/);
    assert.throws(() => parseCron('*/0 25 * * *'), /no valid minute/);
    assert.throws(() => parseCron('0 25 * * *'), /no valid hour, which is 0 to 23/);
    assert.throws(() => parseCron('0 0 * 13 *'), /no valid month/);
    assert.throws(() => parseCron('0 0 30 2 *'), /no day|fit together/);
  });
});
