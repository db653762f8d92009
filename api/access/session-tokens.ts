// Verifies session tokens (JWT): those of our own sessions, and those that other issuers make for their front ends
// (docs/use/interface-notes/access.md).
import { createRemoteJWKSet, customFetch, decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose';
import type { ForeignTokenRules } from '../../config/sign-in-settings.js';
import type { TokenSubject } from '../../db/access/rate-limits-repository.js';
import { fetchSmall } from '../../outgoing/fetch-small.js';
import { ApiError } from '../http/errors.js';
import { MAX_ID, uuid } from '../http/path-ids.js';

/** Returns the subject of the token. Throws 401, or another error if the issuer's keys cannot be fetched. */
export type SessionVerifier = (token: string) => Promise<TokenSubject>;

interface SessionTokenSource {
  jwtSecret: string | undefined;
  jwtJwksUrl: string | undefined;
  /** Applies to tokens that are not of our own sessions. */
  foreignTokens: ForeignTokenRules;
}

/** The clocks of issuer and API may differ by this much. */
const SKEW_SECONDS = 5;
const CHECKS = { requiredClaims: ['exp'], clockTolerance: SKEW_SECONDS };
const SECRET_ALGORITHM = 'HS256';
const KEY_SET_ALGORITHMS = ['RS256', 'ES256'];

/** Limits the fetches of an issuer's keys, because anybody can send tokens with unknown key ids. */
interface KeySetLimits {
  timeoutMs: number;
  keptMs: number;
  /**
   * While keys are cached, an unknown key id fetches them again at most once in this time, even if the fetch fails.
   */
  againMs: number;
}

const KEY_SET_LIMITS: KeySetLimits = { timeoutMs: 3_000, keptMs: 600_000, againMs: 30_000 };

/** The codes of errors in fetching the issuer's keys, as opposed to those of a wrong token. */
const ISSUER_FAILURES = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC']);

/**
 * The algorithm in the token's header selects the key that may verify it, and that key accepts no other algorithm: a
 * public key is never used as an HMAC secret, and `none` is never a signature. The secret signs the tokens of our own
 * sessions, and may also sign those of other issuers. A token is refused if the source of its key is not configured.
 */
export function createSessionVerifier(
  { jwtSecret, jwtJwksUrl, foreignTokens }: SessionTokenSource,
  limits = KEY_SET_LIMITS,
): SessionVerifier {
  const bySecret = jwtSecret === undefined ? undefined : verifierBySecret(jwtSecret, foreignTokens);
  const byKeySet = jwtJwksUrl === undefined ? undefined : verifierByKeySet(jwtJwksUrl, foreignTokens, limits);
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
 * The first token fetches the keys. The library pauses only after a successful fetch; without the pause here, each
 * token with an unknown key id would call an issuer that is down.
 */
function verifierByKeySet(jwksUrl: string, foreignTokens: ForeignTokenRules, limits: KeySetLimits): Verifier {
  let fetchedMs = -Infinity;
  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: limits.timeoutMs,
    cacheMaxAge: limits.keptMs,
    cooldownDuration: limits.againMs,
    [customFetch](url, options) {
      if (keys.fresh && Date.now() < fetchedMs + limits.againMs)
        throw new Error('The key set was asked for a moment ago.');
      fetchedMs = Date.now();
      return fetchSmall(url, options);
    },
  });
  return async (token) => {
    const { payload } = await jwtVerify(token, keys, { ...CHECKS, algorithms: KEY_SET_ALGORITHMS });
    return readForeignToken(payload, foreignTokens);
  };
}

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

// Reads the user, the session or the e-mail address that a verified token names.

const MAX_EMAIL = 320;

/** Returns undefined for a token without a usable subject, or with another issuer or audience. */
function readForeignToken(payload: JWTPayload, rules: ForeignTokenRules): TokenSubject | undefined {
  const audiences = [payload.aud].flat();
  if (rules.issuer !== undefined && payload.iss !== rules.issuer) return undefined;
  if (rules.audience !== undefined && !audiences.includes(rules.audience)) return undefined;
  if (rules.userClaim !== undefined) return toEmail(payload, rules.userClaim);
  const userId = toUserId(payload['user_id'] ?? payload.sub);
  return userId === undefined ? undefined : { by: 'user', userId };
}

function readOwnToken({ user_id: user, sid }: JWTPayload): TokenSubject | undefined {
  const [userId, sessionId] = [toUserId(user), uuid.safeParse(sid)];
  return userId === undefined || !sessionId.success ? undefined : { by: 'session', userId, sessionId: sessionId.data };
}

/** An address that the issuer has not verified may be anybody's, so it is refused. */
function toEmail(payload: JWTPayload, claim: string): TokenSubject | undefined {
  const email = payload[claim];
  if (typeof email !== 'string' || !email.includes('@') || email.length > MAX_EMAIL || email.includes('\0'))
    return undefined;
  return payload['email_verified'] === true ? { by: 'email', email } : undefined;
}

function toUserId(claim: unknown): number | undefined {
  const id = typeof claim === 'string' && /^\d{1,10}$/.test(claim) ? Number(claim) : claim;
  return typeof id === 'number' && Number.isInteger(id) && id > 0 && id <= MAX_ID ? id : undefined;
}

/**
 * The `typ` of the access tokens of our own sessions. The signature covers it, so neither can a foreign token pass for
 * one of ours, nor one of ours for a foreign token. A token of ours that passed for a foreign one would stay valid
 * after the end of its session, because foreign tokens belong to no session here.
 */
export const OWN_TOKEN_TYPE = 'session+jwt';
