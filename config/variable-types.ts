// The types that several environment variables share.
import { z } from 'zod';

/** An invalid variable. The message is one sentence that names it, for the person who started the process. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** A variable that is on or off, in the usual words. */
export const flag = z.stringbool({ truthy: ['true', '1', 'yes', 'on'], falsy: ['false', '0', 'no', 'off'] });

const UNITS: Record<string, number> = { '': 1, MiB: 2 ** 20, GiB: 2 ** 30 };

/** A number of bytes, MiB or GiB (`10 GiB`). Yields bytes. */
export const byteSize = z.string().transform((text, context) => {
  const [, digits = '', unit = ''] = /^(\d{1,15}) ?(MiB|GiB)?$/.exec(text.trim()) ?? [];
  const bytes = Number(digits) * UNITS[unit]!;
  if (digits !== '' && bytes >= 1 && Number.isSafeInteger(bytes)) return bytes;
  context.addIssue({ code: 'custom', message: 'must be a number of bytes, or one with MiB or GiB' });
  return z.NEVER;
});

/** Comma-separated origins of pages, in the form that browsers send: scheme, host and port, without a path. */
export const originList = z
  .string()
  .transform((text) => [...new Set(text.split(',').map((part) => part.trim()))].filter((part) => part !== ''))
  .refine(
    (origins) => origins.every(isOrigin),
    "must be comma-separated origins, such as 'https://app.example.com,http://localhost:5173', without a path",
  );

function isOrigin(text: string): boolean {
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

const MAX_RETRIES = 50;
const WEEK_SECONDS = 604_800;

/** Returns the seconds before each further attempt of a webhook delivery. Throws `ConfigError`. */
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
