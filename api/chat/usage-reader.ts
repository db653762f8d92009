// Reads the usage from a provider's answer. The bytes themselves are passed on unchanged.
import { StringDecoder } from 'node:string_decoder';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { failureIn, hasMessage } from '../../config/model-answer.js';
import { charactersIn, reportsUsage } from '../../config/model-price.js';
import { isObject } from '../../graph/json.js';
import { parseJsonOrUndefined } from '../../graph/json-text.js';
import { endOfText } from '../../graph/cut-text.js';
import { isEventStream } from '../../outgoing/event-stream-type.js';
import { createModelEvents, looksLikeEvents } from '../../outgoing/model-events.js';

export interface ReadUsage extends ReportedUsage {
  /**
   * `cut`: the compressed bytes are incomplete. `unknown`: the encoding is unknown, the bytes do not have it, or they
   * decompress to too many.
   */
  decoded: 'whole' | 'cut' | 'unknown';
}

interface ReportedUsage {
  /** The last usage that the provider reported; undefined without any. */
  usage: { prompt_tokens?: unknown; completion_tokens?: unknown } | undefined;
  characters: number;
  /**
   * `failure`: the answer reports a failure. `nothing`: the answer is no chat completion. A stream with text is an
   * `answer` even if it reports a failure, and so is every body that is too long to be parsed.
   */
  brought: 'answer' | 'failure' | 'nothing';
}

export interface UsageReader {
  /**
   * Returns undefined if the next chunk may be pushed at once, else a promise that resolves when it may. Waiting bounds
   * the memory, because a small chunk may decompress to a large text.
   */
  push(chunk: Buffer): Promise<void> | undefined;
  end(): Promise<ReadUsage>;
}

/** A map, because a provider may name an encoding `constructor`. */
const DECODERS = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * A longer line of a stream is counted but not parsed. Of a longer answer that is no stream, only the end is searched,
 * which contains the usage.
 */
const MAX_TEXT = 4 * 1024 * 1024;
const TAIL = 64 * 1024;
/** Text written by the model cannot match, because its quotation marks are escaped. */
const USAGE_AT_THE_END = /"usage"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})/g;

/**
 * The limit on the decompressed bytes, because an answer of 64 MiB (`MAX_ANSWER_BYTES`) can decompress to a thousand
 * times as many. At the usual speed of models, a stream of one hour, the longest one, stays below the limit.
 */
const MAX_DECODED_BYTES = 256 * 1024 * 1024;

interface AnswerHeaders {
  'content-type'?: string | undefined;
  'content-encoding'?: string | undefined;
}

export function createUsageReader(headers: AnswerHeaders, maxDecodedBytes = MAX_DECODED_BYTES): UsageReader {
  const isStream = isEventStream(headers['content-type']);
  const text = isStream ? createStreamReader() : createBodyReader();
  const decode = new StringDecoder('utf8');
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase() || 'identity';
  const read = (chunk: Buffer): undefined => {
    text.push(decode.write(chunk));
    return undefined;
  };
  const unpack = DECODERS.get(encoding)?.();
  if (unpack === undefined) {
    const isPlain = encoding === 'identity';
    return {
      push: isPlain ? read : () => undefined,
      end: () => Promise.resolve({ ...text.end(), decoded: isPlain ? 'whole' : 'unknown' }),
    };
  }
  // Bytes that are incomplete or not of this encoding are decompressed as far as possible.
  let decoded: ReadUsage['decoded'] = 'whole';
  let decodedBytes = 0;
  unpack.on('data', (chunk: Buffer) => {
    decodedBytes += chunk.length;
    if (decodedBytes <= maxDecodedBytes) read(chunk);
    else {
      decoded = 'unknown';
      unpack.destroy();
    }
  });
  const over = new Promise<void>((resolve) => {
    for (const event of ['end', 'error', 'close']) unpack.once(event, () => resolve());
  });
  unpack.on('error', ({ code }: NodeJS.ErrnoException) => (decoded = code === 'Z_BUF_ERROR' ? 'cut' : 'unknown'));
  return {
    push(chunk) {
      if (unpack.destroyed || unpack.write(chunk)) return undefined;
      return new Promise((resolve) => {
        unpack.once('drain', resolve);
        void over.then(resolve);
      });
    },
    async end() {
      if (!unpack.destroyed) unpack.end();
      await over;
      return { ...text.end(), decoded };
    },
  };
}

interface TextReader {
  push(text: string): void;
  end(): ReportedUsage;
}

function createBodyReader(): TextReader {
  let text = '';
  let length = 0;
  return {
    push(piece) {
      length += piece.length;
      text += piece;
      if (length > MAX_TEXT) text = endOfText(text, TAIL);
    },
    end() {
      if (length <= MAX_TEXT) return readWhole(text);
      const usage = [...text.matchAll(USAGE_AT_THE_END)].at(-1)?.[1];
      return {
        usage: usageIn(parseJsonOrUndefined(`{"usage": ${usage ?? 'null'}}`)),
        characters: length,
        brought: 'answer',
      };
    },
  };
}

function readWhole(text: string): ReportedUsage {
  if (looksLikeEvents(text)) {
    const stream = createStreamReader();
    stream.push(text);
    return stream.end();
  }
  const answer = parseJsonOrUndefined(text);
  const usage = usageIn(answer);
  if (failureIn(answer) !== undefined) return { usage, characters: 0, brought: 'failure' };
  const characters = charactersOf(answer);
  return { usage, characters, brought: characters > 0 || hasMessage(answer) ? 'answer' : 'nothing' };
}

function createStreamReader(): TextReader {
  const read: ReportedUsage = { usage: undefined, characters: 0, brought: 'nothing' };
  let hasFailed = false;
  let unread = 0;
  const events = createModelEvents({
    maxCharacters: MAX_TEXT,
    onTooLarge() {
      read.characters += unread;
      unread = 0;
    },
    onData(data, isError) {
      unread = 0;
      // Undefined for data that is not JSON, such as `[DONE]`.
      const chunk = parseJsonOrUndefined(data);
      hasFailed ||= isError || failureIn(chunk) !== undefined;
      read.usage = usageIn(chunk) ?? read.usage;
      if (!isObject(chunk) || !Array.isArray(chunk['choices'])) return;
      read.characters += charactersOf(chunk);
      if (chunk['choices'].length > 0) read.brought = 'answer';
    },
  });
  return {
    push(text) {
      unread += text.length;
      events.feed(text);
    },
    end() {
      events.end();
      if (read.characters > 0) return { ...read, brought: 'answer' };
      return hasFailed ? { ...read, brought: 'failure' } : read;
    },
  };
}

function usageIn(answer: unknown): ReportedUsage['usage'] {
  const usage = isObject(answer) ? answer['usage'] : undefined;
  return isObject(usage) && reportsUsage(usage) ? usage : undefined;
}

function charactersOf(answer: unknown): number {
  const choices: unknown = isObject(answer) ? answer['choices'] : undefined;
  if (!Array.isArray(choices)) return 0;
  try {
    return choices.reduce<number>((sum, choice) => {
      return sum + (isObject(choice) ? charactersIn(choice['delta'] ?? choice['message'] ?? choice['text']) : 0);
    }, 0);
  } catch {
    // The value is nested too deeply to be counted.
    return 0;
  }
}
