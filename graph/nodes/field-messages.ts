import type { z } from 'zod';

// The wording that clients of the service already know: pydantic's messages for the same errors.
const TYPES: Record<string, string> = {
  array: 'list',
  int: 'integer',
  object: 'dictionary',
  record: 'dictionary',
};

/** Returns the message of a field error for zod's `error` option. Undefined leaves zod's own message. */
export function toFieldMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'Field required';
  const { code } = issue;
  if (code === 'invalid_type') return `Input should be a valid ${TYPES[issue.expected] ?? issue.expected}`;
  if (code === 'invalid_value') return `Input should be ${toChoice(issue.values.map((value) => `'${String(value)}'`))}`;
  if (code === 'too_small') return toLimitMessage(issue, 'at least', 'greater than or equal to', issue.minimum);
  if (code === 'too_big') return toLimitMessage(issue, 'at most', 'less than or equal to', issue.maximum);
  return undefined;
}

function toLimitMessage(
  issue: { origin: string; input?: unknown },
  count: string,
  comparison: string,
  limit: number | bigint,
): string {
  if (issue.origin === 'string')
    return `String should have ${count} ${limit} character${Number(limit) === 1 ? '' : 's'}`;
  if (issue.origin !== 'array') return `Input should be ${comparison} ${limit}`;
  const actual = Array.isArray(issue.input) ? issue.input.length : 0;
  return `List should have ${count} ${limit} item${Number(limit) === 1 ? '' : 's'} after validation, not ${actual}`;
}

function toChoice(words: string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
