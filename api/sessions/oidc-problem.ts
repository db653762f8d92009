import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../http/errors.js';
import type { RouteResult } from '../http/route.js';

/** What the sign-in page has a sentence for. */
const TOLD = new Set([
  'invalid_state',
  'authentication_failed',
  'unknown_user',
  'issuer_unavailable',
  'sign_in_disabled',
]);

/**
 * What `answer` answers. Where it refuses a browser that shows the answer to a person, the answer is the way to the sign-in
 * page, which says why (`?problem=`); programs get the refusal itself.
 */
export async function orSignInPage(
  headers: IncomingHttpHeaders,
  publicUrl: string,
  answer: () => Promise<RouteResult>,
): Promise<RouteResult> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof ApiError) || !TOLD.has(error.code) || !isForPerson(headers)) throw error;
    return { status: 303, headers: { Location: `${publicUrl}/sign-in?problem=${error.code}` } };
  }
}

function isForPerson({ accept = '', 'sec-fetch-mode': mode = 'navigate' }: IncomingHttpHeaders): boolean {
  return accept.includes('text/html') && mode === 'navigate';
}
