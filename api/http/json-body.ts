// Decodes and parses the bodies of requests, JSON and free text. Content that the database or a later reader cannot
// handle is refused.
import { isNearDouble, mayHoldFarNumber } from '../../graph/exact-number.js';
import { MAX_REQUEST_DEPTH } from '../../graph/json-depth.js';
import { excessOf, MAX_JSON_VALUES, parseJson, positionOfNumber } from '../../graph/json-text.js';
import { jsonParseError, parseError, type ApiError } from './errors.js';

type Refuse = (reason: string, cause?: unknown) => ApiError;

const refuseText: Refuse = (reason, cause) => parseError(`${reason.charAt(0).toUpperCase()}${reason.slice(1)}`, cause);

/** Throws the 400 for bytes of JSON that are not UTF-8. Removes a byte order mark. */
export function decodeJson(bytes: Buffer): string {
  return decode(bytes, jsonParseError);
}

/** As `decodeJson`, for text that need not be JSON. */
export function decodeText(bytes: Buffer): string {
  return decode(bytes, refuseText);
}

function decode(bytes: Buffer, refuse: Refuse): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw refuse('the body is not valid UTF-8.', cause);
  }
}

/**
 * Throws the 400 for a body that is not JSON, is nested too deep or has too many values, or that holds text that cannot
 * be stored or numbers that a double cannot keep (`refuseInexactNumbers`).
 */
export function parseJsonBody(text: string): unknown {
  const value = parseBoundedJson(text);
  refuseInexactNumbers(text);
  refuseUnstorableText(text, value);
  return value;
}

/**
 * Parses a body like `parseJsonBody`, but keeps every number as it is written instead of refusing it. Used for the
 * input of runs and the arguments of tools.
 */
export function parseExactJsonBody(text: string): unknown {
  refuseUnstorableText(text, parseBoundedJson(text));
  return parseJson(text);
}

/**
 * Refuses only a text that is not JSON, is nested too deep or has too many values, so that routes can pass on JSON that
 * cannot be stored.
 */
export function parseBoundedJson(text: string): unknown {
  refuseHugeJson(text, jsonParseError);
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8's own message quotes the body, which may hold a secret, so only the position is reported.
    const position = /position \d+/.exec(error instanceof Error ? error.message : '')?.[0];
    throw jsonParseError(`the body is not valid JSON${position === undefined ? '' : ` at ${position}`}.`);
  }
}

/**
 * Throws the 400 if free text cannot be stored, or if it starts like JSON and is nested too deep or has too many values
 * for a later reader. No number in it is refused.
 */
export function checkFreeText(text: string): void {
  refuseHugeJson(text, refuseText);
  if (text.includes('\0')) throw unstorable(refuseText);
  const value = tryToParse(text);
  if (value === undefined) return; // Escapes are plain characters in text that is not JSON.
  refuseUnstorableText(text, value, refuseText);
}

/**
 * Throws the 400 for text that is nested too deep or holds too many values. Accepts text that starts with neither `[`
 * nor `{`.
 */
function refuseHugeJson(text: string, refuse: Refuse): void {
  if (!/^\s*[[{]/.test(text)) return;
  const excess = excessOf(text, MAX_REQUEST_DEPTH);
  if (excess === 'depth') throw refuse(`nested deeper than ${MAX_REQUEST_DEPTH} levels.`);
  if (excess === 'values') throw refuse(`the body holds more than ${MAX_JSON_VALUES} values.`);
}

/**
 * Throws the 400 for an integer that a double would change, because it may be an id, and for a number that is too large
 * or too small for a double. Other numbers may be rounded. `text` is valid JSON.
 */
function refuseInexactNumbers(text: string): void {
  if (!mayHoldFarNumber(text)) return;
  const position = positionOfNumber(text, (digits) => !isNearDouble(digits));
  if (position !== undefined) {
    throw jsonParseError(`the number at position ${position} cannot be kept exactly; send it as a string.`);
  }
}

function tryToParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refuseUnstorableText(text: string, value: unknown, refuse: Refuse = jsonParseError): void {
  if (mayHoldUnstorableText(text) && holdsUnstorableText(value)) throw unstorable(refuse);
}

function unstorable(refuse: Refuse): Error {
  return refuse('null characters and lone surrogates are not allowed.');
}

// In valid UTF-8 and valid JSON, null characters and lone surrogates can only come from an escape.
function mayHoldUnstorableText(text: string): boolean {
  return /\\u(?:0000|[dD][89a-fA-F])/.test(text);
}

function holdsUnstorableText(root: unknown): boolean {
  const open = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string') {
      if (isUnstorable(value)) return true;
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        if (isUnstorable(key)) return true;
        open.push(member);
      }
    }
  }
  return false;
}

function isUnstorable(text: string): boolean {
  return text.includes('\0') || /\p{Surrogate}/u.test(text);
}
