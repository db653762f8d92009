// About how much memory a payload takes while a node works on it: from measurements, on the safe side (docs/operate/tuning.md).
import { mayHoldUnkeptNumber } from '../../graph/exact-number.js';

/** Of the text of an answer or result, for each byte: itself, and its strings once they are parsed. */
export const PARSED_FACTOR = 3;
/** Of an answer that is being read, for each byte: its chunks, and all of them joined. */
export const READING_FACTOR = 2;
/** Of an answer that is being recorded, for each byte: joined, decoded, written as JSON, and as a message to the database. */
export const RECORDING_FACTOR = 7;
/** An empty array or object in an array, and its place there. */
const VALUE_BYTES = 32;
/** A number that is kept as its digits, beside these. */
const EXACT_NUMBER_BYTES = 96;

const [COMMA, COLON, OPEN_BRACKET, OPEN_BRACE] = [0x2c, 0x3a, 0x5b, 0x7b];

/**
 * What parsing adds for the values that a JSON text is made of: ten megabytes of `{},{},` are a gigabyte of objects. Text
 * that is no array and no object adds nothing.
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

/** Bytes of UTF-8 are read as if each were a character: digits are the same in both. */
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
