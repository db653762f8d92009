// Estimates the memory that a payload occupies while a node works on it. The factors are measured upper
// bounds (docs/operate/tuning.md).
import { mayHoldInexactNumber } from '../../graph/exact-number.js';
import type { MessageSize } from '../../outgoing/message-size.js';

/** Bytes of memory per byte of an answer or result: its text, and its strings after parsing. */
export const PARSED_FACTOR = 3;
/** Bytes of memory per byte of an answer while it is read: its chunks, and their concatenation. */
export const READING_FACTOR = 2;
/**
 * Bytes of memory per byte of an answer while it is recorded: concatenated, decoded, written as
 * JSON, and as a database message.
 */
export const RECORDING_FACTOR = 7;
/**
 * Bytes of memory per opening bracket, comma or colon of a JSON text. An empty object in an array counts twice, by its
 * bracket and its comma.
 */
const VALUE_BYTES = 32;
/** The size of a number that is stored as its digits, without the digits. */
const EXACT_NUMBER_BYTES = 96;

/** The check of a message copies its values. */
const MESSAGE_VALUE_BYTES = 3 * VALUE_BYTES;

/** The memory of an MCP server's message from its first byte until its result is recorded. */
export function messageBytes({ bytes, values }: MessageSize): number {
  return RECORDING_FACTOR * bytes + MESSAGE_VALUE_BYTES * values;
}

const [COMMA, COLON, OPEN_BRACKET, OPEN_BRACE] = [0x2c, 0x3a, 0x5b, 0x7b];

/**
 * The bytes of memory that parsing adds to a JSON text: many times its size for a text such as `{},{},`. Returns 0 for
 * text that is not an array or object.
 */
export function structureBytes(json: string | Buffer): number {
  if (!mayBeStructured(json)) return 0;
  let values = 0;
  const codeAt = typeof json === 'string' ? (index: number) => json.charCodeAt(index) : (index: number) => json[index];
  for (let index = 0; index < json.length; index += 1) {
    const code = codeAt(index);
    if (code === COMMA || code === COLON || code === OPEN_BRACKET || code === OPEN_BRACE) values += 1;
  }
  return values * VALUE_BYTES + exactNumberBytes(json);
}

/** Reads each byte of UTF-8 as one character, which doesn't change the digits. */
function exactNumberBytes(json: string | Buffer): number {
  const text = typeof json === 'string' ? json : json.toString('latin1');
  if (!mayHoldInexactNumber(text)) return 0;
  return (text.match(/\d{16}|[eE][+-]?\d{3}/g)?.length ?? 0) * EXACT_NUMBER_BYTES;
}

const HEAD = 64;

function mayBeStructured(json: string | Buffer): boolean {
  const head = typeof json === 'string' ? json.slice(0, HEAD) : json.toString('latin1', 0, HEAD);
  return /^(?:\xEF\xBB\xBF|\uFEFF)?\s*(?:[[{]|$)/.test(head);
}
