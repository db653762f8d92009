// With a tag in `If-Match`, a change is made only in the state that the caller has read; with `If-None-Match: *`, only
// if there is no object yet. RFC 9110, 13.1.1 and 13.1.2.
import { z } from 'zod';
import { documentedAs } from './documented-as.js';
import { ApiError } from './errors.js';

/** A tag, or any other text between commas and spaces. */
const PIECE = /(?:W\/)?"[^"]*"|[^,\s]+/g;
const TAG = /^(?:W\/)?"[^"]*"$/;

type IfMatch = '*' | string[];

const ifMatch = documentedAs(
  z.string().transform((text, context): IfMatch => {
    const pieces = text.match(PIECE) ?? [];
    if (pieces.length === 1 && pieces[0] === '*') return '*';
    if (pieces.length > 0 && pieces.every((piece) => TAG.test(piece))) return pieces;
    // Ignoring a malformed header would let the caller overwrite a change that it wanted to detect.
    context.addIssue({
      code: 'custom',
      message: 'Must be * or a list of entity tags such as "12.3", with their quotes.',
    });
    return z.NEVER;
  }),
  {
    type: 'string',
    description: 'The `ETag` of an earlier answer; nothing is changed when it is no longer the present one',
  },
);

export const ifMatchHeaders = z.object({ 'if-match': ifMatch.optional() });

export const ifNoneMatchAnyHeaders = z.object({
  'if-none-match': z
    .literal('*', 'Must be *.')
    .optional()
    .describe('`*`: nothing is changed when there is one already'),
});

/**
 * Throws 412 if there is a condition and it does not name the present tag, which is undefined if there is no object.
 * `*` names every tag. A weak tag never matches: `etag` is strong, and RFC 9110 requires the strong comparison.
 */
export function refuseStale(condition: IfMatch | undefined, etag: string | undefined): void {
  if (condition === undefined) return;
  if (etag !== undefined && (condition === '*' || condition.includes(etag))) return;
  throw new ApiError(412, 'precondition_failed', 'It has been changed since you read it. Read it again.');
}

/** Throws 412 if the condition demands that there is no object, and there is one. */
export function refuseExisting(condition: '*' | undefined, etag: string | undefined): void {
  if (condition === undefined || etag === undefined) return;
  throw new ApiError(412, 'precondition_failed', 'There is one already. Read it first.');
}
