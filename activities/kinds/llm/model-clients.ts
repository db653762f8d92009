import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import { LRUCache } from 'lru-cache';
import { Agent, fetch as undiciFetch, type RequestInit as UndiciRequestInit } from 'undici';
import { toTokens } from '../../../config/model-price.js';
import type { ModelProvider } from '../../../config/model-providers.js';
import type { Database } from '../../../db/core/client.js';
import { findProviderKey } from '../../../db/projects/provider-keys-repository.js';
import type { SecretBox } from '../../../db/core/secret-box.js';
import { isObject } from '../../../graph/json.js';
import { createMasker, type Masker } from '../../../graph/mask.js';
import { startDeadline } from '../../../outgoing/pausable-deadline.js';
import { unmarkNumbers } from '../../../outgoing/exact-numbers.js';
import { pacedConnector } from '../../../outgoing/paced-reads.js';
import { takingEvents } from '../../../outgoing/take-events.js';
import { whenSent } from '../../../outgoing/when-sent.js';
import { retryAfterMs } from '../../../outgoing/retry-after.js';
import { tracedCall } from '../../../outgoing/traced-call.js';
import { NodeFailure } from '../../node/failures.js';
import type { WorkerMetrics } from '../../worker/worker-metrics.js';
import { createRefusedFields } from './refused-fields.js';
import { askWithoutRefused } from './refused-message-fields.js';
import { AnswerReader, type TextListener } from './streamed-completion.js';

type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

interface CallOptions {
  signal: AbortSignal;
  /** For the whole answer. */
  timeoutMs: number;
  headers: Record<string, string>;
  /** Gets the content of the answer as it comes: a stream is asked for, where the answer to that would be the same. */
  onText?: TextListener | undefined;
  /** Called when the request leaves: the provider may charge for it from then on. */
  onSent: () => void;
}

export interface ModelClient {
  complete(body: Body, options: CallOptions): Promise<OpenAI.Chat.ChatCompletion>;
  /** Keeps the key out of all that the provider says: it is not the user's, who must not get it in an answer either. */
  masker: Masker;
  /** Adds the token usage of an answer to the metrics. */
  countTokens: (usage: unknown) => void;
}

export interface ModelClients {
  /** The client uses the project's own key for the provider where there is one, and otherwise the platform's key. */
  forProject(projectId: number, provider: ModelProvider): Promise<ModelClient>;
}

/** Every call has a limit of its own. The 300 s that `fetch` waits by default would cut a call that is paid for. */
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: pacedConnector() });

