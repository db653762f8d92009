// Checks the fields that a published workflow must have, at publication and on every later change.
import type { MissingField } from '../../db/marketplace/publication-repository.js';
import { invalidFields, type FieldErrors } from '../http/errors.js';

const REQUIRED: readonly MissingField[] = ['market_title', 'short_description', 'available_languages'];

/** Returns the required fields that `changes` would empty. */
export function emptyFieldsOf(changes: Record<string, unknown>): MissingField[] {
  return REQUIRED.filter((field) => (changes[field] as string | unknown[] | undefined)?.length === 0);
}

/** Throws one 400 that names all of the fields, together with the other errors. */
export function refuseEmptyFields(fields: readonly MissingField[], others: FieldErrors = {}): void {
  const errors: FieldErrors = {};
  for (const field of fields) {
    const isList = field === 'available_languages';
    errors[field] = [isList ? 'This list may not be empty.' : 'This field may not be blank.'];
  }
  Object.assign(errors, others);
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}
