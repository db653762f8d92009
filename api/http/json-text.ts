// Writes answers around JSON that the database holds as text, so that large documents and results are never parsed.
import { writeJson } from '../../graph/json-text.js';

/** JSON text that is written into an answer unchanged. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** JSON text that is fetched when the answer reaches it; an answer that holds one is streamed. */
export class LazyJson {
  readonly pieces: () => AsyncIterable<string>;

  constructor(pieces: () => AsyncIterable<string>) {
    this.pieces = pieces;
  }
}

/** Yields the same text as `toJsonText` in pieces, for a value that may hold `LazyJson`. */
export async function* toJsonPieces(value: unknown): AsyncGenerator<string> {
  if (value instanceof LazyJson) yield* value.pieces();
  else if (isPlainObject(value) && holdsLazyJson(value)) {
    let before = '{';
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* toJsonPieces(member);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  } else yield toJsonText(value);
}

/** Searches objects only, because our bodies hold `LazyJson` nowhere else. */
export function holdsLazyJson(value: unknown): boolean {
  if (value instanceof LazyJson) return true;
  return isPlainObject(value) && Object.values(value).some(holdsLazyJson);
}

/** Like `JSON.stringify`, but inserts `RawJson` text unchanged. Meant for our own shallow bodies. */
export function toJsonText(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => toJsonText(item)).join(',')}]`;
  if (isPlainObject(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${toJsonText(member)}`).join(',')}}`;
  }
  return writeJson(value);
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
