import { SignJWT, type JWTPayload } from 'jose';

/**
 * Signs a session token as a frontend of another service would: HS256, with `exp`. It belongs to no stored session.
 * `more` are further claims, and may replace `user_id` and `sub`.
 */
export function signToken(userId: number, ttlSeconds: number, secret: string, more: JWTPayload = {}): Promise<string> {
  const issuedAt = Math.floor(Date.now() / 1000);
  return new SignJWT({ user_id: userId, sub: String(userId), ...more })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ttlSeconds)
    .sign(new TextEncoder().encode(secret));
}
