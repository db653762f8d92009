// The days of a page of costs: UTC days, both included, as the service counts them.

export interface Span {
  /** YYYY-MM-DD. */
  from: string;
  to: string;
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
/** As many as the service answers at once. */
const MOST_DAYS = 366;

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

/** The marks of an axis from zero to at least `most`: three to six round numbers, as the texts that a person reads. */
export function marksOf(most: number): { value: number; text: string }[] {
  if (!(most > 0) || !Number.isFinite(most)) return [{ value: 0, text: '0' }];
  const rough = most / 4;
  const power = Math.floor(Math.log10(rough));
  const unit = 10 ** power;
  const factor = [1, 2, 5, 10].find((candidate) => candidate * unit >= rough * 0.999_999) ?? 10;
  const step = factor * unit;
  const count = Math.ceil((most / step) * 0.999_999);
  const decimals = Math.min(20, Math.max(0, -power));
  return Array.from({ length: count + 1 }, (_, at) => ({ value: at * step, text: written(at * step, decimals) }));
}

function written(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

// Adds plain decimals as the service writes them (`0.00002`), exactly: doubles would not.

/** The sum with as many decimals as it needs. Throws for what is no plain decimal. */
export function sumDecimals(texts: readonly string[]): string {
  const parts = texts.map(parse);
  const scale = Math.max(0, ...parts.map(({ decimals }) => decimals));
  let sum = 0n;
  for (const { digits, decimals } of parts) sum += digits * 10n ** BigInt(scale - decimals);
  return write(sum, scale);
}

function parse(text: string): { digits: bigint; decimals: number } {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) throw new TypeError(`${text} is no plain decimal`);
  return { digits: BigInt(`${sign}${whole}${fraction}`), decimals: fraction.length };
}

function write(sum: bigint, scale: number): string {
  const digits = (sum < 0n ? -sum : sum).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  return `${sum < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
