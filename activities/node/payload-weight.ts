// Estimates the memory that a payload takes while a node works on it. The factors are measured upper bounds
// (docs/operate/tuning.md).
import { mayHoldUnkeptNumber } from '../../graph/exact-number.js';
import type { MessageSize } from '../../outgoing/message-size.js';

/** Bytes of memory per byte of an answer or result: its text, and its strings once they are parsed. */
export const PARSED_FACTOR = 3;
/** Bytes of memory per byte of an answer while it is read: its chunks, and all of them joined. */
export const READING_FACTOR = 2;
/**
 * Bytes of memory per byte of an answer while it is recorded: joined, decoded, written as JSON, and as a database
 * message.
 */
export const RECORDING_FACTOR = 7;
/** The size of an empty array or object inside an array, including its element. */
const VALUE_BYTES = 32;
/** The size of a number that is kept as its digits, in addition to the digits. */
const EXACT_NUMBER_BYTES = 96;

/** The values of a message are copied while they are checked. */
const MESSAGE_VALUE_BYTES = 3 * VALUE_BYTES;

/** The memory of a message of an MCP server, from its first byte until its result is recorded. */
export function messageBytes({ bytes, values }: MessageSize): number {
  return RECORDING_FACTOR * bytes + MESSAGE_VALUE_BYTES * values;
}

const [COMMA, COLON, OPEN_BRACKET, OPEN_BRACE] = [0x2c, 0x3a, 0x5b, 0x7b];

/**
 * The memory that the parsed values of a JSON text add: ten megabytes of `{},{},` become a gigabyte of objects. Text
 * that is not an array or object adds nothing.
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

/** Each byte of UTF-8 is read as one character, since digits are the same in both. */
function exactNumberBytes(json: string | Buffer): number {
  const text = typeof json === 'string' ? json : json.toString('latin1');
  if (!mayHoldUnkeptNumber(text)) return 0;
  return (text.match(/\d{16}|[eE][+-]?\d{3}/g)?.length ?? 0) * EXACT_NUMBER_BYTES;
}

const HEAD = 64;

function mayBeStructured(json: string | Buffer): boolean {
  const head = typeof json === 'string' ? json.slice(0, HEAD) : json.toString('latin1', 0, HEAD);
  return /^(?:\xEF\xBB\xBF|\uFEFF)?\s*(?:[[{]|$)/.test(head);
}
