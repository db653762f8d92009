import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../telemetry/logger.js';
import type { Doer } from '../../db/audit/audit-entry.js';
import { recordChange } from '../../db/audit/record-change.js';
import type { Db } from '../../db/core/client.js';
import { endSessionOfToken, findPresentedSession, rotateToken } from '../../db/sessions/refresh-repository.js';
import type { OpenSession } from './answer-session.js';

/**
 * A tab may send the same cookie this much later than another tab. The delay is not noticeable at one refresh an hour.
 */
const OVERLAP_MS = 100;

/**
 * Exchanges a refresh token; undefined if there is no such session. A used token ends its session, because somebody has
 * copied it.
 *
 * Two tabs that refresh at the same time send the same token, which is no copy. The token is therefore checked when the
 * request arrives, and used up a moment later: a request that arrives before that cannot have seen the answer. The
 * later of two such requests keeps the cookie that the answer to the earlier one sets.
 */
export async function refreshSession(
  { db, log, doer }: { db: Db; log: Logger; doer: Doer },
  token: string,
  network: string,
): Promise<OpenSession | undefined> {
  const presented = await findPresentedSession(db, token);
  if (presented === undefined) return undefined;
  if (!presented.isCurrent) {
    const { sessionId, userId } = presented;
    const ended = { action: 'session.ended', type: 'session', key: { id: sessionId } } as const;
    await recordChange(db, { ...ended, doer: { ...doer, via: 'system' } }, (trx) => endSessionOfToken(trx, token));
    log.warn({ session_id: sessionId, user_id: userId }, 'a used refresh token has ended its session');
    return undefined;
  }
  await pause(OVERLAP_MS);
  const rotated = await rotateToken(db, token, network);
  if (rotated !== undefined) return rotated;
  return findPresentedSession(db, token);
}
