// The hash by which people say what they approve. docs/use/approvers.md, "Change the arguments", says how it is
// made.
import { createHash, randomBytes } from 'node:crypto';
import { writeCanonicalJson } from '../../graph/json-text.js';
import { isEqualJson } from '../../graph/json.js';

const NONCE_BYTES = 32;

/**
 * Returns the SHA-256 of arguments as a tool would get them, in hexadecimal. `shown`: the same with their secrets masked.
 * Random bytes are hashed with arguments that hold secrets: otherwise a short secret could be found by trying.
 */
export function hashArguments(given: unknown, shown: unknown): string {
  const hash = createHash('sha256').update(writeCanonicalJson(given));
  if (!isEqualJson(given, shown)) hash.update(randomBytes(NONCE_BYTES));
  return hash.digest('hex');
}
