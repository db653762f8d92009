// The days of a page of costs: UTC days, both included, as the service counts them.

export interface Span {
  /** YYYY-MM-DD. */
  from: string;
  to: string;
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
/** As many as the service answers at once. */
export const MOST_DAYS = 366;

/** Of the address, where a person may have written anything; the last 30 days unless it says otherwise. */
export function toSpan(from: string, to: string, nowMs: number): Span {
  const last = isDay(to) ? to : dayOf(nowMs);
  return { from: isDay(from) ? from : addDays(last, 1 - DEFAULT_DAYS), to: last };
}

/** The last so many days, today included. */
export function lastDays(days: number, nowMs: number): Span {
  const to = dayOf(nowMs);
  return { from: addDays(to, 1 - days), to };
}

/** Every day of the span; none where it ends before it begins, and no more than the service takes. */
export function daysOf({ from, to }: Span): string[] {
  const days: string[] = [];
  for (let day = from; day <= to && days.length < MOST_DAYS; day = addDays(day, 1)) days.push(day);
  return days;
}

export function isDay(text: string): boolean {
  if (!/^[1-9]\d{3}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && dayOf(day.getTime()) === text;
}

function addDays(day: string, days: number): string {
  return dayOf(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS);
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
