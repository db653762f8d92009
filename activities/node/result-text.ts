import type { SecretBox } from '../../db/core/secret-box.js';
import { writeJson } from '../../graph/json-text.js';
import type { Masker } from '../../graph/mask.js';
import type { NodeKey } from '../../graph/plan.js';
import { toStorableJson } from '../../graph/storable-text.js';
import type { NodeOutput } from '../../graph/template.js';

interface ResultTexts {
  /** The unmasked output as JSON text. Later nodes read it. */
  plain: string;
  /** The masked output as JSON text. Users read it. */
  result: string;
  /** `plain`, sealed. Null if masking has changed nothing. */
  resultEnc: Buffer | null;
}

export function toResultText(
  { output, publicOutput = output }: { output: NodeOutput; publicOutput?: NodeOutput },
  { runId, path, nodeId }: NodeKey,
  { masker, secretBox }: { masker: Masker; secretBox: SecretBox },
): ResultTexts {
  const plain = toStorableJson(writeJson(output));
  if (masker.isEmpty && publicOutput === output) return { plain, result: plain, resultEnc: null };
  const masked = toStorableJson(writeJson(masker.json(publicOutput)));
  const resultEnc = masked === plain ? null : secretBox.seal(plain, 'node-result', runId, path, nodeId);
  return { plain, result: masked, resultEnc };
}
