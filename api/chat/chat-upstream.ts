// Makes one call to a model provider and passes the answer on unchanged, unless an error in it quotes the key.
import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, Transform, type Readable } from 'node:stream';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { Agent, request, type Dispatcher } from 'undici';
import { failureIn, type ReportedFailure } from '../../config/model-answer.js';
import type { ModelProvider } from '../../config/model-providers.js';
import { parseJsonOrUndefined } from '../../graph/json-text.js';
import { createMasker } from '../../graph/mask.js';
import { isEventStream } from '../../outgoing/event-stream-type.js';
import { createModelEvents } from '../../outgoing/model-events.js';
import { tracedCall } from '../../outgoing/traced-call.js';
import { whenSent } from '../../outgoing/when-sent.js';
import { ApiError } from '../http/errors.js';

interface ChatCall {
  provider: ModelProvider;
  apiKey: string;
  /** The headers for the provider, without the credential, which `send` adds. */
  headers: Record<string, string>;
  body: Buffer;
  wantsStream: boolean;
  signal: AbortSignal;
  /**
   * Called with true when the request is sent, and with false when the provider has refused it: then it costs nothing.
   */
  onWire: (mayCost: boolean) => void;
}

export interface ChatAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /**
   * A stream breaks if the provider's breaks, if nothing arrives for `timeoutMs`, if it takes longer than
   * `longestStreamMs`, or if the caller hangs up.
   */
  body: Buffer | Readable;
}

export interface ChatUpstream {
  /**
   * Returns the provider's answer, also if its status is that of an error. Throws 500 for a redirect, and for a
   * provider that is down, broken or too slow. An answer with a status from 400 whose body may quote the key is thrown
   * as that status, without the body. A lower status that is not streamed, reports an error and quotes the key anywhere
   * is thrown as the status of the error, or as 500 if the error names none.
   */
  send(call: ChatCall): Promise<ChatAnswer>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;
/**
 * The limit of an answer that is not streamed. Such an answer is collected first, so that a broken one becomes a 500
 * instead of half a body.
 */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

const LONGEST_STREAM_MS = 3_600_000;

interface Limits {
  /**
   * Limits the time to the complete answer; for a stream, the time to its first byte, and between two chunks.
   */
  timeoutMs: number;
  /**
   * Limits the duration of a stream: a provider that never stops would hold the call open for as long as its caller
   * reads.
   */
  longestStreamMs?: number;
  maxAnswerBytes?: number;
}

export function createChatUpstream({
  timeoutMs,
  longestStreamMs = LONGEST_STREAM_MS,
  maxAnswerBytes = MAX_ANSWER_BYTES,
}: Limits): ChatUpstream {
  // undici's own limits are off because `timeoutMs` applies. Redirects are not followed: they would carry the key to
  // another host.
  const agent = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout: 0, bodyTimeout: 0 });
  return {
    async send(call) {
      const limit = startLimit(timeoutMs);
      try {
        const answer = await post(agent, call, AbortSignal.any([call.signal, limit.signal]));
        if (isStream(call, answer)) {
          return toAnswer(answer, hideKeyInErrors(call, answer, watch(answer.body, limit, longestStreamMs)));
        }
        const bytes = await collect(answer.body, maxAnswerBytes);
        limit.clear();
        return toAnswer(answer, checked(call, answer, bytes));
      } catch (error) {
        limit.clear();
        if (error instanceof ApiError) throw error;
        // Without this, a caller who hangs up would be logged as a failure of the provider.
        call.signal.throwIfAborted();
        if (limit.signal.aborted) throw tooSlow(timeoutMs, error);
        throw broken('The model provider could not be reached or broke off its answer.', error);
      }
    },
    close: () => agent.destroy(),
  };
}

type Limit = ReturnType<typeof startLimit>;

function startLimit(timeoutMs: number) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  return {
    signal: controller.signal,
    restart: () => void timer.refresh(),
    clear: () => clearTimeout(timer),
    end: () => controller.abort(),
  };
}

