// Removes secrets from a drawing before it is stored. `joinSecrets` (graph/secrets.ts) fills them in again where a
// drawing is run, tested or checked. docs/operate/security.md.
import { openSecrets, sealSecrets, type SealedSecrets } from '../../acceptance/opened-drawing.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { Draft } from '../../db/workflows/drafts-repository.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { invalidFields } from '../http/errors.js';
import { runTheSame, type SplitDrawing } from '../../graph/drawing-change.js';
import { newPublicMasks, type PublicMask } from '../../graph/lost-secrets.js';
import {
  isInAddress,
  placesOfDraftOnly,
  splitRest,
  splitSecrets,
  type SecretMap,
  type SecretPlace,
} from '../../graph/secrets.js';
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

interface ReplacingDrawing {
  sealed: SealedDrawing;
  /** True if the drawing or a secret has changed in a way that changes its runs. */
  isNewVersion: boolean;
}

/**
 * `********` in the drawing stands for the secret in `draft` or, if `draft` has none there, in `stored`, which the
 * drawing replaces. Throws 400 for `********` in a field, a header or a value of an action that is not secret, unless
 * `stored` has it there, too: the stored value would be lost, and the mask itself sent.
 */
export function sealUpdate(
  box: SecretBox,
  drawing: Drawing,
  stored: StoredSecrets,
  draft?: SplitDrawing,
): ReplacingDrawing {
  const before = openSplit(box, stored);
  refuseMasks(newPublicMasks(drawing, before.data));
  const { masked, secrets } = splitSecrets(drawing, before, draft);
  const after = { data: masked, secrets };
  return { sealed: seal(box, stored, after), isNewVersion: !runTheSame(before, after) };
}

/**
 * Throws a 400 that names up to 20 places of the drawing where `********` stands for no stored value although the draft
 * has a value there: saving the drawing would lose that value.
 */
export function refuseLoss(box: SecretBox, drawing: Drawing, stored: StoredSecrets, draft: SplitDrawing): void {
  const places = placesOfDraftOnly(drawing, openSplit(box, stored), draft);
  if (places.length === 0) return;
  throw invalidFields({
    data: places.slice(0, MOST_REPORTED).map((place) => {
      const { label, nodeId, path } = place;
      const where = `${kindOf(place)} "${cutText(label, 60)}" of the node "${cutText(String(nodeId), 60)}" (${cutText(path, 200)})`;
      return `The ${where} has a value in your draft alone: send "from_draft": true, or enter the value.`;
    }),
  });
}

function kindOf({ name }: SecretPlace): string {
  if (isInAddress({ name })) return 'address';
  return name.startsWith('header:') ? 'header' : 'field';
}

/** Returns `version`, an earlier version with the secrets that it had, sealed to replace `stored`. */
export function sealRestored(
  box: SecretBox,
  version: Pick<StoredDrawing, 'document' | 'secrets_enc'>,
  stored: StoredSecrets,
): ReplacingDrawing {
  const { id, project_id: projectId } = stored;
  const before = openSplit(box, stored);
  const after = openSplit(box, { ...version, id, project_id: projectId });
  // Seals again, because the earlier version may be sealed with a key that is about to be withdrawn.
  return { sealed: seal(box, stored, after), isNewVersion: !runTheSame(before, after) };
}

/** Separates the drawing from its secrets, including secrets that an earlier build stored in the drawing. */
function openSplit(box: SecretBox, stored: StoredSecrets): SplitDrawing {
  return splitRest({ data: stored.document, secrets: openSecrets(box, stored) });
}

function seal(box: SecretBox, place: WorkflowPlace, { data, secrets }: SplitDrawing): SealedDrawing {
  const sealed = sealSecrets(box, secrets, 'workflow-secrets', place.project_id, place.id);
  return { document: JSON.stringify(data), secrets_enc: sealed };
}

/** `********` in the drawing stands for the secret in `previous`, the user's draft that the drawing replaces. */
export function sealDraft(
  box: SecretBox,
  place: WorkflowPlace & { userId: number },
  drawing: Drawing,
  previous: SplitDrawing | undefined,
): SealedDrawing {
  const { masked, secrets } = splitSecrets(drawing, undefined, previous);
  const sealed = sealSecrets(box, secrets, 'draft-secrets', place.project_id, place.id, place.userId);
  return { document: JSON.stringify(masked), secrets_enc: sealed };
}

export function openDraft(
  box: SecretBox,
  place: WorkflowPlace & { userId: number },
  { document, secrets_enc: sealed }: Pick<Draft, 'document' | 'secrets_enc'>,
): SplitDrawing {
  const secrets =
    sealed === null
      ? {}
      : (JSON.parse(box.open(sealed, 'draft-secrets', place.project_id, place.id, place.userId)) as SecretMap);
  return { data: JSON.parse(document) as Drawing, secrets };
}

const MOST_REPORTED = 20;

function refuseMasks(masks: readonly PublicMask[]): void {
  if (masks.length === 0) return;
  throw invalidFields({
    data: masks.slice(0, MOST_REPORTED).map(({ kind, nodeId, label }) => {
      const place = `${kind} "${cutText(label, 60)}" of the node "${cutText(String(nodeId), 60)}"`;
      return `The ${place} is not secret, so that ******** stands for no stored value: enter the value.`;
    }),
  });
}
