// Reads the answer to a model call, in one piece or as a stream. Builds from a stream the answer that a call without
// streaming would have had.
import type OpenAI from 'openai';
import { errorIn, failureIn, failureOf, hasWords, type ReportedFailure } from '../../../config/model-answer.js';
import { isContainer, isObject, type JsonObject } from '../../../graph/json.js';
import { parseJsonOrUndefined } from '../../../graph/json-text.js';
import { isEventStream } from '../../../outgoing/event-stream-type.js';
import { createModelEvents, looksLikeEvents } from '../../../outgoing/model-events.js';
import { retryAfterMs } from '../../../outgoing/retry-after.js';
import { NodeFailure } from '../../node/failures.js';
import { JoinedMessage } from './join-message.js';
import { BrokenOff, reportedFailure, UnusableAnswer } from './unusable-answer.js';

/** Receives the next piece of the answer's content. */
export type TextListener = (text: string) => void;

/**
 * Limits the text of an answer, one event of a stream, and the characters between events. No model writes this much,
 * and a provider may be hostile.
 */
const MAX_ANSWER_CHARACTERS = 32 * 1024 * 1024;
/** Lines that are not valid in a stream cost much more time than others. */
const MAX_WRONG_LINES = 1_000;
const MAX_FACTS = 50;
/** The time allowed for a stream to end after its last event, so that its connection can be reused. */
const DRAIN_MS = 1_000;