async function post(agent: Agent, call: ChatCall, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const url = new URL(`${call.provider.baseUrl}/chat/completions`);
  const headers = { ...call.headers, authorization: `Bearer ${call.apiKey}` };
  const attributes = { 'gen_ai.provider.name': call.provider.name, 'gen_ai.operation.name': 'chat' };
  const answer = await tracedCall(
    { url, method: 'POST', headers, sendsTraceparent: false, attributes },
    ({ statusCode }: Dispatcher.ResponseData) => statusCode,
    () => {
      const dispatcher = whenSent(agent, () => call.onWire(true));
      return request(url, { method: 'POST', headers, body: call.body, signal, dispatcher });
    },
  );
  if (answer.statusCode >= 300) call.onWire(false);
  // An abandoned body emits an error, which without a listener would end the process.
  answer.body.on('error', () => undefined);
  if (answer.statusCode >= 300 && answer.statusCode < 400) {
    answer.body.destroy();
    throw broken('The model provider answered with a redirect.');
  }
  return answer;
}

/**
 * An answer with the status of an error is never streamed: it is small, and is searched for the key before it is passed
 * on. JSON is not streamed either, because a gateway may answer the request for a stream with the status 200 and an
 * error as JSON.
 */
function isStream(call: ChatCall, { statusCode, headers }: Dispatcher.ResponseData): boolean {
  if (statusCode >= 400) return false;
  if (isEventStream(headers['content-type'])) return true;
  return call.wantsStream && !/^\s*application\/json\b/i.test(String(headers['content-type'] ?? ''));
}

function watch(body: Readable, limit: Limit, longestMs: number): Readable {
  const longest = setTimeout(limit.end, longestMs);
  const watched = new Transform({
    transform(chunk, _encoding, done) {
      limit.restart();
      done(null, chunk);
    },
  });
  watched.on('error', () => undefined);
  return pipeline(body, watched, () => {
    clearTimeout(longest);
    limit.clear();
  });
}

async function collect(body: Readable, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > mostBytes) throw broken('The answer of the model provider is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A provider may quote the key that it refuses; the caller must not learn the key. */
function checked(call: ChatCall, { statusCode, headers }: Dispatcher.ResponseData, bytes: Buffer): Buffer {
  const encoding = headers['content-encoding'];
  if (statusCode >= 400) {
    if (!mayHoldKey(bytes, encoding, call.apiKey)) return bytes;
    throw new ApiError(statusCode, 'upstream_error', REFUSED);
  }
  const failure = failureWithKey(bytes, encoding, call.apiKey);
  if (failure === undefined) return bytes;
  call.onWire(false);
  throw new ApiError(failure.status ?? 500, 'upstream_error', REFUSED);
}

function toAnswer({ statusCode, headers }: Dispatcher.ResponseData, body: Buffer | Readable): ChatAnswer {
  return { status: statusCode, headers, body };
}

function tooSlow(timeoutMs: number, cause: unknown): ApiError {
  const message = `The model provider did not answer within ${timeoutMs / 1000} seconds.`;
  return new ApiError(500, 'upstream_timeout', message, { cause });
}

function broken(message: string, cause?: unknown): ApiError {
  return new ApiError(500, 'upstream_error', message, { cause });
}

// Detects an error that quotes a credential, so that the chat proxy does not return the provider's key. Answers that
// report no error are passed on unchanged, whatever they contain.

const REFUSED = 'The model provider refused the request.';
/** Shorter keys are placeholders for providers that need none. */
const MIN_KEY_LENGTH = 6;
const MAX_LOOKED_THROUGH_BYTES = 8 * 1024 * 1024;

/** A map, because a provider may name an encoding `constructor`. */
const DECODERS = new Map<string, typeof gunzipSync>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);

