// Secrets are removed from a drawing before it is stored, and restored only to run it. docs/operate/security.md.
import type { SecretBox } from '../../db/core/secret-box.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { joinSecrets, splitSecrets, type SecretMap } from '../../graph/secrets.js';

type Drawing = Record<string, unknown>;

interface SealedDrawing {
  /** JSON text with `********` in place of the secrets. */
  document: string;
  secrets_enc: Buffer | null;
}

/** `stored` is the drawing that this one replaces: `********` keeps its secrets. */
export function sealDrawing(box: SecretBox, drawing: Drawing, stored?: StoredDrawing): SealedDrawing {
  const { masked, secrets } =
    stored === undefined
      ? splitSecrets(drawing)
      : splitSecrets(drawing, { data: stored.document, secrets: openSecrets(box, stored) });
  return { document: JSON.stringify(masked), secrets_enc: sealSecrets(box, secrets, 'workflow-secrets') };
}

export function sealSecrets(
  box: SecretBox,
  secrets: SecretMap,
  context: 'workflow-secrets' | 'run-secrets',
): Buffer | null {
  return Object.keys(secrets).length === 0 ? null : box.seal(JSON.stringify(secrets), context);
}

export function openSecrets(box: SecretBox, stored: StoredDrawing): SecretMap {
  if (stored.secrets_enc === null) return {};
  return JSON.parse(box.open(stored.secrets_enc, 'workflow-secrets')) as SecretMap;
}

/** Returns the drawing as its author wrote it. It must never be part of an answer. */
export function openDrawing(box: SecretBox, stored: StoredDrawing): { drawing: Drawing; secrets: SecretMap } {
  const secrets = openSecrets(box, stored);
  return { drawing: joinSecrets(stored.document, secrets), secrets };
}
