import { SignJWT, type JWTPayload } from 'jose';

/**
 * Signs a session token as a frontend of another service would: HS256, with `exp`. It belongs to no stored session.
 * `more` are further claims.
 */
export function signToken(userId: number, ttlSeconds: number, secret: string, more: JWTPayload = {}): Promise<string> {
  const issuedAt = Math.floor(Date.now() / 1000);
  return new SignJWT({ user_id: userId, ...more })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(String(userId))
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ttlSeconds)
    .sign(new TextEncoder().encode(secret));
}
