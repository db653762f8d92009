// Explains to the sender of a delivery, a tool call, a chat completion or a message why no run was started. The sender
// learns only which fields of the input are wrong, and nothing else of the drawing.
import { z } from 'zod';
import { fieldIdsOf, inputFieldsOf } from '../../graph/input.js';
import { pushTo } from '../../graph/push-to.js';
import { detailSchema } from '../http/answer-schemas.js';
import type { FieldErrors } from '../http/errors.js';
import type { Envelope } from '../envelope/run-envelope.js';

export const refusedInputSchema = detailSchema.extend({
  errors: z
    .record(z.string(), z.array(z.string()))
    .optional()
    .describe('Fields of the input and what is wrong with them'),
});

export type RefusedInput = z.infer<typeof refusedInputSchema>;

/** `envelope`: the answer of acceptance to a run of this drawing. */
export function toRefusedInput({ data }: Envelope, drawing: unknown): RefusedInput {
  const [one, ...others] = Object.values(data.data ?? {});
  const errors = toFieldErrors((one?.result ?? []) as Record<string, string>[]);
  const fields = fieldIdsOf(inputFieldsOf(drawing));
  const isOfInput = one !== undefined && others.length === 0 && Object.keys(errors).every((id) => fields.has(id));
  return isOfInput
    ? { detail: 'The workflow does not take this input.', code: 'invalid_input', errors }
    : { detail: 'The workflow cannot run as it is drawn.', code: 'invalid_workflow' };
}

function toFieldErrors(result: Record<string, string>[]): FieldErrors {
  const errors = new Map<string, string[]>();
  for (const [field, sentence] of result.flatMap((error) => Object.entries(error))) {
    pushTo(errors, field, sentence);
  }
  return Object.fromEntries(errors);
}
