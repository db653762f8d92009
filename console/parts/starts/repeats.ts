// Cron expressions as people say them: every 15 minutes, every day at 09:00. Any other expression is written by hand.

export const REPEATS = ['minutes', 'hour', 'day', 'week', 'month', 'cron'] as const;

type Kind = (typeof REPEATS)[number];

export interface Repeat {
  kind: Kind;
  /** For `minutes`: how many. */
  every: string;
  /** For `hour`: the minute, from 0 to 59. */
  minute: string;
  /** For `day`, `week` and `month`: the time of day, such as `09:00`. */
  at: string;
  /** For `week`: the days as in cron, such as `MON-FRI`. */
  days: string;
  /** For `month`: the day, from 1 to 31. */
  day: string;
}

/** Numbers of minutes that divide an hour, so that the intervals between runs are equal. */
export const MINUTES = ['1', '2', '5', '10', '15', '20', '30'];

export const DAYS: readonly { value: string; label: string }[] = [
  { value: 'MON-FRI', label: 'Monday to Friday' },
  { value: 'SAT,SUN', label: 'Saturday and Sunday' },
  { value: 'MON', label: 'Monday' },
  { value: 'TUE', label: 'Tuesday' },
  { value: 'WED', label: 'Wednesday' },
  { value: 'THU', label: 'Thursday' },
  { value: 'FRI', label: 'Friday' },
  { value: 'SAT', label: 'Saturday' },
  { value: 'SUN', label: 'Sunday' },
];

const START: Repeat = { kind: 'cron', every: '15', minute: '0', at: '09:00', days: 'MON-FRI', day: '1' };

/**
 * Returns undefined if the expression is written by hand. Returns an empty text if a field is empty or out of range, so
 * that the earlier expression is not saved instead.
 */
export function toCron({ kind, every, minute, at, days, day }: Repeat): string | undefined {
  if (kind === 'cron') return undefined;
  if (kind === 'minutes') return every === '1' ? '* * * * *' : `*/${every} * * * *`;
  if (kind === 'hour') return isNumber(minute, 0, 59) ? `${Number(minute)} * * * *` : '';
  const [, hours, minutes] = /^(\d{2}):(\d{2})/.exec(at) ?? [];
  if (hours === undefined || minutes === undefined) return '';
  const time = `${Number(minutes)} ${Number(hours)}`;
  if (kind === 'day') return `${time} * * *`;
  if (kind === 'week') return `${time} * * ${days}`;
  return isNumber(day, 1, 31) ? `${time} ${Number(day)} * *` : '';
}

/** Returns the repeat of an expression. Fields of other kinds are those of `known`, for a later change of the kind. */
export function ofCron(cron: string, known: Repeat = START): Repeat {
  const [minute = '', hour = '', day = '', month = '', days = '', ...others] = cron.trim().toUpperCase().split(/\s+/);
  const other: Repeat = { ...known, kind: 'cron' };
  if (month !== '*' || others.length > 0) return other;
  if (hour === '*' && day === '*' && days === '*') {
    const every = minute === '*' ? '1' : minute.replace(/^\*\//, '');
    if (every !== minute && MINUTES.includes(every)) return { ...known, kind: 'minutes', every };
    return isNumber(minute, 0, 59) ? { ...known, kind: 'hour', minute } : other;
  }
  if (!isNumber(minute, 0, 59) || !isNumber(hour, 0, 23)) return other;
  const at = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (day === '*' && days === '*') return { ...known, kind: 'day', at };
  if (day === '*' && DAYS.some(({ value }) => value === days)) return { ...known, kind: 'week', at, days };
  return days === '*' && isNumber(day, 1, 31) ? { ...known, kind: 'month', at, day } : other;
}

/** Returns true if the text is a whole number of one or two digits in the range. */
export function isNumber(text: string, least: number, most: number): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) >= least && Number(text) <= most;
}
