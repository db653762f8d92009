// Session tokens (JWT) of frontends. Specification, "Authentication".
import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload } from 'jose';
import { ApiError } from '../http/errors.js';
import { MAX_ID } from '../http/path-ids.js';

/**
 * Returns the user that the token was made for. Throws 401, or another error when the issuer's keys cannot be fetched.
 */
export type SessionVerifier = (token: string) => Promise<number>;

export interface SessionTokenSource {
  jwtSecret: string | undefined;
  jwtJwksUrl: string | undefined;
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
export function createSessionVerifier({ jwtSecret, jwtJwksUrl }: SessionTokenSource): SessionVerifier {
  const checks = { requiredClaims: ['exp'], clockTolerance: SKEW_SECONDS };
  if (jwtJwksUrl !== undefined) {
    // The keys are fetched with the first token and kept for ten minutes. An unknown key id fetches them again, at most
    // every 30 seconds.
    const keys = createRemoteJWKSet(new URL(jwtJwksUrl), { timeoutDuration: JWKS_TIMEOUT_MS });
    return toVerifier((token) => jwtVerify(token, keys, { ...checks, algorithms: ['RS256', 'ES256'] }));
  }
  if (jwtSecret !== undefined) {
    const secret = new TextEncoder().encode(jwtSecret);
    return toVerifier((token) => jwtVerify(token, secret, { ...checks, algorithms: ['HS256'] }));
  }
  return () => Promise.reject(invalidToken());
}

export function invalidToken(cause?: unknown): ApiError {
  return new ApiError(401, 'authentication_failed', 'Invalid or expired token.', {
    cause,
    headers: { 'WWW-Authenticate': 'Bearer realm="api", error="invalid_token"' },
  });
}

function toVerifier(verify: (token: string) => Promise<{ payload: JWTPayload }>): SessionVerifier {
  return async (token) => {
    const userId = toUserId(await verify(token).then(({ payload }) => payload, refuse));
    if (userId === undefined) throw invalidToken();
    return userId;
  };
}

function refuse(error: unknown): never {
  const isToken = error instanceof errors.JOSEError && !ISSUER_FAILURES.has(error.code);
  throw isToken ? invalidToken(error) : error;
}

/** Reads `user_id`, else `sub`: a user's id as a number or in digits. */
function toUserId({ user_id: userId, sub }: JWTPayload): number | undefined {
  const claim = userId ?? sub;
  const id = typeof claim === 'string' && /^\d{1,10}$/.test(claim) ? Number(claim) : claim;
  return typeof id === 'number' && Number.isInteger(id) && id > 0 && id <= MAX_ID ? id : undefined;
}
