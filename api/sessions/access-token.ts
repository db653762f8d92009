import { SignJWT } from 'jose';
import { OWN_TOKEN_TYPE } from '../access/session-tokens.js';

/** Signs an access token for a session of this service. The token consists of base64url characters and dots. */
export type AccessTokenSigner = (session: {
  userId: number;
  sessionId: string;
  secondsToLive: number;
}) => Promise<string>;

export function createAccessTokenSigner(jwtSecret: string): AccessTokenSigner {
  const secret = new TextEncoder().encode(jwtSecret);
  return ({ userId, sessionId, secondsToLive }) => {
    const issuedAt = Math.floor(Date.now() / 1000);
    return new SignJWT({ user_id: userId, sid: sessionId })
      .setProtectedHeader({ alg: 'HS256', typ: OWN_TOKEN_TYPE })
      .setSubject(String(userId))
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + secondsToLive)
      .sign(secret);
  };
}
