// Session tokens (JWT): those of our own sessions, and those that others issue for their front ends. Specification,
// "Authentication"; docs/use/interface-notes/access.md.
import { createRemoteJWKSet, errors, jwtVerify, type JWTVerifyResult } from 'jose';
import type { ForeignTokenRules } from '../../config/sign-in-settings.js';
import { ApiError } from '../http/errors.js';
import { OWN_TOKEN_TYPE } from './own-token.js';
import { readForeignToken, readOwnToken, type TokenSubject } from './token-subject.js';

/**
 * Returns whom the token was made for. Throws 401, or another error when the issuer's keys cannot be fetched.
 */
export type SessionVerifier = (token: string) => Promise<TokenSubject>;

export interface SessionTokenSource {
  jwtSecret: string | undefined;
  jwtJwksUrl: string | undefined;
  /** Applies to tokens that are not of our own sessions. */
  foreignTokens: ForeignTokenRules;
}

/** The clocks of issuer and API may differ by this much. */
const SKEW_SECONDS = 5;
const JWKS_TIMEOUT_MS = 3_000;
/** Errors of the connection to the issuer, as opposed to a wrong token. */
const ISSUER_FAILURES = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC']);

/**
 * Each kind of key is accepted only with its own algorithms, so that a public key cannot be used as an HMAC secret and
 * `none` is never a signature. Without a source every token is refused.
 */
export function createSessionVerifier({ jwtSecret, jwtJwksUrl, foreignTokens }: SessionTokenSource): SessionVerifier {
  const checks = { requiredClaims: ['exp'], clockTolerance: SKEW_SECONDS };
  if (jwtJwksUrl !== undefined) {
    // The keys are fetched with the first token and kept for ten minutes. An unknown key id fetches them again, at most
    // every 30 seconds.
    const keys = createRemoteJWKSet(new URL(jwtJwksUrl), { timeoutDuration: JWKS_TIMEOUT_MS });
    const verify = (token: string) => jwtVerify(token, keys, { ...checks, algorithms: ['RS256', 'ES256'] });
    return toVerifier(verify, ({ payload }) => readForeignToken(payload, foreignTokens));
  }
  if (jwtSecret !== undefined) {
    const secret = new TextEncoder().encode(jwtSecret);
    const verify = (token: string) => jwtVerify(token, secret, { ...checks, algorithms: ['HS256'] });
    return toVerifier(verify, ({ payload, protectedHeader }) =>
      protectedHeader.typ === OWN_TOKEN_TYPE ? readOwnToken(payload) : readForeignToken(payload, foreignTokens),
    );
  }
  return () => Promise.reject(invalidToken());
}

export function invalidToken(cause?: unknown): ApiError {
  return new ApiError(401, 'authentication_failed', 'Invalid or expired token.', {
    cause,
    headers: { 'WWW-Authenticate': 'Bearer realm="api", error="invalid_token"' },
  });
}

function toVerifier(
  verify: (token: string) => Promise<JWTVerifyResult>,
  read: (verified: JWTVerifyResult) => TokenSubject | undefined,
): SessionVerifier {
  return async (token) => {
    const subject = read(await verify(token).catch(refuse));
    if (subject === undefined) throw invalidToken();
    return subject;
  };
}

function refuse(error: unknown): never {
  const isToken = error instanceof errors.JOSEError && !ISSUER_FAILURES.has(error.code);
  throw isToken ? invalidToken(error) : error;
}
