// Exchanges refresh tokens. Writer: the API. docs/operate/sign-in.md, "Sessions".
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { hashToken } from '../core/random-token.js';
import { createRefreshToken, familyOf } from './refresh-token.js';
import { isLive, keptOpen, secondsLeft, type OpenedSession } from './sessions-repository.js';

/** A session, and whether the token that named it is the one that is good now. */
interface PresentedSession extends OpenedSession {
  isCurrent: boolean;
}

/** The live session that the token, or a used one of its family, belongs to. */
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
 * Replaces the token by a new one; undefined when it is not the current one of a live session any more. A process that
 * dies after this statement has used the token up, and nobody has the new one: its user signs in again.
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

/** Ends the session of a token, used or not. Undefined when it has no live one. */
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
