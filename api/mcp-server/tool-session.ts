// Sessions of MCP clients. The sealed session id is the whole session: every API process can open it and nobody else
// can create one, so no process stores anything (ADR 24).
import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { cutText } from '../../graph/cut-text.js';
import { toStorable } from '../../graph/storable-text.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { RequestKey } from '../../db/runs/idempotency-repository.js';
import type { Caller } from '../http/route.js';
import type { RequestId } from './messages.js';

/** After this time the session counts as unknown, and the client starts another one. */
const LIFETIME_MS = 30 * 24 * 3_600_000;
const MAX_CHARACTERS = 1_000;
/** The limit on the name of a client, in UTF-16 code units. */
const MAX_CLIENT = 100;

const contents = z.object({ key: z.int().optional(), user: z.int(), began: z.int(), client: z.string().optional() });

/** A session belongs to the API key that opened it. `client`: the name that the client gives itself. */
export function makeSessionId(secretBox: SecretBox, { userId, keyId }: Caller, client?: string): string {
  const facts = { key: keyId, user: userId, began: Date.now(), nonce: randomUUID(), client };
  return secretBox.seal(JSON.stringify(facts), 'tool-session').toString('base64url');
}

export function isSessionOf(secretBox: SecretBox, sessionId: string, { userId, keyId }: Caller): boolean {
  const { success, data } = contents.safeParse(openSession(secretBox, sessionId));
  return success && data.key === keyId && data.user === userId && Date.now() - data.began < LIFETIME_MS;
}

/** Returns the name that the client of a valid session has given itself, as one line; empty if it has given none. */
export function clientOf(secretBox: SecretBox, sessionId: string): string {
  const { data } = contents.safeParse(openSession(secretBox, sessionId));
  return data?.client ?? '';
}

/** Returns the name of a client as one line that can be stored. */
export function toClientName(name: string): string {
  return cutText(
    toStorable(name)
      .replaceAll(/[\p{Cc}\p{Z}]+/gu, ' ')
      .trim(),
    MAX_CLIENT,
  );
}

function openSession(secretBox: SecretBox, sessionId: string): unknown {
  if (sessionId.length > MAX_CHARACTERS || !/^[\w-]+$/.test(sessionId)) return undefined;
  try {
    return JSON.parse(secretBox.open(Buffer.from(sessionId, 'base64url'), 'tool-session'));
  } catch {
    // The id was not sealed by this service, or was sealed with a key that is no longer in `SECRETS_KEY`.
    return undefined;
  }
}

/**
 * Returns the idempotency key of a call, by which any process finds the call's run when the client repeats, resumes or
 * cancels the call. The key contains a line break, so that no `Idempotency-Key` of the user can equal it.
 */
export function toCallKey({ userId }: Caller, sessionId: string, requestId: RequestId): RequestKey {
  const hash = createHash('sha256')
    .update(JSON.stringify([sessionId, requestId]))
    .digest('hex');
  return { userId, key: `mcp\n${hash}` };
}
