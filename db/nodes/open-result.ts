import type { NodeKey } from '../../graph/plan.js';
import type { SecretBox } from '../core/secret-box.js';
import type { StoredOutput } from './node-results-repository.js';

/** The unmasked JSON text of a result; null where it is gone. Throws `MissingKeyError` when the key is gone that sealed it. */
export function openResult(
  { result, resultEnc }: Pick<StoredOutput, 'result' | 'resultEnc'>,
  { runId, path, nodeId }: NodeKey,
  secretBox: SecretBox,
): string | null {
  return resultEnc === null ? result : secretBox.open(resultEnc, 'node-result', runId, path, nodeId);
}
