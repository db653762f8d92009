// A refresh token is `family.secret`. All tokens of a session have the family in common, and only somebody who has held
// one of them knows it: a used token names the session that it was of, and a guess names none.
import { hashToken, randomToken } from '../core/random-token.js';

export interface RefreshToken {
  token: string;
  familyHash: Buffer;
  tokenHash: Buffer;
}

const FORM = /^([\w-]{43})\.[\w-]{43}$/;

export function createRefreshToken(family = randomToken()): RefreshToken {
  const token = `${family}.${randomToken()}`;
  return { token, familyHash: hashToken(family), tokenHash: hashToken(token) };
}

/** Returns the family, which is undefined for a text that is no refresh token. */
export function familyOf(token: string): string | undefined {
  return FORM.exec(token)?.[1];
}
