import type { NodeKey } from '../../graph/plan.js';

/**
 * The `Idempotency-Key` of a node's call: the same for each attempt, and of an agent's turn. Headers carry visible ASCII
 * only, and a node's id may be any text: everything else in it is percent-encoded, as are the two characters that would
 * let two nodes share a key.
 */
export function toIdempotencyKey({ runId, nodeId }: Pick<NodeKey, 'runId' | 'nodeId'>, turn?: number): string {
  const key = `${runId}/${encodeId(nodeId)}`;
  return turn === undefined ? key : `${key}/${turn}`;
}

function encodeId(id: string): string {
  if (/^[\w.~-]*$/.test(id)) return id;
  return Array.from(Buffer.from(id), encodeByte).join('');
}

function encodeByte(byte: number): string {
  const character = String.fromCharCode(byte);
  if (byte > 0x20 && byte < 0x7f && character !== '%' && character !== '/') return character;
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
