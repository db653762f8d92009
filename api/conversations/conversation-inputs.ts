// Reads, seals and masks the inputs of a conversation. They are sealed together with the ids of the fields that were
// secret when the inputs were sent.
import { openSecrets, type SealedSecrets } from '../../acceptance/opened-drawing.js';
import { secretFieldsThen, type ScheduleInput } from '../../acceptance/schedule-input.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import { CHAT_FIELDS, fieldIdsOf, secretFieldsOf } from '../../graph/input.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import { createMasker } from '../../graph/mask.js';
import { maskInput, secretTexts } from '../../graph/secrets.js';
import { invalidFields } from '../http/errors.js';

const MAX_INPUTS_CHARACTERS = 65_536;

/** Throws 400 for a value that is no object, is too large, or sets a field of the conversation itself. */
export function readInputs(sent: unknown = {}): JsonObject {
  if (!isObject(sent)) throw invalidFields({ inputs: ['Should be an object.'] });
  const own = CHAT_FIELDS.find((field) => Object.hasOwn(sent, field));
  if (own !== undefined) throw invalidFields({ inputs: [`The conversation itself gives \`${own}\` to each run.`] });
  if (writeJson(sent).length > MAX_INPUTS_CHARACTERS)
    throw invalidFields({ inputs: [`Ensure this value has at most ${MAX_INPUTS_CHARACTERS} characters.`] });
  return sent;
}

/** A drawing, or the part of it that names secret fields. */
type Drawing = SealedSecrets & { document: unknown };

export function sealInputs(box: SecretBox, id: string, inputs: JsonObject, { document }: Pick<Drawing, 'document'>) {
  const secretFieldIds = [...fieldIdsOf(secretFieldsOf(document))];
  return box.seal(writeJson({ input: inputs, secretFieldIds }), 'conversation-inputs', id);
}

/**
 * Returns undefined if the key that sealed the inputs was withdrawn. The result is unmasked: an answer may contain
 * nothing of it but the model of the assistant.
 */
export function openInputs(box: SecretBox, id: string, sealed: Buffer): ScheduleInput | undefined {
  try {
    return parseJson(box.open(sealed, 'conversation-inputs', id)) as ScheduleInput;
  } catch {
    return undefined;
  }
}

/** The secrets in the inputs. A run masks them even if its drawing no longer names their fields. */
export function secretsOf(stored: ScheduleInput): string[] {
  return maskInput(secretFieldsThen(stored), stored.input).secretValues;
}

/** The inputs with secrets masked, for answers. Null if they cannot be opened. */
export function maskedInputs(box: SecretBox, id: string, sealed: Buffer, drawing: Drawing): unknown {
  const stored = openInputs(box, id, sealed);
  if (stored === undefined) return null;
  const fields = [...secretFieldsThen(stored), ...secretFieldsOf(drawing.document)];
  const { masked, secretValues } = maskInput(fields, stored.input);
  return createMasker([...secretValues, ...secretTexts(openSecrets(box, drawing))]).json(masked);
}
