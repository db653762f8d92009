// Measures messages of MCP servers while their bytes arrive, before anything parses them, and values that were parsed.
import { McpError } from './mcp-error.js';

export interface MessageSize {
  bytes: number;
  /**
   * About the number of elements, members and containers. They are counted because `{}` is two bytes of text, and takes
   * a hundred bytes of memory.
   */
  values: number;
}

/** Called with a message's future size before more of it is stored. Reading continues when the promise resolves. */
export type Reserve = (size: MessageSize) => Promise<void> | undefined;

export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** The longest known list of tools has fewer than ten thousand values. */
export const MAX_MESSAGE_VALUES = 200_000;
/**
 * A result of an MCP server may be as deep as a body that a client sends to the API (`MAX_REQUEST_DEPTH` in
 * graph/json-depth.ts). The message, and possibly a batch, are levels around the result.
 */
const MAX_RESULT_DEPTH = 200;
const MAX_DEPTH = MAX_RESULT_DEPTH + 2;
/** The limit on the outermost values of a message or of a batch. The SDK checks each of them with several schemas. */
const MAX_OUTERMOST = 1_000;

const [LF, CR, QUOTE, COMMA, BACKSLASH] = [0x0a, 0x0d, 0x22, 0x2c, 0x5c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Throws `McpError` as soon as a message has too many values or is too deep. A line break ends a string, because JSON
 * must escape line breaks inside strings.
 */
export class MessageCounter {
  values = 0;
  #depth = 0;
  #outermost = 0;
  #isInString = false;
  #isEscaped = false;

  add(byte: number): void {
    if (this.#isInString) return this.#addToString(byte);
    switch (byte) {
      case QUOTE:
        this.#isInString = true;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        this.#depth += 1;
        this.#count();
        if (this.#depth > MAX_DEPTH) throw tooDeep();
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        // Invalid JSON may close more than it opens, which must not raise the limit on the depth.
        this.#depth = Math.max(0, this.#depth - 1);
        break;
      case COMMA:
        if (this.#depth <= 1) this.#outermost += 1;
        this.#count();
    }
  }

  reset(): void {
    this.values = 0;
    this.#depth = 0;
    this.#outermost = 0;
    this.#isInString = false;
    this.#isEscaped = false;
  }

  #addToString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE || byte === LF || byte === CR) this.#isInString = false;
  }

  #count(): void {
    this.values += 1;
    if (this.values > MAX_MESSAGE_VALUES || this.#outermost > MAX_OUTERMOST) throw tooManyValues();
  }
}

/** Measures a parsed value. Each character of its strings and keys counts as a byte. */
export function sizeOf(value: unknown): MessageSize {
  const open = [value];
  let [bytes, values] = [0, 0];
  while (open.length > 0) {
    const next = open.pop();
    values += 1;
    if (typeof next === 'string') bytes += next.length;
    else if (typeof next === 'object' && next !== null) {
      for (const [key, member] of Object.entries(next)) {
        if (!Array.isArray(next)) bytes += key.length;
        open.push(member);
      }
    }
  }
  return { bytes, values };
}

function tooManyValues(): McpError {
  const message = `The MCP server sent a message of more than ${MAX_MESSAGE_VALUES} values.`;
  return new McpError('response_too_large', message, false);
}

function tooDeep(): McpError {
  const message = `The MCP server's answer is nested deeper than ${MAX_RESULT_DEPTH} levels.`;
  return new McpError('mcp_protocol', message, false);
}
