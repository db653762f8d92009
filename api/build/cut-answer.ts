// Keeps answers short enough for a model, and says how to read on.
import { cutText } from '../../graph/cut-text.js';
import { isContainer } from '../../graph/json.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import { toJsonPieces, type AnswerMemory } from '../http/json-text.js';
import { ToolError } from './tool.js';

const KIB = 1024;
/** The limit on the text of an answer, in bytes. */
export const ANSWER_BYTES = 25 * KIB;
/** The bytes that are left for all parts of an answer except the one that is cut. */
const AROUND_BYTES = 2 * KIB;
export const PART_BYTES = ANSWER_BYTES - AROUND_BYTES;
/**
 * `readWhole` refuses a value with a longer JSON text, even if only a part of the value is asked for. The length of the
 * text is measured in UTF-16 code units.
 */
const READ_BYTES = 8 * KIB * KIB;

export function sizeOf(value: unknown): number {
  return Buffer.byteLength(writeJson(value ?? null));
}

/** Returns the first items that have at most `bytes` together. */
export function takeFitting<Item>(items: readonly Item[], bytes: number): Item[] {
  let left = bytes;
  const end = items.findIndex((item) => (left -= sizeOf(item) + 1) < 0);
  return end < 0 ? [...items] : items.slice(0, end);
}

/** Cuts a text, so that the JSON text of what is left has at most `bytes`. */
export function cutBytes(text: string, bytes: number): string {
  let most = Math.min(text.length, bytes);
  while (most > 0 && sizeOf(cutText(text, most)) > bytes) most = Math.floor(most * 0.8);
  return cutText(text, most);
}

interface CutJson {
  /** The value, or the beginning of its JSON text. */
  value: unknown;
  isCut: boolean;
}

/** Reads only the first `bytes` of the JSON text of a value. The value may hold `LazyJson`. */
export async function readCut(value: unknown, memory: AnswerMemory, bytes: number): Promise<CutJson> {
  const { text, isWhole } = await readText(value, memory, bytes);
  if (isWhole && Buffer.byteLength(text) <= bytes) return { value: parseJson(text), isCut: false };
  return { value: cutBytes(text, bytes), isCut: true };
}

/** Reads a whole value. Throws `ToolError` if its JSON text is longer than `READ_BYTES`. */
export async function readWhole(value: unknown, memory: AnswerMemory): Promise<unknown> {
  const { text, isWhole } = await readText(value, memory, READ_BYTES);
  if (!isWhole) throw new ToolError('It has more than 8 MiB, which no tool reads. A person sees it in the console.');
  await memory.take(3 * text.length);
  return parseJson(text);
}

async function readText(
  value: unknown,
  memory: AnswerMemory,
  most: number,
): Promise<{ text: string; isWhole: boolean }> {
  let text = '';
  for await (const piece of toJsonPieces(value, memory)) {
    text += piece;
    if (text.length > most) return { text: cutText(text, most + 1), isWhole: false };
  }
  return { text, isWhole: true };
}

interface Part {
  /** The value, if it is short enough and not a text, and `offset` is 0. Else the other fields are set. */
  value?: unknown;
  /** A part of the text, or of the JSON text of another value, from `offset` on. */
  text?: string;
  /** The length of the whole text, in UTF-16 code units. */
  total?: number;
  /** Where the rest of the text begins; absent at its end. */
  next_offset?: number;
}

/** Returns a value, or the part of its text from `offset` on that fits. Throws `ToolError` for a too large `offset`. */
export function partOf(value: unknown, offset: number): Part {
  const isText = typeof value === 'string';
  const whole = isText ? value : writeJson(value ?? null);
  if (!isText && offset === 0 && Buffer.byteLength(whole) <= PART_BYTES) return { value };
  if (offset > whole.length) throw new ToolError(`offset: the text has ${whole.length} characters.`);
  const text = cutBytes(whole.slice(offset), PART_BYTES);
  const end = offset + text.length;
  return { text, total: whole.length, ...(end < whole.length && text !== '' && { next_offset: end }) };
}

const SHORTENED = 300;

/** Returns a copy of data that is too long for an answer: long texts, lists and objects, and deep ones, are cut. */
export function shortened(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.length > SHORTENED ? `${cutText(value, SHORTENED)}...` : value;
  if (!isContainer(value)) return value;
  if (depth === 4) return '...';
  if (Array.isArray(value)) return value.slice(0, 20).map((item) => shortened(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 40)
      .map(([key, member]) => [cutText(key, 100), shortened(member, depth + 1)]),
  );
}
