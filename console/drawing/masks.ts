// `********`, which stands in an answer of the service for each secret of a drawing (docs/use/api.md, "Drafts").
import { isEqualJson, isObject, leavesOf, ownValue, type JsonObject } from '../../graph/json.js';
import { MASK } from '../../graph/mask-text.js';

/** True if a secret of the drawing is masked. An equal drawing may then have another secret. */
export function holdsMask(drawing: JsonObject): boolean {
  return leavesOf(drawing).some((leaf) => typeof leaf === 'string' && leaf.includes(MASK));
}

/** True if `answered` equals `sent`, or differs only by masks in place of values that were sent. */
export function isMaskedCopy(answered: JsonObject, sent: JsonObject): boolean {
  return isEqualJson(answered, withMasks(sent, answered));
}

/** Returns `sent` with the masks of `answered`. */
function withMasks(sent: unknown, answered: unknown): unknown {
  if (typeof answered === 'string') return masks(answered, sent) ? answered : sent;
  if (Array.isArray(sent) && Array.isArray(answered)) return sent.map((item, at) => withMasks(item, answered[at]));
  if (!isObject(sent) || !isObject(answered)) return sent;
  return Object.fromEntries(Object.entries(sent).map(([key, part]) => [key, withMasks(part, ownValue(answered, key))]));
}

/** In an address, only a part is masked. */
function masks(answered: string, sent: unknown): boolean {
  if (answered === MASK) return true;
  const [start = '', ...rest] = answered.split(MASK);
  return rest.length > 0 && typeof sent === 'string' && sent.startsWith(start) && sent.endsWith(rest.at(-1)!);
}
