import { createHash } from 'node:crypto';
import type { NodeKey } from '../../graph/plan.js';

/**
 * Returns the `Idempotency-Key` of a node's call in its iteration. `turn` distinguishes the model calls of a node that
 * makes several. All attempts of a call share its key.
 *
 * Headers hold only visible ASCII, but a node's id may be any text, so other characters are percent-encoded. `%`, `/`
 * and `@` are also encoded, because otherwise two nodes could share a key. A key that would be too long for many
 * servers is hashed.
 */
export function toIdempotencyKey({ runId, path, nodeId }: NodeKey, turn?: number): string {
  const iteration = path === '' ? '' : `@${encodeId(path)}`;
  const key = `${runId}/${encodeId(nodeId)}${iteration}`;
  const whole = turn === undefined ? key : `${key}/${turn}`;
  return whole.length <= MAX_KEY ? whole : `${runId}/~${createHash('sha256').update(whole).digest('hex')}`;
}

const MAX_KEY = 1_000;

function encodeId(id: string): string {
  if (/^[\w.~-]*$/.test(id)) return id;
  return Array.from(Buffer.from(id), encodeByte).join('');
}

function encodeByte(byte: number): string {
  const character = String.fromCharCode(byte);
  if (byte > 0x20 && byte < 0x7f && !'%/@'.includes(character)) return character;
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
