import { createHmac } from 'node:crypto';

/** A session token as a frontend would hold it: HS256, with `exp`. decisions.md section 12. */
export function signToken(userId: number, ttlSeconds: number, secret: string): string {
  const issuedAt = Math.floor(Date.now() / 1000);
  const claims = { sub: String(userId), user_id: userId, iat: issuedAt, exp: issuedAt + ttlSeconds };
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
