// The inputs of a conversation, as they are sealed: with the ids of the fields that were secret when they were given.
import { openSecrets, type SealedSecrets } from '../../acceptance/opened-drawing.js';
import { secretFieldsThen, type ScheduleInput } from '../../acceptance/schedule-input.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import { fieldIdsOf, secretFieldsOf } from '../../graph/input.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import { createMasker } from '../../graph/mask.js';
import { maskInput, secretTexts } from '../../graph/secrets.js';
import { invalidFields } from '../http/errors.js';
import { OWN_FIELDS } from './message-input.js';

const MAX_INPUTS_CHARACTERS = 65_536;

/** Throws the 400 for what is no object, is too large, or names what the conversation itself gives. */
export function readInputs(given: unknown = {}): JsonObject {
  if (!isObject(given)) throw invalidFields({ inputs: ['Should be an object.'] });
  const own = OWN_FIELDS.find((field) => Object.hasOwn(given, field));
  if (own !== undefined) throw invalidFields({ inputs: [`The conversation itself gives \`${own}\` to each run.`] });
  if (writeJson(given).length > MAX_INPUTS_CHARACTERS)
    throw invalidFields({ inputs: [`Ensure this value has at most ${MAX_INPUTS_CHARACTERS} characters.`] });
  return given;
}

/** The drawing of a workflow, or as much of it as says what is secret. */
type Drawing = SealedSecrets & { document: unknown };

export function sealInputs(box: SecretBox, id: string, inputs: JsonObject, { document }: Pick<Drawing, 'document'>) {
  const secretFieldIds = [...fieldIdsOf(secretFieldsOf(document))];
  return box.seal(writeJson({ input: inputs, secretFieldIds }), 'conversation-inputs', id);
}

/** Undefined where the key is gone that has sealed them. They must not be part of an answer. */
export function openInputs(box: SecretBox, id: string, sealed: Buffer): ScheduleInput | undefined {
  try {
    return parseJson(box.open(sealed, 'conversation-inputs', id)) as ScheduleInput;
  } catch {
    return undefined;
  }
}

/** The secrets among them, which a run masks although its drawing may not name their fields any more. */
export function secretsOf(stored: ScheduleInput): string[] {
  return maskInput(secretFieldsThen(stored), stored.input).secretValues;
}

/** As they leave the service. Null where they cannot be opened. */
export function maskedInputs(box: SecretBox, id: string, sealed: Buffer, drawing: Drawing): unknown {
  const stored = openInputs(box, id, sealed);
  if (stored === undefined) return null;
  const fields = [...secretFieldsThen(stored), ...secretFieldsOf(drawing.document)];
  const { masked, secretValues } = maskInput(fields, stored.input);
  return createMasker([...secretValues, ...secretTexts(openSecrets(box, drawing))]).json(masked);
}
