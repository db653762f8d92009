import type { IncomingHttpHeaders } from 'node:http';
import { AuthorizationResponseError, ClientError } from 'openid-client';
import type { Logger } from '../../telemetry/logger.js';
import { ApiError } from '../http/errors.js';
import type { RouteResult } from '../http/route.js';

/** openid-client reports an issuer that did not answer, or not as an issuer answers, by these codes. */
const UNREACHABLE = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_PARSE_ERROR',
  'OAUTH_RESPONSE_IS_NOT_JSON',
]);
const RETRY_AFTER_SECONDS = 30;

/**
 * The answer to a sign-in that the issuer, or a check of its answer, has failed. The log gets codes only: the library's
 * errors hold codes and tokens of the flow.
 */
export function toOidcError(error: unknown, log: Logger): ApiError {
  if (error instanceof ApiError) return error;
  const code = codeOf(error);
  // `fetch` throws a TypeError when there is no connection.
  if (error instanceof TypeError || UNREACHABLE.has(code)) {
    log.warn({ code }, 'the issuer of OpenID Connect does not answer');
    return new ApiError(503, 'issuer_unavailable', 'The identity provider does not answer. Please try again.', {
      headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    });
  }
  log.warn({ code }, 'a sign-in by OpenID Connect was refused');
  const message =
    error instanceof AuthorizationResponseError
      ? 'The identity provider has refused the sign-in.'
      : "The identity provider's answer is not valid for this sign-in.";
  return new ApiError(401, 'authentication_failed', message, { headers: { 'WWW-Authenticate': 'Bearer realm="api"' } });
}

function codeOf(error: unknown): string {
  const { error: said, code } = (error ?? {}) as { error?: unknown; code?: unknown };
  // Words of the standards, such as `access_denied`; whatever else an issuer writes stays out of the log.
  if (typeof said === 'string' && /^[a-z_]{1,60}$/.test(said)) return said;
  if (error instanceof ClientError && typeof code === 'string') return code;
  return error instanceof Error ? error.name : 'unknown';
}

/** The sign-in page has a sentence for each of these. */
const TOLD = new Set([
  'invalid_state',
  'authentication_failed',
  'unknown_user',
  'issuer_unavailable',
  'sign_in_disabled',
]);

/**
 * Returns the answer of `answer`. If it refuses a browser that shows the answer to a person, the answer is the way to
 * the sign-in page, which says why (`?problem=`); programs get the refusal itself.
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
