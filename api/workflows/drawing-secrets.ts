// Secrets are removed from a drawing before it is stored, and restored only to run it (acceptance/opened-drawing.ts).
// docs/operate/security.md.
import { openSecrets, sealSecrets, type SealedSecrets } from '../../acceptance/opened-drawing.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { invalidFields } from '../http/errors.js';
import { runTheSame, type SplitDrawing } from '../../graph/drawing-change.js';
import { newPublicMasks, type PublicMask } from '../../graph/lost-secrets.js';
import { splitRest, splitSecrets } from '../../graph/secrets.js';
import { cutText } from '../../graph/cut-text.js';

type Drawing = Record<string, unknown>;
type StoredSecrets = SealedSecrets & Pick<StoredDrawing, 'document'>;
type WorkflowPlace = Pick<StoredDrawing, 'id' | 'project_id'>;

interface SealedDrawing {
  /** JSON text with `********` in place of the secrets. */
  document: string;
  secrets_enc: Buffer | null;
}

export function sealDrawing(box: SecretBox, place: WorkflowPlace, drawing: Drawing): SealedDrawing {
  const { masked, secrets } = splitSecrets(drawing);
  return seal(box, place, { data: masked, secrets });
}

/** A drawing that takes the place of another one. */
interface ReplacingDrawing {
  sealed: SealedDrawing;
  /** Returns whether it runs something else, secrets included. */
  isNewVersion: boolean;
}

/**
 * `********` in the drawing keeps the secrets of `stored`, which it replaces. Throws the 400 where it stands for nothing,
 * because the field or header is not secret: the stored value would be lost, and the mask sent.
 */
export function sealUpdate(box: SecretBox, drawing: Drawing, stored: StoredSecrets): ReplacingDrawing {
  const before = openSplit(box, stored);
  refuseMasks(newPublicMasks(drawing, before.data));
  const { masked, secrets } = splitSecrets(drawing, before);
  const after = { data: masked, secrets };
  return { sealed: seal(box, stored, after), isNewVersion: !runTheSame(before, after) };
}

/** An earlier version, with its own secrets, in the place of `stored`. */
export function sealRestored(
  box: SecretBox,
  version: Pick<StoredDrawing, 'document' | 'secrets_enc'>,
  stored: StoredSecrets,
): ReplacingDrawing {
  const { id, project_id: projectId } = stored;
  const before = openSplit(box, stored);
  const after = openSplit(box, { ...version, id, project_id: projectId });
  // Sealed anew: the earlier version may still be sealed with a key that is on its way out.
  return { sealed: seal(box, stored, after), isNewVersion: !runTheSame(before, after) };
}

/** Whatever build has stored the drawing, all of its secrets are cut out. */
function openSplit(box: SecretBox, stored: StoredSecrets): SplitDrawing {
  return splitRest({ data: stored.document, secrets: openSecrets(box, stored) });
}

function seal(box: SecretBox, place: WorkflowPlace, { data, secrets }: SplitDrawing): SealedDrawing {
  const sealed = sealSecrets(box, secrets, 'workflow-secrets', place.project_id, place.id);
  return { document: JSON.stringify(data), secrets_enc: sealed };
}

const MOST_TOLD = 20;

function refuseMasks(masks: readonly PublicMask[]): void {
  if (masks.length === 0) return;
  throw invalidFields({
    data: masks.slice(0, MOST_TOLD).map(({ kind, nodeId, label }) => {
      const place = `${kind} "${cutText(label, 60)}" of the node "${cutText(String(nodeId), 60)}"`;
      return `The ${place} is not secret, so that ******** stands for no stored value: enter the value.`;
    }),
  });
}