export function createModelClients(
  db: Database,
  secretBox: SecretBox,
  { modelCallSeconds, modelTokens }: Pick<WorkerMetrics, 'modelCallSeconds' | 'modelTokens'>,
): ModelClients {
  const clients = new LRUCache<string, ModelClient>({ max: 200 });
  const timedFetch = (provider: string): typeof fetch => {
    return async (target, init) => {
      const tell = modelCallSeconds.startTimer({ provider });
      try {
        const url = new URL(target instanceof Request ? target.url : target);
        // The provider does not get our trace headers.
        const attributes = { 'gen_ai.provider.name': provider, 'gen_ai.operation.name': 'chat' };
        const call = { url, method: init?.method ?? 'GET', headers: {}, tellTrace: false, attributes };
        const response = await tracedCall(
          call,
          ({ status }) => status,
          () => undiciFetch(url, toInit(init)) as unknown as Promise<Response>,
        );
        tell({ status: String(response.status) });
        return response.ok ? response : shortened(response);
      } catch (error) {
        tell({ status: 'none' });
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
      // The node counts attempts, so the client itself does not retry.
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

/** The limit of the client library ends when the head of an answer is there; this one holds for the body too. */
function createComplete(openai: OpenAI): ModelClient['complete'] {
  const unstreamed = new LRUCache<string, true>(REFUSALS);
  const refused = createRefusedFields();
  return async (body, { signal, timeoutMs, headers, onText, onSent }) => {
    const limit = startDeadline(timeoutMs, signal);
    const ask = async (asked: object, listener?: TextListener): Promise<OpenAI.Chat.ChatCompletion> => {
      const answer = new AnswerReader(listener);
      const taking = takingEvents(whenSent(dispatcher, onSent), (piece) => answer.offer(piece));
      const fetchOptions: Record<string, unknown> = { dispatcher: taking };
      const options = { signal: limit.signal, timeout: timeoutMs, headers, fetchOptions };
      const response = await openai.chat.completions.create(asked as Body, options).asResponse();
      return (await answer.read(response)) as OpenAI.Chat.ChatCompletion;
    };
    const askInBestForm = async (asked: Body): Promise<OpenAI.Chat.ChatCompletion> => {
      if (onText === undefined || unstreamed.has(asked.model) || !isStreamable(asked)) return ask(asked);
      try {
        return await ask(toStreamed(asked), onText);
      } catch (error) {
        if (!refusesStream(error)) throw error;
        unstreamed.set(asked.model, true);
        return ask(asked);
      }
    };
    try {
      return await askWithoutRefused(refused, body, askInBestForm);
    } catch (error) {
      throw limit.signal.aborted && !signal.aborted ? new APIConnectionTimeoutError() : error;
    } finally {
      limit.clear();
    }
  };
}

/** The models of which a provider has said that they do not stream. They are asked again for a stream after an hour. */
const REFUSALS = { max: 1_000, ttl: 3_600_000 };

/** A refused request has done nothing: the call is made in its place without a stream. */
function refusesStream(error: unknown): boolean {
  if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 422)) return false;
  return /\bstream/i.test(`${error.param ?? ''} ${error.message}`);
}

/** Chunks of several choices, and of sound, are not what the answer in one piece would be. */
function isStreamable(body: Body): boolean {
  const { n, modalities, audio } = JSON.parse(
    unmarkNumbers(JSON.stringify({ n: body.n, modalities: body.modalities, audio: body.audio })),
  ) as Pick<Body, 'n' | 'modalities' | 'audio'>;
  return (n ?? 1) === 1 && !audio && !modalities?.includes('audio');
}

/** The usage of a stream has to be asked for. */
function toStreamed(body: Body): object {
  const { stream_options: options } = body as { stream_options?: unknown };
  return { ...body, stream: true, stream_options: { ...(isObject(options) && options), include_usage: true } };
}

function toInit(init: RequestInit | undefined): UndiciRequestInit {
  const body = typeof init?.body === 'string' ? { body: unmarkNumbers(init.body) } : {};
  // A provider does not choose where the requests of this network go.
  return { dispatcher, ...(init as UndiciRequestInit | undefined), ...body, redirect: 'manual' };
}

const MAX_REFUSAL_BYTES = 256 * 1024;

/** What a provider says of a failure is quoted in part: the rest is not read. */
function shortened(response: Response): Response {
  if (response.body === null) return response;
  let left = MAX_REFUSAL_BYTES;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      if (piece.length <= left) controller.enqueue(piece);
      else controller.terminate();
      left -= piece.length;
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
}

/** A provider may quote the file that it does not take. */
function withoutFiles(message: string): string {
  return message.replace(/;base64,[\w+/=]{40,}/g, ';base64,...');
}

const RETRYABLE = (status: number) => status >= 500 || status === 408 || status === 409 || status === 429;

/** Decides which errors are retried. For a final error the message quotes the provider. */
export function toLlmFailure(error: unknown, masker: Masker): NodeFailure {
  if (error instanceof NodeFailure) return error;
  if (error instanceof APIConnectionTimeoutError) {
    return new NodeFailure('timeout', 'The provider did not answer in time.', { isRetryable: true });
  }
  if (error instanceof APIConnectionError) {
    return new NodeFailure('network_error', 'The provider could not be reached.', { isRetryable: true });
  }
  if (error instanceof APIError && typeof error.status === 'number') {
    const message = withoutFiles(masker.text(error.message));
    return new NodeFailure('provider_error', `The provider answered: ${message}`, {
      isRetryable: RETRYABLE(error.status),
      retryAfterMs: retryAfterMs(error.headers?.get('retry-after'), Date.now()),
    });
  }
  return new NodeFailure('invalid_response', 'The provider answered with something that is no chat completion.');
}
