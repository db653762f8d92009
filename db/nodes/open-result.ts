import type { NodeKey } from '../../graph/plan.js';
import type { SecretBox } from '../core/secret-box.js';
import type { StoredOutput } from './node-results-repository.js';

/**
 * Returns the unmasked JSON text of a result, or null if it has expired. Throws `MissingKeyError` if the key that
 * sealed it is gone.
 */
export function openResult(
  { result, resultEnc }: Pick<StoredOutput, 'result' | 'resultEnc'>,
  { runId, path, nodeId }: NodeKey,
  secretBox: SecretBox,
): string | null {
  return resultEnc === null ? result : secretBox.open(resultEnc, 'node-result', runId, path, nodeId);
}
