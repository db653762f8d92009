// Parses `If-None-Match` of polls, and `Prefer: wait` of polls and of requests that start runs (docs/use/live.md).
import { z } from 'zod';

/** Bounds the comparisons; no client needs more tags. */
const MAX_TAGS = 8;
const MAX_WAIT_SECONDS = 55;

export const waitHeaders = z.object({
  prefer: z.string().optional().describe('`wait=N`: seconds that the answer may take until the run has ended'),
});

export const conditionalHeaders = z.object({
  'if-none-match': z.string().optional().describe('The `ETag` of an earlier answer'),
});

/**
 * Returns at most `MAX_TAGS` entity tags, without the mark of a weak tag and without quotes. `*`, and anything that
 * cannot be a tag of this service, is ignored.
 */
export function parseTags(header: string | undefined): string[] {
  const tags = (header ?? '').matchAll(/(?:^|,)[ \t]*(?:W\/)?"([0-9]{1,16}(?:[A-Z][0-9]{1,9})?(?:\.[\w-]{1,32})?)"/g);
  return [...tags].slice(0, MAX_TAGS).map(([, tag]) => tag!);
}

/**
 * Builds the `ETag` from the tag of the stored state and that of the nodes in flight. The `ETag` is weak because the
 * order of keys may differ.
 */
export function toETag(stateTag: string, liveTag: string): string {
  return `W/"${liveTag === '' ? stateTag : `${stateTag}.${liveTag}`}"`;
}

/** True if `If-None-Match` names the entity tag. */
export function isKnown(header: string | undefined, etag: string): boolean {
  return parseTags(header).some((tag) => `W/"${tag}"` === etag);
}

/** One preference: the text up to the next comma outside quoted strings. */
const PREFERENCE = /(?:"(?:\\.|[^"\\])*"?|[^",])+/g;
const WAIT = /^[ \t]*wait[ \t]*=[ \t]*(?:"((?:\\.|[^"\\])*)"|([^\s;"]*))[ \t]*(?:;|$)/i;
const NAMES_WAIT = /^[ \t]*wait[ \t]*(?:[=;]|$)/i;

/**
 * Returns the seconds of `Prefer: wait=N` (RFC 7240): 1 to 55, more is cut to 55. Only the first `wait` counts; if
 * there is none, or it is malformed or 0, the result is undefined. A `wait` inside a quoted string is no preference.
 */
export function parseWait(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '');
  const preference = (text.match(PREFERENCE) ?? []).find((part) => NAMES_WAIT.test(part));
  const [, quoted, token] = WAIT.exec(preference ?? '') ?? [];
  const digits = quoted?.replace(/\\(.)/g, '$1') ?? token ?? '';
  const seconds = /^\d{1,20}$/.test(digits) ? Number(digits) : 0;
  return seconds >= 1 ? Math.min(seconds, MAX_WAIT_SECONDS) : undefined;
}
