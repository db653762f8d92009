// Reads a body of application/x-www-form-urlencoded. GitHub, Slack and Twilio send such forms.
import { parseJson } from '../../graph/json-text.js';
import { setOwn, type JsonObject } from '../../graph/json.js';
import { ApiError } from '../http/errors.js';
import { checkFreeText } from '../http/json-body.js';

const MOST_FIELDS = 10_000;
/** GitHub and Slack send the event in this field as JSON. */
const JSON_FIELD = 'payload';
/** Matches an encoded character of UTF-8, except a null character, which cannot be stored. */
const ENCODED_CHARACTER =
  /%(?!00)[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3}/gi;

export function isForm(contentType: string): boolean {
  return /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i.test(contentType);
}

/**
 * Returns the fields; a repeated field becomes a list. Invalid escapes stay as they were sent. Throws 400 for too many
 * fields, and for a `payload` that cannot be stored, is nested too deep or has too many values.
 */
export function readForm(text: string): JsonObject {
  const pairs = text.split('&', MOST_FIELDS + 1);
  if (pairs.length > MOST_FIELDS)
    throw new ApiError(400, 'parse_error', `The body has more than ${MOST_FIELDS} fields.`);
  const fields = new Map<string, unknown[]>();
  for (const pair of pairs) {
    if (pair === '') continue;
    const end = pair.includes('=') ? pair.indexOf('=') : pair.length;
    const name = decode(pair.slice(0, end));
    const value = decode(pair.slice(end + 1));
    const values = fields.get(name) ?? [];
    values.push(name === JSON_FIELD ? jsonOr(value) : value);
    fields.set(name, values);
  }
  const input: JsonObject = {};
  for (const [name, values] of fields) setOwn(input, name, values.length === 1 ? values[0] : values);
  return input;
}

function decode(text: string): string {
  return text.replaceAll('+', ' ').replace(ENCODED_CHARACTER, (escape) => {
    try {
      return decodeURIComponent(escape);
    } catch {
      return escape;
    }
  });
}

function jsonOr(text: string): unknown {
  checkFreeText(text);
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
