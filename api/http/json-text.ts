// Writes answers around JSON that the database holds as text, so that large documents and results need not be parsed.
import { writeJson } from '../../graph/json-text.js';

/** JSON text that is written into an answer unchanged. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Takes memory for the answer and gives it back. Memory that is not given back is held until the answer has ended. */
export interface AnswerMemory {
  /** Waits until `bytes` more are available. */
  take(bytes: number): Promise<void>;
  give(bytes: number): void;
}

/**
 * JSON text that is fetched when the answer reaches it; an answer that holds such text is sent in pieces. `pieces` must
 * take the memory of a piece before it fetches the piece.
 */
export class LazyJson {
  readonly pieces: (memory: AnswerMemory) => AsyncIterable<string>;

  constructor(pieces: (memory: AnswerMemory) => AsyncIterable<string>) {
    this.pieces = pieces;
  }
}

/**
 * The text of `pieces`. Each piece takes `pieceBytes` of memory while it is fetched, and twice its length (at most
 * `pieceBytes`) until it was sent.
 */
export function lazyText(pieces: () => AsyncIterator<string>, pieceBytes: number): LazyJson {
  return new LazyJson(async function* (memory) {
    const source = pieces();
    try {
      for (;;) {
        await memory.take(pieceBytes);
        const { done, value } = await source.next();
        const keptBytes = done === true ? 0 : Math.min(pieceBytes, 2 * value.length);
        memory.give(pieceBytes - keptBytes);
        if (done === true) return;
        yield value;
        memory.give(keptBytes);
      }
    } finally {
      await source.return?.();
    }
  });
}

/** A value that is created when the answer reaches it, and takes `bytes` until it is sent. It may hold `LazyJson`. */
export function lazyValue(bytes: number, make: () => Promise<unknown>): LazyJson {
  return new LazyJson(async function* (memory) {
    await memory.take(bytes);
    yield* toJsonPieces(await make(), memory);
    memory.give(bytes);
  });
}

/** An array whose items are created when the answer reaches them; they may hold `LazyJson`, too. */
export function lazyList(items: (memory: AnswerMemory) => AsyncIterable<unknown>): LazyJson {
  return new LazyJson(async function* (memory) {
    let before = '[';
    for await (const item of items(memory)) {
      yield before;
      yield* toJsonPieces(item, memory);
      before = ',';
    }
    yield before === '[' ? '[]' : ']';
  });
}

/**
 * An object whose members are created when the answer reaches them; they may hold `LazyJson`, too. Members that are
 * undefined are left out.
 */
function lazyObject(members: (memory: AnswerMemory) => AsyncIterable<[string, unknown]>): LazyJson {
  return new LazyJson(async function* (memory) {
    let before = '{';
    for await (const [key, member] of members(memory)) {
      if (member === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* toJsonPieces(member, memory);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  });
}

/** Yields the same text as `toJsonText` in pieces, for a value that may hold `LazyJson`. */
export async function* toJsonPieces(value: unknown, memory: AnswerMemory): AsyncGenerator<string> {
  if (value instanceof LazyJson) yield* value.pieces(memory);
  else if (!holdsLazyJson(value)) yield toJsonText(value);
  else if (Array.isArray(value)) yield* lazyList(() => eachOf(value)).pieces(memory);
  else yield* lazyObject(() => eachOf(Object.entries(value as object))).pieces(memory);
}

// oxlint-disable-next-line typescript/require-await -- the sources of pieces are asynchronous
async function* eachOf<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

export function holdsLazyJson(value: unknown): boolean {
  if (value instanceof LazyJson) return true;
  if (Array.isArray(value)) return value.some(holdsLazyJson);
  return isPlainObject(value) && Object.values(value).some(holdsLazyJson);
}

/**
 * Writes JSON as `JSON.stringify` does, but inserts `RawJson` text and the digits of an `ExactNumber` unchanged.
 * Recursive, and therefore meant for our own shallow bodies.
 */
export function toJsonText(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => toJsonText(item)).join(',')}]`;
  if (isPlainObject(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${toJsonText(member)}`).join(',')}}`;
  }
  return writeJson(value);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
