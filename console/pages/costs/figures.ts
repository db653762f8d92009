// Spans of days, and tick values for the axis of a chart. Days are in UTC. A span includes its first and last day, as
// in the usage API.
import { isDay } from '../../ui/day.js';

export interface Span {
  /** YYYY-MM-DD. */
  from: string;
  to: string;
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
/** The longest span that the service accepts. */
const MOST_DAYS = 366;

/** Returns the span in the address. The default of `to` is today, that of `from` the 29th day before `to`. */
export function toSpan(from: string, to: string, nowMs: number): Span {
  const last = isDay(to) ? to : dayOf(nowMs);
  return { from: isDay(from) ? from : addDays(last, 1 - DEFAULT_DAYS), to: last };
}

export function lastDays(days: number, nowMs: number): Span {
  const to = dayOf(nowMs);
  return { from: addDays(to, 1 - days), to };
}

/** Returns the days of the span, at most `MOST_DAYS`. Empty if the span ends before it starts. */
export function daysOf({ from, to }: Span): string[] {
  const days: string[] = [];
  for (let day = from; day <= to && days.length < MOST_DAYS; day = addDays(day, 1)) days.push(day);
  return days;
}

function addDays(day: string, days: number): string {
  return dayOf(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS);
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/**
 * Returns the ticks of an axis from 0 to at least `most`: three to five round numbers with their labels, or only 0 if
 * `most` is not positive.
 */
export function ticksOf(most: number): { value: number; text: string }[] {
  if (!(most > 0) || !Number.isFinite(most)) return [{ value: 0, text: '0' }];
  const rough = most / 4;
  const power = Math.floor(Math.log10(rough));
  const unit = 10 ** power;
  const factor = [1, 2, 5, 10].find((candidate) => candidate * unit >= rough * 0.999_999) ?? 10;
  const step = factor * unit;
  const count = Math.ceil((most / step) * 0.999_999);
  const decimals = Math.min(20, Math.max(0, -power));
  return Array.from({ length: count + 1 }, (_, at) => ({ value: at * step, text: labelOf(at * step, decimals) }));
}

function labelOf(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
