// Exchanges refresh tokens. Writer: the API (docs/operate/sign-in.md, "Sessions").
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { hashToken } from '../core/random-token.js';
import { createRefreshToken, familyOf } from './refresh-token.js';
import { isLive, keptOpen, secondsLeft, type OpenedSession } from './sessions-repository.js';

/** `isCurrent` is true if the presented token has not been replaced yet. */
interface PresentedSession extends OpenedSession {
  isCurrent: boolean;
}

/** Returns the live session of a token, even of a replaced one. */
export async function findPresentedSession(db: Db, token: string): Promise<PresentedSession | undefined> {
  const family = familyOf(token);
  if (family === undefined) return undefined;
  return db
    .selectFrom('sessions')
    .select(['id as sessionId', 'user_id as userId', secondsLeft()])
    .select(sql<boolean>`token_hash = ${hashToken(token)}`.as('isCurrent'))
    .where('family_hash', '=', hashToken(family))
    .where(isLive)
    .executeTakeFirst();
}

/**
 * Replaces the token. Returns undefined if it is no longer the current token of a live session. If the process dies
 * after this statement, the token is used up and nobody has the new one: the user has to sign in again.
 */
export async function rotateToken(
  db: Db,
  token: string,
  network: string,
): Promise<(OpenedSession & { token: string }) | undefined> {
  const next = createRefreshToken(familyOf(token));
  const rotated = await db
    .updateTable('sessions')
    .set({ token_hash: next.tokenHash, network, ...keptOpen })
    .where('family_hash', '=', next.familyHash)
    .where('token_hash', '=', hashToken(token))
    .where(isLive)
    .returning(['id as sessionId', 'user_id as userId', secondsLeft()])
    .executeTakeFirst();
  return rotated && { ...rotated, token: next.token };
}

/** Ends the session of a token, even of a replaced one. Returns undefined if it has no live session. */
export async function endSessionOfToken(
  db: Db,
  token: string,
): Promise<{ sessionId: string; userId: number } | undefined> {
  const family = familyOf(token);
  if (family === undefined) return undefined;
  return db
    .updateTable('sessions')
    .set({ ended_at: sql`now()` })
    .where('family_hash', '=', hashToken(family))
    .where(isLive)
    .returning(['id as sessionId', 'user_id as userId'])
    .executeTakeFirst();
}
