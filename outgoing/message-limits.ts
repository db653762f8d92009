// Limits the size, the depth and the number of the messages that an MCP server sends. Bytes are counted after
// decompression. Numbers that the SDK would round are marked in complete messages (exact-numbers.ts).
import { ExpandedTooFarError } from './response-body.js';
import { markNumbersIn, markNumbersInEvents } from './exact-numbers.js';
import { GrowingBuffer } from '../memory/growing-buffer.js';
import { McpError } from './mcp-error.js';
import { MAX_MESSAGE_BYTES, MessageCounter, type Reserve } from './message-size.js';

// These limits stop a server that never ends its stream. The progress and log messages of a long call stay far below.
// Events without data do not count as messages, because servers send them to keep the connection open; their bytes do
// count.
const MAX_STREAM_MESSAGES = 10_000;
export const MAX_STREAM_BYTES = 100 * 1024 * 1024;

export interface StreamEnd {
  /** The error that broke the stream; undefined if the server ended it. */
  error: McpError | undefined;
  /** True if a complete event has data and an id, so that the SDK requests the rest on a new connection. */
  isResumable: boolean;
}

/** The decoded bytes of an answer: a stream of Node.js or of the web. */
type Source = AsyncIterable<Uint8Array>;
type Bytes = ReadableStream<Uint8Array>;

/** Delivers the body of one JSON message in one piece. */
export function limitBody(source: Source, reserve: Reserve): Bytes {
  const held = new GrowingBuffer();
  const counter = new MessageCounter();
  return mapChunks(source, {
    async chunk(bytes) {
      for (let index = 0; index < bytes.length; index += 1) counter.add(bytes[index]!);
      await reserve(grown(held, bytes.length, counter));
      held.add(bytes);
      return undefined;
    },
    last: () => markNumbersIn(held.drain()),
  });
}

/**
 * Delivers a stream of server-sent events in whole events, because a parser that sees a long event grow byte by byte
 * would take quadratic time. `onEnd` is called once, or possibly never if the reader cancels.
 */
export function limitEvents(
  source: Source,
  reserve: Reserve,
  onEnd: (end: StreamEnd) => void,
  mostBytes = MAX_STREAM_BYTES,
): Bytes {
  const splitter = new EventSplitter(reserve, mostBytes);
  return mapChunks(source, {
    chunk: (bytes) => splitter.add(bytes),
    end: (error) => onEnd({ error, isResumable: splitter.hasIds }),
  });
}

function grown(held: GrowingBuffer, moreBytes: number, { values }: MessageCounter): { bytes: number; values: number } {
  const bytes = held.sizeBytes + moreBytes;
  if (bytes <= MAX_MESSAGE_BYTES) return { bytes, values };
  throw tooLarge();
}

function tooLarge(): McpError {
  return new McpError('response_too_large', 'The MCP server sent a message larger than 10 MiB.', false);
}

const LF = 10;
const CR = 13;
const SPACE = 32;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const ID_FIELD = 'id:';
const DATA_FIELD = 'data:';

class EventSplitter {
  /** True once the SDK's parser, which drops events without data, has received one with data and a non-empty id. */
  hasIds = false;
  readonly #reserve: Reserve;
  readonly #mostBytes: number;
  readonly #held = new GrowingBuffer();
  readonly #counter = new MessageCounter();
  #streamBytes = 0;
  #events = 0;
  #lineBytes = 0;
  /** The first bytes of the line. */
  readonly #lineStart = Buffer.alloc(DATA_FIELD.length);
  #markBytes = 0;
  #isDataLine = false;
  #hasNul = false;
  #eventHasData = false;
  #eventHasId = false;
  /** True after an event with data and an id, if it ended in CR: the SDK's parser delivers it with the next byte. */
  #isDue = false;
  #isAfterCr = false;
  #isBlank = false;

  constructor(reserve: Reserve, mostBytes: number) {
    this.#reserve = reserve;
    this.#mostBytes = mostBytes;
  }

