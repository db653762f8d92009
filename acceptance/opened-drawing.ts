// Opens the sealed secrets of stored workflows, and seals those of workflows, drafts and runs
// (docs/operate/security.md).
import type { SealedRows, SecretBox } from '../db/core/secret-box.js';
import type { StoredDrawing } from '../db/workflows/workflows-repository.js';
import type { JsonObject } from '../graph/json.js';
import { joinSecrets, type SecretMap } from '../graph/secrets.js';

/** The sealed secrets of a workflow, or of one of its versions; `id` and `project_id` are those of the workflow. */
export type SealedSecrets = Pick<StoredDrawing, 'id' | 'project_id' | 'secrets_enc'>;

export function sealSecrets<C extends 'workflow-secrets' | 'draft-secrets' | 'run-secrets'>(
  box: SecretBox,
  secrets: SecretMap,
  context: C,
  ...row: SealedRows[C]
): Buffer | null {
  return Object.keys(secrets).length === 0 ? null : box.seal(JSON.stringify(secrets), context, ...row);
}

export function openSecrets(box: SecretBox, stored: SealedSecrets): SecretMap {
  if (stored.secrets_enc === null) return {};
  return JSON.parse(box.open(stored.secrets_enc, 'workflow-secrets', stored.project_id, stored.id)) as SecretMap;
}

/** Returns the drawing with its secrets filled in, and the secrets. Neither may be part of an answer to a request. */
export function openDrawing(box: SecretBox, stored: StoredDrawing): { drawing: JsonObject; secrets: SecretMap } {
  const secrets = openSecrets(box, stored);
  return { drawing: joinSecrets(stored.document, secrets), secrets };
}
