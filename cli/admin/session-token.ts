import { SignJWT } from 'jose';

/** A session token as a frontend would hold it: HS256, with `exp`. decisions.md section 12. */
export function signToken(userId: number, ttlSeconds: number, secret: string): Promise<string> {
  const issuedAt = Math.floor(Date.now() / 1000);
  return new SignJWT({ user_id: userId })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(String(userId))
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ttlSeconds)
    .sign(new TextEncoder().encode(secret));
}