/** Reads one answer with a status 2xx, whose pieces may be offered before `read`, or be in the body of the response. */
export class AnswerReader {
  readonly #decoder = new TextDecoder();
  readonly #onText: TextListener | undefined;
  readonly #completion = new StreamedCompletion();
  readonly #events = createModelEvents({
    onData: (data, isError) => this.#onData(data, isError),
    maxCharacters: MAX_ANSWER_CHARACTERS,
    onTooLarge: () => {
      throw tooLarge();
    },
    onWrongLine: () => {
      this.#wrongLines += 1;
      if (this.#wrongLines > MAX_WRONG_LINES) throw noCompletion();
    },
  });
  /** The body, unless it is a stream. */
  #text = '';
  /** The usage of an answer in one piece. */
  #usage: unknown;
  #wrongLines = 0;
  /** The number of characters outside event data; all characters if there are no events. */
  #otherCharacters = 0;
  #isJson: boolean;
  #isStream = false;
  #hasEvents = false;
  /** True once text or calls have arrived: the provider then charges for them, whatever follows. */
  #hasWords = false;
  #retryAfterMs: number | undefined;
  #isClosed = false;
  #hasFailed = false;
  #close: () => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;
  /** Resolves when the stream has declared its end. Rejects with the error of a piece that `offer` got. */
  readonly #closed = new Promise<void>((resolve, reject) => {
    this.#close = resolve;
    this.#fail = reject;
  });

  /** `onText` receives the content as it arrives. Without `onText`, the answer is read when all of it has arrived. */
  constructor(onText: TextListener | undefined) {
    this.#onText = onText;
    this.#isJson = onText === undefined;
    this.#closed.catch(() => undefined);
  }

  /** Adds a piece of a stream. Never throws; `read` throws the error of the piece. */
  offer(piece: Uint8Array): void {
    // Bytes after a failure may arrive before `read` sees the failure.
    if (this.#hasFailed) return;
    try {
      this.#consume(piece);
    } catch (error) {
      this.#hasFailed = true;
      this.#fail(error as Error);
    }
  }

  /**
   * Returns the completion. An answer in one piece is returned unchanged and may be any JSON; the caller checks that it
   * is a completion. Throws `BrokenOff` for an answer that breaks off, and `UnusableAnswer` for one that reports a
   * failure, is too large, or is neither JSON nor a readable stream.
   */
  async read(response: Response): Promise<unknown> {
    try {
      return await this.#read(response);
    } catch (error) {
      if (!(error instanceof NodeFailure)) throw error;
      throw new UnusableAnswer(error, { usage: this.#completion.usage ?? this.#usage, hasWords: this.#hasWords });
    }
  }

  async #read(response: Response): Promise<unknown> {
    const type = response.headers.get('content-type') ?? '';
    this.#retryAfterMs = retryAfterMs(response.headers.get('retry-after'), Date.now());
    this.#isStream = isEventStream(type);
    this.#isJson ||= /^application\/([^;]+\+)?json/i.test(type);
    // An answer with the status 204 or 205 has no body.
    const body = response.body ?? new Response('').body!;
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    const cancel = (): void => void reader.cancel().catch(() => undefined);
    const ended = this.#readToEnd(reader);
    try {
      await Promise.race([ended, this.#closed]);
    } catch (error) {
      cancel();
      throw error;
    }
    // Undici closes a connection whose answer is not read to its end.
    const timer = setTimeout(cancel, DRAIN_MS);
    void ended.catch(() => undefined).finally(() => clearTimeout(timer));
    return this.#end();
  }

  async #readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        // Only the usage or the closing events may be missing.
        if (this.#completion.isFinished) return { done: true, value: undefined } as const;
        throw new BrokenOff({ message: 'The answer of the provider has broken off.', cause: cause as Error });
      });
      if (done) return;
      this.#consume(value);
    }
  }

  #consume(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (!this.#hasEvents) this.#text += text;
    this.#otherCharacters += text.length;
    if (this.#otherCharacters > MAX_ANSWER_CHARACTERS) throw tooLarge();
    if (!this.#isJson && !this.#isClosed) this.#events.feed(text);
  }

  #end(): unknown {
    if (!this.#isJson && !this.#isClosed) this.#events.end();
    else if (this.#isJson && looksLikeEvents(this.#text)) this.#feedWhole(this.#text);
    const answer = this.#hasEvents ? this.#completion.toAnswer() : this.#readWhole();
    const failure = failureIn(answer);
    if (failure !== undefined) throw this.#failureOf(failure);
    return answer;
  }

  /** Some providers send a stream with the content type of JSON. */
  #feedWhole(text: string): void {
    this.#events.feed(text);
    this.#events.end();
  }

  #readWhole(): unknown {
    const whole = parseJsonOrUndefined(this.#text);
    if (isObject(whole)) this.#usage = whole['usage'];
    this.#hasWords = hasWords(whole);
    if (whole !== undefined) return whole;
    throw this.#isStream && this.#wrongLines === 0 ? brokenOff() : noCompletion();
  }

  #onData(data: string, isError: boolean): void {
    this.#hasEvents = true;
    this.#text = '';
    this.#otherCharacters -= data.length;
    if (this.#isClosed) return;
    if (data.startsWith('[DONE]')) {
      this.#isClosed = true;
      this.#close();
      return;
    }
    const chunk = parseJsonOrUndefined(data);
    if (isError) throw this.#failureOf(failureOf(chunk ?? data));
    if (chunk === undefined)
      throw this.#failureOf({ status: undefined, sentence: 'it holds an event that is no JSON.' });
    this.#hasWords ||= hasWords(chunk);
    const failure = errorIn(chunk);
    if (failure !== undefined) throw this.#failureOf(failure);
    const text = this.#completion.add(chunk, data.length);
    if (text !== '') this.#onText?.(text);
  }

  #failureOf(failure: ReportedFailure): NodeFailure {
    return reportedFailure(failure, this.#hasEvents, this.#retryAfterMs);
  }
}

function brokenOff(): BrokenOff {
  return new BrokenOff({ message: 'The stream of the provider ended before the answer was whole.' });
}

function noCompletion(): NodeFailure {
  return new NodeFailure('invalid_response', 'The provider answered with a page or a text that is no chat completion.');
}

function tooLarge(): NodeFailure {
  return new NodeFailure('response_too_large', 'The answer of the provider is larger than 32 MiB.');
}

/** The first choice of a completion, joined from its chunks. */
class StreamedCompletion {
  /** The completion's other fields, each from the last chunk that contains it. */
  readonly #facts = new Map<string, unknown>();
  #usage: unknown;
  readonly #message = new JoinedMessage((characters) => this.#count(characters));
  #finishReason: string | undefined;
  #characters = 0;

  get isFinished(): boolean {
    return this.#finishReason !== undefined;
  }

  get usage(): unknown {
    return this.#usage;
  }

  /** Returns the content that the chunk adds. `characters` is the size of the chunk as text. */
  add(chunk: unknown, characters: number): string {
    if (!isObject(chunk)) return '';
    const { choices, usage } = chunk;
    this.#addFacts(chunk, characters);
    if (usage !== undefined && usage !== null) this.#usage = usage;
    const choice: unknown = Array.isArray(choices)
      ? choices.find((one) => isObject(one) && (one['index'] ?? 0) === 0)
      : undefined;
    if (!isObject(choice)) return '';
    const { finish_reason: reason, delta } = choice;
    if (typeof reason === 'string' && reason !== '') this.#finishReason = reason;
    return isObject(delta) ? this.#message.add(delta) : '';
  }

  toAnswer(): OpenAI.Chat.ChatCompletion {
    if (this.#finishReason === undefined) throw brokenOff();
    const choice = { index: 0, message: this.#message.toMessage(), logprobs: null, finish_reason: this.#finishReason };
    const usage = this.#usage === undefined ? {} : { usage: this.#usage };
    return {
      ...Object.fromEntries(this.#facts),
      object: 'chat.completion',
      choices: [choice],
      ...usage,
    } as unknown as OpenAI.Chat.ChatCompletion;
  }

  /**
   * Each chunk repeats most facts, so a chunk counts as growth only if it has a new fact, or a fact that may have grown
   * (an object or a list).
   */
  #addFacts(chunk: JsonObject, characters: number): void {
    let isLarger = false;
    for (const [name, value] of Object.entries(chunk)) {
      if (name === 'choices' || name === 'usage') continue;
      isLarger ||= !this.#facts.has(name) || isContainer(value);
      this.#facts.set(name, value);
    }
    if (this.#facts.size > MAX_FACTS) throw tooLarge();
    if (isLarger) this.#count(characters);
  }

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > MAX_ANSWER_CHARACTERS) throw tooLarge();
  }
}
