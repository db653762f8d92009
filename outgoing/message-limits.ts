// Bounds on what an MCP server sends. Bytes are counted after decompression.
import { GrowingBuffer } from './growing-buffer.js';
import { McpError } from './mcp-error.js';

const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
// The progress and log messages of a long call stay far below these limits. They stop a server that never ends its
// stream.
const MAX_STREAM_MESSAGES = 10_000;
const MAX_STREAM_BYTES = 100 * 1024 * 1024;

export interface StreamEnd {
  /** The error that broke the stream; undefined when the server ended it. */
  error: McpError | undefined;
  /** Whether its events have ids, so that the SDK requests the rest on a new connection. */
  isResumable: boolean;
}

type Bytes = ReadableStream<Uint8Array>;

/** Delivers the body of one JSON message in one piece. */
export function limitBody(source: Bytes): Bytes {
  const held = new GrowingBuffer();
  return mapChunks(source, {
    chunk(bytes) {
      hold(held, bytes);
      return undefined;
    },
    last: () => held.take(),
  });
}

/**
 * Delivers a stream of server-sent events in whole events. A parser that sees a long event grow byte by byte would take
 * quadratic time. `onEnd` is called once, unless the reader cancels.
 */
export function limitEvents(source: Bytes, onEnd: (end: StreamEnd) => void): Bytes {
  const splitter = new EventSplitter();
  return mapChunks(source, {
    chunk: (bytes) => splitter.add(bytes),
    end: (error) => onEnd({ error, isResumable: splitter.hasIds }),
  });
}

function tooLarge(): McpError {
  return new McpError('response_too_large', 'The MCP server sent a message larger than 10 MiB.', false);
}

function hold(held: GrowingBuffer, bytes: Uint8Array): void {
  if (held.sizeBytes + bytes.length > MAX_MESSAGE_BYTES) throw tooLarge();
  held.add(bytes);
}

const LF = 10;
const CR = 13;
const ID_FIELD = Buffer.from('id:');

class EventSplitter {
  hasIds = false;
  readonly #held = new GrowingBuffer();
  #streamBytes = 0;
  #events = 0;
  #lineBytes = 0;
  #idBytes = 0;
  #isAfterCr = false;
  #isBlank = false;

  /** Returns all events that are complete with this chunk. */
  add(chunk: Uint8Array): Uint8Array | undefined {
    let end = 0;
    for (let index = 0; index < chunk.length; index += 1) if (this.#endsEvent(chunk[index]!)) end = index + 1;
    this.#streamBytes += chunk.length;
    if (this.#events > MAX_STREAM_MESSAGES || this.#streamBytes > MAX_STREAM_BYTES) {
      throw new McpError('response_too_large', 'The MCP server does not stop sending messages.', false);
    }
    if (end > 0) hold(this.#held, chunk.subarray(0, end));
    const whole = end > 0 ? this.#held.take() : undefined;
    hold(this.#held, chunk.subarray(end));
    return whole;
  }

  /** A blank line ends an event. Lines end in LF, CR or both. */
  #endsEvent(byte: number): boolean {
    if (byte === LF && this.#isAfterCr) {
      this.#isAfterCr = false;
      return this.#isBlank;
    }
    this.#isAfterCr = byte === CR;
    if (byte !== CR && byte !== LF) {
      if (this.#lineBytes === this.#idBytes && byte === ID_FIELD[this.#idBytes]) this.#idBytes += 1;
      if (this.#idBytes === ID_FIELD.length) this.hasIds = true;
      this.#lineBytes += 1;
      return false;
    }
    this.#isBlank = this.#lineBytes === 0;
    this.#lineBytes = 0;
    this.#idBytes = 0;
    if (this.#isBlank) this.#events += 1;
    return this.#isBlank;
  }
}

interface ChunkMap {
  /** Throws McpError to end the stream. */
  chunk(bytes: Uint8Array): Uint8Array | undefined;
  last?(): Uint8Array;
  end?(error: McpError | undefined): void;
}

function mapChunks(source: Bytes, map: ChunkMap): Bytes {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { done, value } = await reader.read();
            if (done) {
              if (map.last !== undefined) controller.enqueue(map.last());
              controller.close();
              map.end?.(undefined);
              return;
            }
            const mapped = map.chunk(value);
            if (mapped === undefined) continue;
            controller.enqueue(mapped);
            return;
          }
        } catch (thrown) {
          const error = thrown instanceof McpError ? thrown : brokenOff();
          if (error === thrown) reader.cancel(error).catch(() => undefined);
          controller.error(error);
          map.end?.(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The error for an answer that broke off. The server has read its request. */
export function brokenOff(): McpError {
  return new McpError('mcp_unreachable', 'The MCP server closed the connection before it had answered.', false);
}
