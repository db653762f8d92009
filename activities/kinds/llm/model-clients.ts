import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import { LRUCache } from 'lru-cache';
import { Agent, fetch as undiciFetch, type RequestInit as UndiciRequestInit } from 'undici';
import { sentenceIn } from '../../../config/model-answer.js';
import { toTokens } from '../../../config/model-price.js';
import type { ModelProvider } from '../../../config/model-providers.js';
import type { Database } from '../../../db/core/client.js';
import { findProviderKey } from '../../../db/projects/provider-keys-repository.js';
import type { SecretBox } from '../../../db/core/secret-box.js';
import { isObject } from '../../../graph/json.js';
import { parseJson } from '../../../graph/json-text.js';
import { createMasker, type Masker } from '../../../graph/mask.js';
import { causeCode } from '../../../outgoing/network-error.js';
import { startDeadline } from '../../../outgoing/pausable-deadline.js';
import { unmarkNumbers } from '../../../outgoing/exact-numbers.js';
import { pacedConnector } from '../../../outgoing/paced-reads.js';
import { readingEvents } from '../../../outgoing/read-events.js';
import { whenSent } from '../../../outgoing/when-sent.js';
import { retryAfterMs } from '../../../outgoing/retry-after.js';
import { tracedCall } from '../../../outgoing/traced-call.js';
import { NodeFailure } from '../../node/failures.js';
import type { WorkerMetrics } from '../../worker/worker-metrics.js';
import { withMarkedNumbers } from '../marked-numbers.js';
import { createRefusedFields, type RefusedFields } from './refused-fields.js';
import { askWithoutRefused } from './refused-message-fields.js';
import { AnswerReader, type TextListener } from './streamed-completion.js';
import { BrokenOff, isRetryableStatus, nameOfStatus, UnusableAnswer } from './unusable-answer.js';

type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

interface CallOptions {
  signal: AbortSignal;
  /** The limit for the whole answer. */
  timeoutMs: number;
  headers: Record<string, string>;
  /**
   * Gets the content of the answer as it arrives. With `onText`, a stream is requested, unless a stream would change
   * the answer or the provider has refused streams.
   */
  onText?: TextListener | undefined;
  /** Called before each request of the call. The provider has refused all earlier ones and charges nothing for them. */
  onRequest: () => void;
  /** Called when the request is sent; from then on the provider may charge for it. */
  onSent: () => void;
}

export interface ModelClient {
  complete(body: Body, options: CallOptions): Promise<OpenAI.Chat.ChatCompletion>;
  /** Masks the provider's key in everything that the provider returns, because no user may see the key. */
  masker: Masker;
  /** Adds the token usage of an answer to the metrics. */
  countTokens: (usage: unknown) => void;
}

export interface ModelClients {
  /** Returns a client with the project's own key for the provider, or else with the platform's key. */
  forProject(projectId: number, provider: ModelProvider): Promise<ModelClient>;
}

/** Every call has its own limit. The default of `fetch`, 300 s, would cut off a call that must be paid for. */
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: pacedConnector() });

export function createModelClients(
  db: Database,
  secretBox: SecretBox,
  { modelCallSeconds, modelTokens }: Pick<WorkerMetrics, 'modelCallSeconds' | 'modelTokens'>,
): ModelClients {
  const clients = new LRUCache<string, ModelClient>({ max: 200 });
  const timedFetch = (provider: string): typeof fetch => {
    return async (target, init) => {
      const stopTimer = modelCallSeconds.startTimer({ provider });
      try {
        const url = new URL(target instanceof Request ? target.url : target);
        // The provider must not get our trace headers.
        const attributes = { 'gen_ai.provider.name': provider, 'gen_ai.operation.name': 'chat' };
        const call = { url, method: init?.method ?? 'GET', headers: {}, sendsTraceparent: false, attributes };
        const response = await tracedCall(
          call,
          ({ status }) => status,
          () => undiciFetch(url, toInit(init)) as unknown as Promise<Response>,
        );
        stopTimer({ status: String(response.status) });
        return response.ok ? response : await toReadableRefusal(response);
      } catch (error) {
        stopTimer({ status: 'none' });
        throw error;
      }
    };
  };
  return {
    async forProject(projectId, provider) {
      const keyEnc = await findProviderKey(db, projectId, provider.name);
      const apiKey =
        keyEnc === undefined ? provider.apiKey : secretBox.open(keyEnc, 'provider-key', projectId, provider.name);
      const id = `${provider.name} ${provider.baseUrl} ${apiKey}`;
      const known = clients.get(id);
      if (known !== undefined) return known;
      // The client itself does not retry, because the node counts attempts.
      const options = { apiKey, baseURL: provider.baseUrl, maxRetries: 0, fetch: timedFetch(provider.name) };
      const countTokens = (usage: unknown): void => {
        const { prompt_tokens, completion_tokens } = (usage ?? {}) as Record<string, unknown>;
        modelTokens.inc({ provider: provider.name, type: 'input' }, toTokens(prompt_tokens));
        modelTokens.inc({ provider: provider.name, type: 'output' }, toTokens(completion_tokens));
      };
      const client = { complete: createComplete(new OpenAI(options)), masker: createMasker([apiKey]), countTokens };
      clients.set(id, client);
      return client;
    },
  };
}

