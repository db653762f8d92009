// The secrets in the inputs of cases. A value that was secret when the input was set stays secret, whatever the drawing
// says later.
import { isDeepStrictEqual } from 'node:util';
import { openSecrets, type SealedSecrets } from '../../acceptance/opened-drawing.js';
import { secretFieldsThen } from '../../acceptance/schedule-input.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { CaseContent } from '../../db/test-runs/cases-repository.js';
import { fieldIdsOf, secretFieldsOf } from '../../graph/input.js';
import { ownValue, type JsonObject } from '../../graph/json.js';
import { createMasker, joinMaskers, type Masker } from '../../graph/mask.js';
import { keepInputSecrets, maskInput, secretTexts } from '../../graph/secrets.js';

/** A drawing, or the part of it that names secret fields. */
export type SecretDrawing = SealedSecrets & { document: unknown };

type KeptInput = Pick<CaseContent, 'input' | 'secretFieldIds' | 'secretsThen'>;

function fieldsThen({ secretFieldIds = [] }: KeptInput): JsonObject[] {
  return secretFieldsThen({ secretFieldIds });
}

/** Returns the secrets that the run of a case masks, even if the drawing no longer names their fields. */
export function secretsOfCase(content: KeptInput): string[] {
  return [...maskInput(fieldsThen(content), content.input).secretValues, ...(content.secretsThen ?? [])];
}

/** Masks the inputs of the cases of one workflow, for answers. */
export function createCaseMasker(box: SecretBox, drawing: SecretDrawing): (content: KeptInput) => JsonObject {
  const ofDrawing = createMasker(secretTexts(openSecrets(box, drawing)));
  const fieldsNow = secretFieldsOf(drawing.document);
  return (content) => {
    const { masked, secretValues } = maskInput([...fieldsThen(content), ...fieldsNow], content.input);
    const ofCase: Masker = createMasker([...secretValues, ...(content.secretsThen ?? [])]);
    return joinMaskers(ofCase, ofDrawing).json(masked) as JsonObject;
  };
}

/** Adds the ids of the fields that `document` marks as secret to the ids that `content` already has. */
export function keepFieldIds<T extends KeptInput>(content: T, document: unknown): T {
  const now = fieldIdsOf(secretFieldsOf(document));
  return { ...content, secretFieldIds: [...new Set([...(content.secretFieldIds ?? []), ...now])] };
}

/**
 * Returns the input that replaces the stored one. A sent value that equals what answers show (with `********` for
 * secrets) stands for the stored value, and its field stays secret if it was.
 */
export function mergeInput(
  stored: KeptInput,
  sent: JsonObject,
  { shown, document }: { shown: JsonObject; document: unknown },
): KeptInput {
  const kept = Object.keys(sent).filter((id) => {
    return Object.hasOwn(shown, id) && isDeepStrictEqual(sent[id], shown[id]);
  });
  const merged = { ...sent, ...Object.fromEntries(kept.map((id) => [id, stored.input[id]])) };
  const input = keepInputSecrets(secretFieldsOf(document), merged, (id) => ownValue(stored.input, id)) as JsonObject;
  const secretFieldIds = (stored.secretFieldIds ?? []).filter((id) => kept.includes(id));
  return keepFieldIds({ ...stored, input, secretFieldIds }, document);
}
