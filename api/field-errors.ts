// zod's issues in the words that clients of a Django REST Framework service parse. decisions.md section 1.
import { z } from 'zod';
import { invalidFields, type FieldErrors } from './errors.js';

/** An integer of a body. zod would call a text in its place no number. */
export function integerField() {
  return z.int({ error: ({ input }) => (input === undefined || input === null ? undefined : NO_INTEGER) });
}

const NO_INTEGER = 'A valid integer is required.';

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];

/** Parses, or throws the 400 that names every wrong field. */
export function parseFields<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value, { error: toSentence });
  if (parsed.success) return parsed.data;
  throw invalidFields(toFieldErrors(parsed.error));
}

function toFieldErrors(error: z.ZodError): FieldErrors {
  const fields: FieldErrors = {};
  for (const issue of error.issues) {
    const field = issue.path.length === 0 ? 'non_field_errors' : String(issue.path[0]);
    const sentences = (fields[field] ??= []);
    if (!sentences.includes(issue.message)) sentences.push(issue.message);
  }
  return fields;
}

/** Undefined leaves the schema's own message. */
function toSentence(issue: RawIssue): string | undefined {
  const { code } = issue;
  if (code === 'invalid_type') return wrongType(issue);
  if (code === 'invalid_value') return `"${String(issue.input)}" is not a valid choice.`;
  if (code === 'invalid_format') return 'Enter a valid value.';
  if (code === 'too_small') return tooSmall(issue);
  if (code === 'too_big') return tooBig(issue);
  return undefined;
}

const WRONG_TYPE: Partial<Record<string, string>> = {
  string: 'Not a valid string.',
  int: NO_INTEGER,
  number: 'A valid number is required.',
  boolean: 'Must be a valid boolean.',
};

function wrongType(issue: RawIssue & { expected?: unknown }): string {
  if (issue.path?.length === 0 || issue.path === undefined) {
    return `Invalid data. Expected a dictionary, but got ${typeName(issue.input)}.`;
  }
  if (issue.input === undefined) return 'This field is required.';
  if (issue.input === null) return 'This field may not be null.';
  const expected = String(issue.expected);
  if (expected === 'array') return `Expected a list of items but got type "${typeName(issue.input)}".`;
  return WRONG_TYPE[expected] ?? `Expected a dictionary of items but got type "${typeName(issue.input)}".`;
}

function tooSmall(issue: RawIssue & { origin?: unknown; minimum?: unknown }): string {
  if (issue.origin === 'string') return 'This field may not be blank.';
  return `Ensure this value is greater than or equal to ${String(issue.minimum)}.`;
}

function tooBig(issue: RawIssue & { origin?: unknown; maximum?: unknown }): string {
  const maximum = String(issue.maximum);
  if (issue.origin === 'string') return `Ensure this field has no more than ${maximum} characters.`;
  if (issue.origin === 'array') return `Ensure this field has no more than ${maximum} elements.`;
  return `Ensure this value is less than or equal to ${maximum}.`;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  const names: Record<string, string> = { string: 'str', number: 'number', boolean: 'bool', object: 'dict' };
  return names[typeof value] ?? 'nothing';
}
