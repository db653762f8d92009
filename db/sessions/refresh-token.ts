// A refresh token is `family.secret`. All tokens of a session share the family, which only holders of one of them
// know: a replaced token still identifies its session, while a guess identifies none.
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

/** Returns undefined if the text is not a refresh token. */
export function familyOf(token: string): string | undefined {
  return FORM.exec(token)?.[1];
}
