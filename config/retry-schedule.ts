import { ConfigError } from './config-error.js';

const MAX_RETRIES = 50;
const WEEK_SECONDS = 604_800;

/** Seconds before each further attempt of a webhook delivery. Throws ConfigError. */
export function parseRetrySchedule(value: string): number[] {
  const parts = value.split(',').map((part) => part.trim());
  const seconds = parts.map(Number);
  const isSchedule = parts.length <= MAX_RETRIES && seconds.every((delay) => delay >= 0 && delay <= WEEK_SECONDS);
  if (!isSchedule || parts.includes('')) {
    throw new ConfigError(
      'WEBHOOK_RETRY_SCHEDULE: must be up to 50 comma-separated numbers of seconds, a week at most.',
    );
  }
  return seconds;
}
