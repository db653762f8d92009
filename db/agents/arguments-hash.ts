// The hash that identifies the arguments that people approve (docs/use/approvers.md, "Change the arguments").
import { createHash, randomBytes } from 'node:crypto';
import { writeCanonicalJson } from '../../graph/json-text.js';
import { isEqualJson } from '../../graph/json.js';

const NONCE_BYTES = 32;

/**
 * Returns the hexadecimal SHA-256 of the arguments that a tool would receive. `shown` are the same with secrets
 * masked. If they differ, random bytes are hashed too: otherwise a short secret could be found by trying.
 */
export function hashArguments(sent: unknown, shown: unknown): string {
  const hash = createHash('sha256').update(writeCanonicalJson(sent));
  if (!isEqualJson(sent, shown)) hash.update(randomBytes(NONCE_BYTES));
  return hash.digest('hex');
}
