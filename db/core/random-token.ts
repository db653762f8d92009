import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits in 43 characters that need no escape in a URL, a cookie or a header. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Returns the hash of a token, which is stored in its place. It needs no salt and no slow hash: nobody guesses 256
 * bits.
 */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