/**
 * Adds to calls of the client library: streams, repetition without refused fields, and a deadline for the whole answer.
 * The timeout of the library ends with the head of the answer.
 */
function createComplete(openai: OpenAI): ModelClient['complete'] {
  const refused = createRefusedFields();
  return async (body, { signal, timeoutMs, headers, onText, onRequest, onSent }) => {
    const limit = startDeadline(timeoutMs, signal);
    const learned: string[] = [];
    const ask = async (asked: Asked): Promise<OpenAI.Chat.ChatCompletion> => {
      const answer = new AnswerReader(asked.stream === true ? onText : undefined);
      let hasLeft = false;
      onRequest();
      const onLeft = (): void => {
        hasLeft = true;
        onSent();
      };
      const streaming = readingEvents(whenSent(dispatcher, onLeft), (piece) => answer.offer(piece));
      const fetchOptions: Record<string, unknown> = { dispatcher: streaming };
      const options = { signal: limit.signal, timeout: timeoutMs, headers, fetchOptions };
      const sent = openai.chat.completions.create(withMarkedNumbers(asked) as Body, options).asResponse();
      const response = await sent.catch((error: unknown) => {
        throw hasLeft ? toBrokenOff(error) : error;
      });
      return (await answer.read(response)) as OpenAI.Chat.ChatCompletion;
    };
    const askInBestForm = async (wanted: Body): Promise<OpenAI.Chat.ChatCompletion> => {
      for (let repeats = 0; ; repeats += 1) {
        const asked = toAsked(wanted, onText !== undefined, refused);
        try {
          return await ask(asked);
        } catch (error) {
          // A refused request has done nothing, so the call is repeated without the field that the refusal names.
          const field = repeats < MAX_REPEATS ? refused.learn(wanted.model, error, optionalIn(asked)) : undefined;
          if (field === undefined) throw error;
          learned.push(field);
        }
      }
    };
    try {
      return await askWithoutRefused(refused, body, askInBestForm);
    } catch (error) {
      // The call fails without these fields, too, so they may not be what the provider has refused.
      for (const field of learned) refused.forget(body.model, field);
      throw limit.signal.aborted && !signal.aborted ? new APIConnectionTimeoutError() : error;
    } finally {
      limit.clear();
    }
  };
}

/** Limits the repetitions without a refused field of streams. `askWithoutRefused` limits those without other fields. */
const MAX_REPEATS = 2;

/** A refusal with one of these names may mean that the provider cannot report the usage of a stream. */
const USAGE_OF_STREAM = ['stream_options', 'include_usage'];
const STREAM = ['stream', 'streaming', 'streamed'];

type Asked = Omit<Body, 'stream'> & { stream?: boolean | null; stream_options?: unknown };

/**
 * Returns the body to send: as a stream if that is wanted and possible, and without `stream_options` if the provider
 * has refused that field before.
 */
function toAsked(body: Body, wantsStream: boolean, refused: RefusedFields): Asked {
  const isRefused = (field: string): boolean => refused.has(body.model, field);
  if (!wantsStream || STREAM.some(isRefused) || !isStreamable(body)) return body;
  const { stream_options: options, ...rest } = body as Asked;
  if (USAGE_OF_STREAM.some(isRefused)) return { ...rest, stream: true };
  // Providers report the usage of a stream only on request.
  return { ...rest, stream: true, stream_options: { ...(isObject(options) && options), include_usage: true } };
}

