import type { SecretBox } from '../../db/core/secret-box.js';
import { writeJson } from '../../graph/json-text.js';
import type { Masker } from '../../graph/mask.js';
import type { NodeOutput } from '../../graph/template.js';

export interface ResultTexts {
  /** JSON text as the node put it out: what later nodes get. */
  plain: string;
  /** JSON text with secrets masked: what every reader gets. */
  result: string;
  /** The unmasked JSON text, sealed, for later nodes; null when masking changed nothing. */
  resultEnc: Buffer | null;
}

export function toResultText(
  { output, publicOutput = output }: { output: NodeOutput; publicOutput?: NodeOutput },
  masker: Masker,
  secretBox: SecretBox,
): ResultTexts {
  const plain = withoutNul(writeJson(output));
  if (masker.isEmpty && publicOutput === output) return { plain, result: plain, resultEnc: null };
  const masked = withoutNul(writeJson(masker.json(publicOutput)));
  return { plain, result: masked, resultEnc: masked === plain ? null : secretBox.seal(plain, 'node-result') };
}

/** Text that holds a NUL cannot be stored: it becomes U+FFFD. An escaped backslash before `u0000` is no NUL. */
function withoutNul(json: string): string {
  return json.replace(/\\(?:\\|u0000)/g, (escape) => (escape === '\\u0000' ? '\\ufffd' : escape));
}
