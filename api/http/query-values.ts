// Parses query values that several lists filter by.
import { z } from 'zod';
import { documentedAs } from './documented-as.js';
import { queryInteger } from './pagination.js';
import { MAX_ID } from './path-ids.js';

const DAY_MS = 86_400_000;
const MAX_IDS = 200;

/** Accepts `true`, `false`, `1` and `0`, in upper or lower case. */
export const queryBoolean = documentedAs(
  z
    .string()
    .transform((text) => text.trim().toLowerCase())
    .refine((text) => ['true', 'false', '1', '0'].includes(text), 'Must be a valid boolean.')
    .transform((text) => text === 'true' || text === '1'),
  { type: 'boolean' },
);

/** By default, lists show neither tests nor runs of the assistant in the editor. */
export const queryPurpose = z.enum(['run', 'test']).default('run');
export const runPurpose = z.enum(['run', 'test', 'assistant']);

export const queryAnyPurpose = runPurpose.default('run');

export const queryIds = z.array(queryInteger(0, MAX_ID)).max(MAX_IDS).optional();

export const queryTags = z.array(z.string().trim()).max(MAX_IDS).optional();

/** Comma-separated languages; undefined if the text names none. */
export const queryLanguages = z
  .string()
  .max(2000)
  .transform((text) => {
    const codes = text.split(',').flatMap((code) => code.trim() || []);
    return codes.length === 0 ? undefined : codes;
  })
  .optional();

const DAY = { type: 'string', format: 'date' };
const dayText = z
  .string()
  .trim()
  .refine(isDay, 'Enter a valid date.')
  .transform((text) => new Date(`${text}T00:00:00Z`));

/** A UTC day as its first instant. */
export const queryDay = documentedAs(dayText, DAY);

/** The first instant after a UTC day, for exclusive bounds that include the day. */
export const queryDayEnd = documentedAs(
  dayText.transform((start) => new Date(start.getTime() + DAY_MS)),
  DAY,
);

const MOMENT = {
  type: 'string',
  anyOf: [{ format: 'date-time' }, { format: 'date' }],
  description: 'ISO 8601 with its offset; a day without a time is the whole UTC day',
};
const momentText = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

/** A time, or the first instant of a UTC day. */
export const queryMoment = documentedAs(oneOf(momentText, dayText), MOMENT);

/** A time, or the first instant after a UTC day: an exclusive bound that includes a named day. */
export const queryMomentEnd = documentedAs(oneOf(momentText, queryDayEnd), MOMENT);

/** Text that contains a `T` is parsed as a time, other text as a day. */
function oneOf(moment: z.ZodType<Date, string>, day: z.ZodType<Date, string>) {
  return z
    .string()
    .trim()
    .transform((text, context) => {
      const parsed = (text.includes('T') ? moment : day).safeParse(text);
      if (parsed.success && parsed.data.getUTCFullYear() > 0) return parsed.data;
      context.addIssue({ code: 'custom', message: 'Enter a valid date, or a time in ISO 8601 with its offset.' });
      return z.NEVER;
    });
}

/** Empty text is no filter. */
export const queryText = z
  .string()
  .transform((text) => text || undefined)
  .optional();

/** Checks the calendar, because JavaScript alone reads February 31 as a day of March. The database has no year 0. */
function isDay(text: string): boolean {
  if (!/^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** Accepts each word, and each word after `-` for the descending order. */
export function queryOrdering<Word extends string>(words: readonly Word[]) {
  return z.enum(words.flatMap((word): (Word | `-${Word}`)[] => [word, `-${word}`]));
}
