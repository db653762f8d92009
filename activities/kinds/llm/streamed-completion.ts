// Reads the answer of a provider that was asked for a stream, and makes of it what the answer without one would have been.
import { APIConnectionError } from 'openai';
import type OpenAI from 'openai';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { isObject } from '../../../graph/json.js';
import { parseJson } from '../../../graph/json-text.js';
import { isEventStream } from '../../../outgoing/event-stream-type.js';
import { NodeFailure } from '../../node/failures.js';

/** Gets the next piece of the answer's content. */
export type TextListener = (text: string) => void;

/**
 * The text of an answer, one event of a stream, and what stands between its events: nobody writes so much, and a provider may
 * be hostile.
 */
const MAX_ANSWER_CHARACTERS = 32 * 1024 * 1024;
/** Lines of a stream that are none of its format cost much more time than others. */
const MAX_WRONG_LINES = 1_000;
const MAX_FACTS = 50;
/** What a call takes beside its text. */
const CALL_CHARACTERS = 100;
/** How long the end of a stream is waited for behind its last event, so that its connection can be used again. */
const DRAIN_MS = 1_000;

/** Reads one answer with the status 200. Its pieces may be offered before it is read, or be in the body of the response. */
export class AnswerReader {
  readonly #decoder = new TextDecoder();
  readonly #onText: TextListener | undefined;
  readonly #completion = new StreamedCompletion();
  readonly #parser = createParser({
    onEvent: (event) => this.#onEvent(event),
    maxBufferSize: MAX_ANSWER_CHARACTERS,
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw tooLarge();
      this.#wrongLines += 1;
      if (this.#wrongLines > MAX_WRONG_LINES) throw noStream();
    },
  });
  /** The body, unless it is a stream. */
  #text = '';
  #wrongLines = 0;
  /** The characters that are not in the data of an event: all of them, where there is none. */
  #otherCharacters = 0;
  #isJson: boolean;
  #isStream = false;
  #hasEvents = false;
  #isClosed = false;
  #close: () => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;
  /** Resolves when the stream has said that nothing follows. Rejects where it cannot be read. */
  readonly #closed = new Promise<void>((resolve, reject) => {
    this.#close = resolve;
    this.#fail = reject;
  });

  /** `onText` gets the content as it comes. Without it the answer is taken as JSON. */
  constructor(onText: TextListener | undefined) {
    this.#onText = onText;
    this.#isJson = onText === undefined;
    this.#closed.catch(() => undefined);
  }

  /** Takes a piece of a stream. It never throws: what is wrong with the piece is told by `read`. */
  offer(piece: Uint8Array): void {
    try {
      this.#take(piece);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  /**
   * Returns the completion. A provider that has answered in one piece is taken as it is; the value may be anything then. Throws
   * `APIConnectionError` for a stream that breaks off or says that it has failed.
   */
  async read(response: Response): Promise<unknown> {
    const type = response.headers.get('content-type') ?? '';
    this.#isStream = isEventStream(type);
    this.#isJson ||= /^application\/([^;]+\+)?json/i.test(type);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const cancel = (): void => void reader.cancel().catch(() => undefined);
    const ended = this.#readToEnd(reader);
    try {
      await Promise.race([ended, this.#closed]);
    } catch (error) {
      cancel();
      throw error;
    }
    // A connection whose answer is not read to its end is closed.
    const timer = setTimeout(cancel, DRAIN_MS);
    void ended.catch(() => undefined).finally(() => clearTimeout(timer));
    return this.#end();
  }

  async #readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        // Only the usage or the closing words may be missing.
        if (this.#completion.isFinished) return { done: true, value: undefined } as const;
        throw new APIConnectionError({ message: 'The answer of the provider has broken off.', cause: cause as Error });
      });
      if (done) return;
      this.#take(value);
    }
  }

  #take(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (!this.#hasEvents) this.#text += text;
    this.#otherCharacters += text.length;
    if (this.#otherCharacters > MAX_ANSWER_CHARACTERS) throw tooLarge();
    if (!this.#isJson && !this.#isClosed) this.#parser.feed(text);
  }

  #end(): unknown {
    // The last event of some streams lacks the empty line behind it.
    if (!this.#isJson && !this.#isClosed) this.#parser.feed('\n\n');
    if (this.#hasEvents) return this.#completion.toAnswer();
    const whole = parseOr(this.#text, undefined);
    if (whole === undefined && this.#isStream) throw brokenOff();
    return whole ?? this.#text;
  }

  #onEvent({ event, data }: EventSourceMessage): void {
    this.#hasEvents = true;
    this.#text = '';
    this.#otherCharacters -= data.length;
    if (this.#isClosed) return;
    if (data.startsWith('[DONE]')) {
      this.#isClosed = true;
      this.#close();
      return;
    }
    const chunk = parseOr(data, undefined);
    const isFailure = event === 'error' || chunk === undefined || (isObject(chunk) && Boolean(chunk['error']));
    if (isFailure) throw new APIConnectionError({ message: 'The stream of the provider has failed.' });
    const text = this.#completion.add(chunk, data.length);
    if (text !== '') this.#onText?.(text);
  }
}

function parseOr(text: string, otherwise: unknown): unknown {
  try {
    return parseJson(text);
  } catch {
    return otherwise;
  }
}

function brokenOff(): APIConnectionError {
  return new APIConnectionError({ message: 'The stream of the provider has broken off.' });
}

function noStream(): NodeFailure {
  return new NodeFailure('invalid_response', 'The provider answered with a stream that is none of events.');
}

function tooLarge(): NodeFailure {
  return new NodeFailure('response_too_large', 'The answer of the provider is larger than 32 MiB.');
}

type Fields = Record<string, unknown>;

interface StreamedCall {
  id?: string;
  type: string;
  function: { name?: string; arguments: string };
}

/** The first choice of a completion, put together from its chunks. */
class StreamedCompletion {
  /** Of the completion itself, as the last chunk that had them said. */
  #facts: Fields = {};
  #usage: unknown;
  readonly #message: Fields = { role: 'assistant', content: null };
  readonly #calls: StreamedCall[] = [];
  readonly #callsByIndex = new Map<unknown, StreamedCall>();
  #finishReason: string | undefined;
  #characters = 0;

  get isFinished(): boolean {
    return this.#finishReason !== undefined;
  }

  /** Returns the content that the chunk brings. `characters`: of the chunk as text. */
  add(chunk: unknown, characters: number): string {
    if (!isObject(chunk)) return '';
    const { choices, usage, ...facts } = chunk;
    this.#addFacts(facts, characters);
    if (usage !== undefined && usage !== null) this.#usage = usage;
    const choice: unknown = Array.isArray(choices)
      ? choices.find((one) => isObject(one) && (one['index'] ?? 0) === 0)
      : undefined;
    if (!isObject(choice)) return '';
    const { finish_reason: reason, delta } = choice;
    if (typeof reason === 'string' && reason !== '') this.#finishReason = reason;
    return isObject(delta) ? this.#addDelta(delta, characters) : '';
  }

  toAnswer(): OpenAI.Chat.ChatCompletion {
    if (this.#finishReason === undefined) throw brokenOff();
    const message = { ...this.#message, ...(this.#calls.length > 0 && { tool_calls: this.#calls }) };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: this.#finishReason }];
    const usage = this.#usage === undefined ? {} : { usage: this.#usage };
    return { ...this.#facts, object: 'chat.completion', choices, ...usage } as unknown as OpenAI.Chat.ChatCompletion;
  }

  /** Each chunk repeats most of them. */
  #addFacts(facts: Fields, characters: number): void {
    const known = Object.keys(this.#facts).length;
    Object.assign(this.#facts, facts);
    const now = Object.keys(this.#facts).length;
    if (now > MAX_FACTS) throw tooLarge();
    if (now > known || Object.values(facts).some((value) => typeof value === 'object' && value !== null)) {
      this.#count(characters);
    }
  }

  #addDelta({ role: _role, tool_calls: calls, content, ...others }: Fields, characters: number): string {
    if (Array.isArray(calls)) for (const call of calls) if (isObject(call)) this.#addCall(call);
    const text = textOf(content);
    if (text !== undefined) this.#append('content', text);
    for (const [name, value] of Object.entries(others)) {
      if (typeof value === 'string') this.#append(name, value);
      else if (value !== null) {
        this.#count(characters);
        this.#message[name] = value;
      }
    }
    return text ?? '';
  }

  #append(name: string, text: string): void {
    const known = this.#message[name];
    this.#count(text.length + (known === undefined ? name.length : 0));
    this.#message[name] = typeof known === 'string' ? known + text : text;
  }

  #addCall({ index, id, type, function: given }: Fields): void {
    const call = this.#callOf(index, id);
    if (typeof id === 'string' && id !== '') call.id = id;
    if (typeof type === 'string' && type !== '') call.type = type;
    const { name, arguments: written } = isObject(given) ? given : ({} as Fields);
    if (typeof name === 'string' && name !== '') call.function.name = name;
    if (typeof written === 'string') call.function.arguments += written;
    this.#count([id, type, name, written].reduce<number>((sum, each) => sum + lengthOf(each), 0));
  }

  /** Some providers do not number their calls; then an id that is new begins another one. */
  #callOf(index: unknown, id: unknown): StreamedCall {
    const last = this.#calls.at(-1);
    const isNew = typeof id === 'string' && id !== '' && last?.id !== id;
    const known = typeof index === 'number' ? this.#callsByIndex.get(index) : isNew ? undefined : last;
    if (known !== undefined) return known;
    const call: StreamedCall = { type: 'function', function: { arguments: '' } };
    this.#count(CALL_CHARACTERS);
    this.#calls.push(call);
    this.#callsByIndex.set(index, call);
    return call;
  }

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > MAX_ANSWER_CHARACTERS) throw tooLarge();
  }
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}

/** Some providers write content in parts. */
function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  return content.map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : '')).join('');
}