/** True also for an answer that cannot be searched, because `textOf` returns undefined for it. */
function mayHoldKey(bytes: Buffer, encoding: string | string[] | undefined, apiKey: string): boolean {
  if (apiKey.length < MIN_KEY_LENGTH || bytes.length === 0) return false;
  const text = textOf(bytes, encoding);
  return text === undefined || holds(text, apiKey);
}

/** Returns the failure that an answer below 400 reports, if the answer can be searched and quotes the key anywhere. */
function failureWithKey(
  bytes: Buffer,
  encoding: string | string[] | undefined,
  apiKey: string,
): ReportedFailure | undefined {
  if (apiKey.length < MIN_KEY_LENGTH) return undefined;
  const text = textOf(bytes, encoding);
  return text !== undefined && holds(text, apiKey) ? failureIn(parseJsonOrUndefined(text)) : undefined;
}

/** Returns undefined if the encoding is unknown, the bytes do not have it, or the text is longer than the limit. */
function textOf(bytes: Buffer, encoding: string | string[] | undefined): string | undefined {
  const name = String(encoding ?? 'identity').toLowerCase();
  if (name === 'identity') return bytes.length > MAX_LOOKED_THROUGH_BYTES ? undefined : bytes.toString();
  try {
    return DECODERS.get(name)?.(bytes, { maxOutputLength: MAX_LOOKED_THROUGH_BYTES }).toString();
  } catch {
    return undefined;
  }
}

/**
 * Masks the key in a stream. If one of the events that a chunk completes reports an error that quotes the key, the key
 * is masked in all of these events. All other bytes stay as they are. A part of an event is held back until the event
 * is complete, so that a key across two chunks is found. Compressed streams, and those that are no event streams, are
 * not searched.
 */
function hideKeyInErrors({ apiKey }: ChatCall, { headers }: Dispatcher.ResponseData, stream: Readable): Readable {
  const isPlain = String(headers['content-encoding'] ?? 'identity').toLowerCase() === 'identity';
  if (apiKey.length < MIN_KEY_LENGTH || !isPlain || !isEventStream(headers['content-type'])) return stream;
  const masker = createMasker([apiKey]);
  const hide = (bytes: Buffer): Buffer => {
    const text = bytes.toString();
    const masked = masker.text(text);
    return masked !== text && reportsErrorWith(text, apiKey) ? Buffer.from(masked) : bytes;
  };
  let held: Buffer = Buffer.alloc(0);
  const hiding = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const end = held.length > MAX_HELD_BYTES ? held.length : endOfEvents(held);
      const complete = held.subarray(0, end);
      held = held.subarray(end);
      if (complete.length === 0) done();
      else done(null, hide(complete));
    },
    flush(done) {
      done(null, hide(held));
    },
  });
  hiding.on('error', () => undefined);
  return pipeline(stream, hiding, () => undefined);
}

/** A longer event is passed on in parts, because errors are short. */
const MAX_HELD_BYTES = 64 * 1024;
const ENDS_OF_EVENTS = ['\n\n', '\r\n\r\n', '\r\r'];

/** Returns the number of bytes up to the end of the last complete event. */
function endOfEvents(bytes: Buffer): number {
  const ends = ENDS_OF_EVENTS.map((end) => {
    const at = bytes.lastIndexOf(end);
    return at < 0 ? 0 : at + end.length;
  });
  return Math.max(...ends);
}

function reportsErrorWith(text: string, apiKey: string): boolean {
  let isFound = false;
  const events = createModelEvents({
    maxCharacters: 2 * MAX_HELD_BYTES,
    onTooLarge: () => undefined,
    onData(data, isError) {
      isFound ||= holds(data, apiKey) && (isError || failureIn(parseJsonOrUndefined(data)) !== undefined);
    },
  });
  events.feed(text);
  events.end();
  return isFound;
}

/** Searches for the key in every encoding that maskers find. */
function holds(text: string, apiKey: string): boolean {
  return createMasker([apiKey]).text(text) !== text;
}
