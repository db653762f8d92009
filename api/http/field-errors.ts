// Translates zod's issues into the wording of Django REST Framework, which clients parse.
import { z } from 'zod';
import { documentedAs } from './documented-as.js';
import { invalidFields, type FieldErrors } from './errors.js';
import { cutText } from '../../graph/cut-text.js';

/** An integer in a body, with its own message: for a text, zod's issue names the type `number` (`WRONG_TYPE`). */
export function integerField() {
  return z.int({ error: ({ input }) => (input === undefined || input === null ? undefined : NO_INTEGER) });
}

const MAX_EMAIL_CHARACTERS = 254;

/** Keeps the case of the address. */
export function emailField() {
  const address = z.email({ error: 'Enter a valid email address.' });
  return z.string().trim().max(MAX_EMAIL_CHARACTERS).pipe(address);
}

const MAX_YEAR = 9999;

export function futureField() {
  const moment = z.iso
    .datetime({
      offset: true,
      error: 'Enter a date and time as ISO 8601 with an offset, such as 2030-01-31T12:00:00Z.',
    })
    .transform((text) => new Date(text))
    .refine((date) => date.getTime() > Date.now() && date.getUTCFullYear() <= MAX_YEAR, 'Enter a time in the future.');
  return documentedAs(moment, { type: 'string', format: 'date-time' });
}

const MAX_QUOTED_CHARACTERS = 60;
const NO_INTEGER = 'A valid integer is required.';

/**
 * Limits a list or dictionary to `maximum` elements before any is validated: zod reports every wrong element, and a
 * body may hold half a million.
 */
export function upTo<T extends z.ZodType>(maximum: number, schema: T) {
  const isShort = (value: unknown): boolean =>
    typeof value !== 'object' || value === null || Object.keys(value).length <= maximum;
  const counted = z.unknown().refine(isShort, `Ensure this field has no more than ${maximum} elements.`);
  return documentedAs(counted.pipe(schema), z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
}

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];

/** Returns the parsed value, or throws the 400 that names every wrong field. */
export function parseFields<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value, { error: toSentence });
  if (parsed.success) return parsed.data;
  throw invalidFields(toFieldErrors(parsed.error));
}

function toFieldErrors(error: z.ZodError): FieldErrors {
  const fields: FieldErrors = {};
  for (const issue of error.issues.flatMap(nearest)) {
    const field = issue.path.length === 0 ? 'non_field_errors' : String(issue.path[0]);
    const sentences = (fields[field] ??= []);
    if (!sentences.includes(issue.message)) sentences.push(issue.message);
  }
  return fields;
}

const OF_ANY_UNION = 'Invalid input';

/**
 * Replaces the issue of a union by the issues of the member with the fewest, unless that member refuses the value as a
 * whole. Returns any other issue, and one with a message of its own, unchanged.
 */
function nearest(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.message !== OF_ANY_UNION || issue.errors.length === 0) return [issue];
  const [best] = issue.errors.toSorted((one, other) => one.length - other.length);
  const isObject = best!.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys');
  if (!isObject) return [issue];
  return best!.map((each) => ({ ...each, path: [...issue.path, ...each.path] })).flatMap(nearest);
}

/** Returns undefined to keep zod's own message. A message that the schema itself gives takes precedence. */
function toSentence(issue: RawIssue): string | undefined {
  const { code } = issue;
  if (code === 'invalid_type') return wrongType(issue);
  if (code === 'invalid_value') return wrongChoice(issue);
  if (code === 'invalid_format') return 'Enter a valid value.';
  if (code === 'too_small') return tooSmall(issue);
  if (code === 'too_big') return tooBig(issue);
  return undefined;
}

function wrongChoice({ input }: RawIssue): string {
  if (input === undefined) return 'This field is required.';
  return input === null ? 'This field may not be null.' : `${quote(input)} is not a valid choice.`;
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

/** Cuts long values. An object is not converted to text because it may have its own `toString`. */
function quote(value: unknown): string {
  if (typeof value === 'object' && value !== null) return `A value of type "${typeName(value)}"`;
  const text = String(value);
  return `"${text.length > MAX_QUOTED_CHARACTERS ? `${cutText(text, MAX_QUOTED_CHARACTERS)}...` : text}"`;
}

function tooSmall(issue: RawIssue & { origin?: unknown; minimum?: unknown }): string {
  if (issue.origin === 'string') return 'This field may not be blank.';
  if (issue.origin === 'array') return `Ensure this field has at least ${String(issue.minimum)} elements.`;
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