  /** Returns all events that are complete with this chunk. */
  async add(chunk: Uint8Array): Promise<Uint8Array | undefined> {
    let end = 0;
    // The values of the events that are complete with this chunk.
    let values = 0;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index]!;
      if (!this.#endsEvent(byte)) continue;
      end = index + 1;
      values += this.#counter.values;
      this.#counter.reset();
    }
    this.#streamBytes += chunk.length;
    if (this.#events > MAX_STREAM_MESSAGES || this.#streamBytes > this.#mostBytes) {
      throw new McpError('response_too_large', 'The MCP server does not stop sending messages.', false);
    }
    const size = grown(this.#held, end > 0 ? end : chunk.length, this.#counter);
    await this.#reserve({ ...size, values: size.values + values });
    if (end > 0) this.#held.add(chunk.subarray(0, end));
    const whole = end > 0 ? markNumbersInEvents(this.#held.drain()) : undefined;
    this.#held.add(chunk.subarray(end));
    return whole;
  }

  /** Returns true if the byte ends an event, which a blank line does. Lines end in LF, CR or both. */
  #endsEvent(byte: number): boolean {
    if (this.#isDue) this.hasIds = true;
    this.#isDue = false;
    if (byte === LF && this.#isAfterCr) {
      this.#isAfterCr = false;
      return this.#isBlank;
    }
    this.#isAfterCr = byte === CR;
    if (byte !== CR && byte !== LF) {
      this.#addToLine(byte);
      return false;
    }
    this.#counter.add(byte);
    this.#isBlank = this.#lineBytes === 0;
    if (this.#isBlank) this.#endEvent(byte);
    else this.#endLine();
    return this.#isBlank;
  }

  /** Counts the values of data only, because a comment with brackets would shift the depth of the message. */
  #addToLine(byte: number): void {
    if (byte === BYTE_ORDER_MARK[this.#markBytes]) {
      this.#markBytes += 1;
      return;
    }
    // The mark may only begin the stream.
    this.#markBytes = BYTE_ORDER_MARK.length;
    if (this.#isDataLine) this.#counter.add(byte);
    if (byte === 0) this.#hasNul = true;
    if (this.#lineBytes < DATA_FIELD.length) {
      this.#lineStart[this.#lineBytes] = byte;
      this.#isDataLine = this.#lineBytes + 1 === DATA_FIELD.length && this.#lineStart.toString('latin1') === DATA_FIELD;
    }
    this.#lineBytes += 1;
  }

  #endLine(): void {
    const start = this.#lineStart.toString('latin1', 0, Math.min(this.#lineBytes, DATA_FIELD.length));
    if (this.#isDataLine || start === 'data') this.#eventHasData = true;
    // An id with NUL is ignored. Of several ids, the last counts. A space before an id is not part of it.
    else if (start.startsWith(ID_FIELD) && !this.#hasNul) {
      const spaces = start.charCodeAt(ID_FIELD.length) === SPACE ? 1 : 0;
      this.#eventHasId = this.#lineBytes > ID_FIELD.length + spaces;
    } else if (start === 'id') this.#eventHasId = false;
    this.#lineBytes = 0;
    this.#isDataLine = false;
    this.#hasNul = false;
  }

  #endEvent(byte: number): void {
    if (this.#eventHasData) this.#events += 1;
    if (this.#eventHasData && this.#eventHasId) {
      if (byte === CR) this.#isDue = true;
      else this.hasIds = true;
    }
    this.#eventHasData = false;
    this.#eventHasId = false;
  }
}

interface ChunkMap {
  /** Throws `McpError` to end the stream. */
  chunk(bytes: Uint8Array): Promise<Uint8Array | undefined>;
  last?(): Uint8Array;
  end?(error: McpError | undefined): void;
}

function mapChunks(source: Source, map: ChunkMap): Bytes {
  const chunks = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const next = await chunks.next();
            if (next.done === true) {
              if (map.last !== undefined) controller.enqueue(map.last());
              controller.close();
              map.end?.(undefined);
              return;
            }
            const mapped = await map.chunk(next.value);
            if (mapped === undefined) continue;
            controller.enqueue(mapped);
            return;
          }
        } catch (thrown) {
          const error = toBreak(thrown);
          void stop(chunks);
          controller.error(error);
          map.end?.(error);
        }
      },
      cancel: () => stop(chunks),
    },
    { highWaterMark: 0 },
  );
}

async function stop(chunks: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await chunks.return?.();
  } catch {
    // Ignored: the connection has already broken.
  }
}

function toBreak(thrown: unknown): McpError {
  if (thrown instanceof McpError) return thrown;
  return thrown instanceof ExpandedTooFarError ? tooLarge() : brokenOff();
}

/** The error for an answer that broke off: the server may have read the request, so `isBeforeSend` is false. */
export function brokenOff(): McpError {
  return new McpError('mcp_unreachable', 'The MCP server closed the connection before it had answered.', false);
}
