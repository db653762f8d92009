// The input of a schedule as it is sealed: with the ids of the fields that were secret when it was given. What was given as
// a secret stays one, whatever becomes of the field in the drawing.
import type { SecretBox } from '../db/core/secret-box.js';
import type { RunInput } from '../graph/input.js';
import type { JsonObject } from '../graph/json.js';
import { parseJson, writeJson } from '../graph/json-text.js';

export interface ScheduleInput {
  /** The whole input, secrets included: it must not be part of an answer. */
  input: RunInput;
  secretFieldIds: string[];
}

export function sealScheduleInput(
  box: SecretBox,
  scheduleId: string,
  { input, secretFieldIds }: ScheduleInput,
): Buffer {
  return box.seal(writeJson({ input, secretFieldIds }), 'schedule-input', scheduleId);
}

/** Returns undefined if the input cannot be opened, because its key was withdrawn, for example. */
export function openScheduleInput(box: SecretBox, scheduleId: string, sealed: Buffer): ScheduleInput | undefined {
  let text: string;
  try {
    text = box.open(sealed, 'schedule-input', scheduleId);
  } catch {
    return undefined;
  }
  return parseJson(text) as ScheduleInput;
}

/** The fields that were secret when the input was given. */
export function secretFieldsThen({ secretFieldIds }: ScheduleInput): JsonObject[] {
  return secretFieldIds.map((id) => ({ id, is_secret: true }));
}
