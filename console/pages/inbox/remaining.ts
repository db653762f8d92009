const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long there still is, in the two largest units: `2 days 3 hours left`. */
export function remainingText(untilMs: number, nowMs: number): string {
  const ms = untilMs - nowMs;
  if (ms <= 0) return 'expired';
  if (ms < MINUTE_MS) return 'less than a minute left';
  const days = Math.floor(ms / DAY_MS);
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS);
  const parts = [count(days, 'day'), count(hours, 'hour'), days === 0 ? count(minutes, 'minute') : ''];
  return `${parts.filter(Boolean).join(' ')} left`;
}

function count(number: number, unit: string): string {
  if (number === 0) return '';
  return number === 1 ? `1 ${unit}` : `${number} ${unit}s`;
}
