// The sealed input of a schedule, with the ids of the fields that were secret when the input was set. Their values stay
// secret even if the drawing's field no longer is.
import type { SecretBox } from '../db/core/secret-box.js';
import type { RunInput } from '../graph/input.js';
import type { JsonObject } from '../graph/json.js';
import { parseJson, writeJson } from '../graph/json-text.js';

export interface ScheduleInput {
  /** The whole input including secrets: it must not be part of an answer. */
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

/** Returns undefined if the input cannot be opened, for example because its key was withdrawn. */
export function openScheduleInput(box: SecretBox, scheduleId: string, sealed: Buffer): ScheduleInput | undefined {
  let text: string;
  try {
    text = box.open(sealed, 'schedule-input', scheduleId);
  } catch {
    return undefined;
  }
  return parseJson(text) as ScheduleInput;
}

export function secretFieldsThen({ secretFieldIds }: Pick<ScheduleInput, 'secretFieldIds'>): JsonObject[] {
  return secretFieldIds.map((id) => ({ id, is_secret: true }));
}
