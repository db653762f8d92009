import type { NodeKey } from '../../graph/plan.js';

/**
 * The `Idempotency-Key` of a node's call, or of one turn of an agent. It is the same for each attempt. Headers hold
 * only visible ASCII, while a node's id may be any text, so other characters are percent-encoded. Two more characters
 * are encoded because two nodes could otherwise share a key.
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
