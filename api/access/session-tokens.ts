// Session tokens (JWT): those of our own sessions, and those that others issue for their front ends. Specification,
// "Authentication"; docs/use/interface-notes/access.md.
import { createRemoteJWKSet, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { ForeignTokenRules } from '../../config/sign-in-settings.js';
import type { TokenSubject } from '../../db/projects/rate-limits-repository.js';
import { ApiError } from '../http/errors.js';
import { OWN_TOKEN_TYPE } from './own-token.js';
import { readForeignToken, readOwnToken } from './token-subject.js';

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
const CHECKS = { requiredClaims: ['exp'], clockTolerance: SKEW_SECONDS };
const SECRET_ALGORITHM = 'HS256';
const KEY_SET_ALGORITHMS = ['RS256', 'ES256'];
/** Errors of the connection to the issuer, as opposed to a wrong token. */
const ISSUER_FAILURES = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC']);

/**
 * The algorithm that a token names decides which of the two keys may verify it, and that key takes no other algorithm: a
 * public key is never used as an HMAC secret, and `none` is never a signature. A token of our own sessions is signed with
 * the secret. Without a source every token is refused.
 */
export function createSessionVerifier({ jwtSecret, jwtJwksUrl, foreignTokens }: SessionTokenSource): SessionVerifier {
  const bySecret = jwtSecret === undefined ? undefined : verifierBySecret(jwtSecret, foreignTokens);
  const byKeySet = jwtJwksUrl === undefined ? undefined : verifierByKeySet(jwtJwksUrl, foreignTokens);
  return async (token) => {
    const verify = algorithmOf(token) === SECRET_ALGORITHM ? bySecret : byKeySet;
    const subject = await verify?.(token).catch(refuse);
    if (subject === undefined) throw invalidToken();
    return subject;
  };
}

type Verifier = (token: string) => Promise<TokenSubject | undefined>;

function verifierBySecret(jwtSecret: string, foreignTokens: ForeignTokenRules): Verifier {
  const secret = new TextEncoder().encode(jwtSecret);
  return async (token) => {
    const { payload, protectedHeader } = await jwtVerify(token, secret, { ...CHECKS, algorithms: [SECRET_ALGORITHM] });
    return protectedHeader.typ === OWN_TOKEN_TYPE ? readOwnToken(payload) : readForeignToken(payload, foreignTokens);
  };
}

/**
 * The keys are fetched with the first token and kept for ten minutes. An unknown key id fetches them again, at most every
 * 30 seconds.
 */
function verifierByKeySet(jwksUrl: string, foreignTokens: ForeignTokenRules): Verifier {
  const keys = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: JWKS_TIMEOUT_MS });
  return async (token) => {
    const { payload } = await jwtVerify(token, keys, { ...CHECKS, algorithms: KEY_SET_ALGORITHMS });
    return readForeignToken(payload, foreignTokens);
  };
}

/** Undefined for what is no token. */
function algorithmOf(token: string): unknown {
  try {
    return decodeProtectedHeader(token).alg;
  } catch {
    return undefined;
  }
}

export function invalidToken(cause?: unknown): ApiError {
  return new ApiError(401, 'authentication_failed', 'Invalid or expired token.', {
    cause,
    headers: { 'WWW-Authenticate': 'Bearer realm="api", error="invalid_token"' },
  });
}

function refuse(error: unknown): never {
  const isToken = error instanceof errors.JOSEError && !ISSUER_FAILURES.has(error.code);
  throw isToken ? invalidToken(error) : error;
}
