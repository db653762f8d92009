// Reads along what a provider answers, to learn what was used: the bytes themselves pass by unchanged.
import { StringDecoder } from 'node:string_decoder';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { charactersIn, isCount } from '../../config/model-price.js';
import { isObject } from '../../graph/json.js';
import { endOfText } from '../../graph/cut-text.js';
import { isEventStream } from '../../outgoing/event-stream-type.js';

export interface ReadUsage extends SaidUsage {
  /** `cut`: the compressed bytes have no end. `unknown`: they have an encoding that is not known, or not their own. */
  decoded: 'whole' | 'cut' | 'unknown';
}

interface SaidUsage {
  /** The usage as the provider has reported it last; undefined if it has reported none. */
  usage: { prompt_tokens?: unknown; completion_tokens?: unknown } | undefined;
  /** Characters of the answer. */
  characters: number;
}

export interface UsageReader {
  /** Resolves when there is room for the next chunk; undefined where there is some. A small chunk may unpack to a large text. */
  push(chunk: Buffer): Promise<void> | undefined;
  /** Resolves when everything that was pushed has been read. */
  end(): Promise<ReadUsage>;
}

const DECODERS: Partial<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** A longer line of a stream is counted and not looked into; of a longer answer only the end is, where its usage stands. */
const MAX_TEXT = 4 * 1024 * 1024;
const TAIL = 64 * 1024;
/** The quotation marks would be escaped in a text of the model. */
const USAGE_AT_THE_END = /"usage"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})/g;

interface AnswerHeaders {
  'content-type'?: string | undefined;
  'content-encoding'?: string | undefined;
}

export function createUsageReader(headers: AnswerHeaders): UsageReader {
  const isStream = isEventStream(headers['content-type']);
  const text = isStream ? createStreamReader() : createBodyReader();
  const decode = new StringDecoder('utf8');
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase() || 'identity';
  const read = (chunk: Buffer): undefined => {
    text.push(decode.write(chunk));
    return undefined;
  };
  const unpack = DECODERS[encoding]?.();
  if (unpack === undefined) {
    const isPlain = encoding === 'identity';
    return {
      push: isPlain ? read : () => undefined,
      end: () => Promise.resolve({ ...text.end(), decoded: isPlain ? 'whole' : 'unknown' }),
    };
  }
  unpack.on('data', read);
  // Bytes that were cut off, or are no archive, are read as far as they go.
  let decoded: ReadUsage['decoded'] = 'whole';
  const over = new Promise<void>((resolve) => {
    for (const event of ['end', 'error', 'close']) unpack.once(event, () => resolve());
  });
  unpack.on('error', ({ code }: NodeJS.ErrnoException) => (decoded = code === 'Z_BUF_ERROR' ? 'cut' : 'unknown'));
  return {
    push(chunk) {
      if (unpack.write(chunk)) return undefined;
      return new Promise((resolve) => {
        unpack.once('drain', resolve);
        void over.then(resolve);
      });
    },
    async end() {
      unpack.end();
      await over;
      return { ...text.end(), decoded };
    },
  };
}

interface TextReader {
  push(text: string): void;
  end(): SaidUsage;
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
      const read: SaidUsage = { usage: undefined, characters: 0 };
      if (length <= MAX_TEXT) {
        readObject(text, read);
        return read;
      }
      const usage = [...text.matchAll(USAGE_AT_THE_END)].at(-1)?.[1];
      if (usage !== undefined) readObject(`{"usage": ${usage}}`, read);
      return { ...read, characters: length };
    },
  };
}

/** Server-sent events: each line `data: {...}` is a piece of the answer. */
function createStreamReader(): TextReader {
  const read: SaidUsage = { usage: undefined, characters: 0 };
  let line = '';
  return {
    push(text) {
      if (text.includes('\n')) {
        const lines = (line + text).split('\n');
        line = lines.pop() ?? '';
        for (const whole of lines) readLine(whole, read);
      } else line += text;
      if (line.length <= MAX_TEXT) return;
      read.characters += line.length;
      line = '';
    },
    end() {
      readLine(line, read);
      return read;
    },
  };
}

function readLine(line: string, read: SaidUsage): void {
  if (line.startsWith('data:')) readObject(line.slice('data:'.length).trim(), read);
}

function readObject(text: string, read: SaidUsage): void {
  try {
    const said: unknown = JSON.parse(text);
    if (!isObject(said)) return;
    const { usage, choices } = said;
    if (isObject(usage) && (isCount(usage['prompt_tokens']) || isCount(usage['completion_tokens']))) read.usage = usage;
    if (!Array.isArray(choices)) return;
    for (const choice of choices as unknown[]) {
      if (isObject(choice)) read.characters += charactersIn(choice['delta'] ?? choice['message'] ?? choice['text']);
    }
  } catch {
    // A text that is no JSON (`[DONE]`) says nothing.
  }
}
