import { SignJWT, type JWTPayload } from 'jose';

/**
 * Signs a session token like those of a frontend of another service: HS256, with `exp`. It belongs to no session of ours.
 * `more`: further claims.
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
