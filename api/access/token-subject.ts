// Whom a verified session token names.
import type { JWTPayload } from 'jose';
import type { ForeignTokenRules } from '../../config/sign-in-settings.js';
import type { TokenSubject } from '../../db/projects/rate-limits-repository.js';
import { MAX_ID, uuid } from '../http/path-ids.js';

const MAX_EMAIL = 320;

/** Undefined for a token that names nobody, or was issued by or for somebody else. */
export function readForeignToken(payload: JWTPayload, rules: ForeignTokenRules): TokenSubject | undefined {
  const audiences = [payload.aud].flat();
  if (rules.issuer !== undefined && payload.iss !== rules.issuer) return undefined;
  if (rules.audience !== undefined && !audiences.includes(rules.audience)) return undefined;
  if (rules.userClaim !== undefined) return toEmail(payload, rules.userClaim);
  const userId = toUserId(payload['user_id'] ?? payload.sub);
  return userId === undefined ? undefined : { by: 'user', userId };
}

export function readOwnToken({ user_id: user, sid }: JWTPayload): TokenSubject | undefined {
  const [userId, sessionId] = [toUserId(user), uuid.safeParse(sid)];
  return userId === undefined || !sessionId.success ? undefined : { by: 'session', userId, sessionId: sessionId.data };
}

/** An address that the issuer does not say it has verified is whatever somebody has typed. */
function toEmail(payload: JWTPayload, claim: string): TokenSubject | undefined {
  const email = payload[claim];
  if (typeof email !== 'string' || !email.includes('@') || email.length > MAX_EMAIL || email.includes('\0'))
    return undefined;
  return payload['email_verified'] === true ? { by: 'email', email } : undefined;
}

/** A user's id as a number or in digits. */
function toUserId(claim: unknown): number | undefined {
  const id = typeof claim === 'string' && /^\d{1,10}$/.test(claim) ? Number(claim) : claim;
  return typeof id === 'number' && Number.isInteger(id) && id > 0 && id <= MAX_ID ? id : undefined;
}