function optionalIn({ stream, stream_options: options }: Asked): string[] {
  if (stream !== true) return [];
  return options === undefined ? STREAM : [...USAGE_OF_STREAM, ...STREAM];
}

function toBrokenOff(error: unknown): unknown {
  if (!(error instanceof APIConnectionError) || error instanceof APIConnectionTimeoutError) return error;
  const reason = causeCode(error.cause);
  return new BrokenOff({
    message: `The connection to the provider broke before its answer came: ${reason}.`,
    cause: error,
  });
}

/** The chunks of several choices, or of sound, cannot be joined to the answer in one piece. */
function isStreamable(body: Body): boolean {
  const { n, modalities, audio } = JSON.parse(
    unmarkNumbers(JSON.stringify({ n: body.n, modalities: body.modalities, audio: body.audio })),
  ) as Pick<Body, 'n' | 'modalities' | 'audio'>;
  return (n ?? 1) === 1 && !audio && !modalities?.includes('audio');
}

function toInit(init: RequestInit | undefined): UndiciRequestInit {
  const body = typeof init?.body === 'string' ? { body: unmarkNumbers(init.body) } : {};
  // Redirects are not followed, because a provider must not choose where requests of this network go.
  return { dispatcher, ...(init as UndiciRequestInit | undefined), ...body, redirect: 'manual' };
}

const MAX_REFUSAL_BYTES = 256 * 1024;
/** A longer text that is not JSON is a page or a log, not a sentence. */
const MAX_PLAIN_CHARACTERS = 300;

/** Returns the refusal in the only form that the client library reads. */
async function toReadableRefusal(response: Response): Promise<Response> {
  const { status, statusText } = response;
  if (response.body === null) return response;
  const refusal = await readStart(response.body);
  const param = isObject(refusal) && isObject(refusal['error']) ? refusal['error']['param'] : undefined;
  const message = sentenceIn(refusal) ?? nameOfStatus(status);
  const headers = new Headers(response.headers);
  for (const name of ['content-length', 'content-encoding']) headers.delete(name);
  headers.set('content-type', 'application/json');
  return new Response(JSON.stringify({ error: { message, param } }), { status, statusText, headers });
}

/**
 * Returns the JSON of a refusal, or its text if that may be a sentence. Returns undefined for any other text, and for a
 * body of more than `MAX_REFUSAL_BYTES`. If the body breaks off, the part that has arrived is used.
 */
async function readStart(body: ReadableStream<Uint8Array>): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      bytes += piece.length;
      if (bytes > MAX_REFUSAL_BYTES) return undefined;
      text += decoder.decode(piece, { stream: true });
    }
  } catch {
    // Ignored: the status is known.
  }
  try {
    return parseJson(text);
  } catch {
    const isPlain = text.length <= MAX_PLAIN_CHARACTERS && !text.trimStart().startsWith('<');
    return isPlain ? text : undefined;
  }
}

/** Removes file contents, because a provider may quote a file that it does not accept. */
function withoutFiles(message: string): string {
  return message.replace(/;base64,[\w+/=]{40,}/g, ';base64,...').replace(/[\w+/=]{400,}/g, '...');
}

/** Converts an error of a model call, and decides if the call is retried. The message may quote the provider. */
export function toLlmFailure(error: unknown, masker: Masker): NodeFailure {
  const quoted = (message: string): string => withoutFiles(masker.text(message));
  if (error instanceof UnusableAnswer) {
    const { code, message, isRetryable, retryAfterMs: delayMs } = error;
    return new NodeFailure(code, quoted(message), { isRetryable, retryAfterMs: delayMs });
  }
  if (error instanceof NodeFailure) return error;
  if (error instanceof APIConnectionTimeoutError) {
    return new NodeFailure('timeout', 'The provider did not answer in time.', { isRetryable: true });
  }
  if (error instanceof APIConnectionError) {
    const message =
      error instanceof BrokenOff ? error.message : `The provider could not be reached: ${causeCode(error.cause)}.`;
    return new NodeFailure('network_error', message, { isRetryable: true });
  }
  if (error instanceof APIError && typeof error.status === 'number') {
    return new NodeFailure('provider_error', `The provider answered: ${quoted(error.message)}`, {
      isRetryable: isRetryableStatus(error.status),
      retryAfterMs: retryAfterMs(error.headers?.get('retry-after'), Date.now()),
    });
  }
  return new NodeFailure('invalid_response', 'The provider answered with something that is no chat completion.');
}
