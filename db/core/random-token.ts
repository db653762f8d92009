import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits in 43 characters that need no escape in a URL, a cookie or a header. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Returns the hash that is stored instead of a token. It needs no salt and no slow hash, because 256 random bits
 * cannot be guessed.
 */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
