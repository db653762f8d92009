import type { IncomingHttpHeaders } from 'node:http';
import { AuthorizationResponseError, ClientError } from 'openid-client';
import type { Logger } from '../../telemetry/logger.js';
import { ApiError } from '../http/errors.js';
import type { RouteResult } from '../http/route.js';

/** openid-client's codes for an issuer that did not answer, or not with JSON or not with the expected status. */
const UNREACHABLE = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_PARSE_ERROR',
  'OAUTH_RESPONSE_IS_NOT_JSON',
]);
const RETRY_AFTER_SECONDS = 30;

/**
 * Converts an error of the issuer, or of a check of its answer, to an answer of this service. Only error codes are
 * logged, because the errors of the library contain authorization codes and tokens of the flow.
 */
export function toOidcError(error: unknown, log: Logger): ApiError {
  if (error instanceof ApiError) return error;
  const code = codeOf(error);
  // `fetch` throws a TypeError if there is no connection.
  if (error instanceof TypeError || UNREACHABLE.has(code)) {
    log.warn({ code }, 'the issuer of OpenID Connect gives no usable answer');
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
  const { error: standardCode, code } = (error ?? {}) as { error?: unknown; code?: unknown };
  // Logs only text in the form of the codes of the standard, such as `access_denied`; an issuer may send other text.
  if (typeof standardCode === 'string' && /^[a-z_]{1,60}$/.test(standardCode)) return standardCode;
  if (error instanceof ClientError && typeof code === 'string') return code;
  return error instanceof Error ? error.name : 'unknown';
}

/** The codes that the sign-in page can explain. */
const EXPLAINED = new Set([
  'invalid_state',
  'authentication_failed',
  'unknown_user',
  'issuer_unavailable',
  'sign_in_disabled',
]);

/**
 * Returns the result of `answer`. If `answer` throws an error that the sign-in page can explain, and the browser shows
 * the answer to a person, redirects to that page with the code (`?problem=`); otherwise throws the error.
 */
export async function orSignInPage(
  headers: IncomingHttpHeaders,
  publicUrl: string,
  answer: () => Promise<RouteResult>,
): Promise<RouteResult> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof ApiError) || !EXPLAINED.has(error.code) || !isForPerson(headers)) throw error;
    return { status: 303, headers: { Location: `${publicUrl}/sign-in?problem=${error.code}` } };
  }
}

function isForPerson({ accept = '', 'sec-fetch-mode': mode = 'navigate' }: IncomingHttpHeaders): boolean {
  return accept.includes('text/html') && mode === 'navigate';
}
