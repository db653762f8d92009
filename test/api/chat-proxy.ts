// Starts an API process on the shared stack. Tests set the exact bytes that its model provider responds with.
import OpenAI from 'openai';
import { request, type Dispatcher } from 'undici';
import { sharedStack } from '../support/shared-stack.js';
import { startRawUpstream, PLATFORM_KEY, type RawUpstream } from '../support/raw-upstream.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { createAccount, type Account } from './accounts.js';
import { startApiProcess, type ApiProcess } from '../../harness/stack/api-process.js';

export interface ChatProxy {
  stack: TestStack;
  account: Account;
  upstream: RawUpstream;
  process: ApiProcess;
  /** The base URL for OpenAI clients. */
  baseUrl: string;
  /** The official OpenAI client. Its own retries are off, because they would change the number of requests. */
  openai: OpenAI;
  /** Sends a body unchanged and returns the answer without decoding it. */
  send: (body: string | Buffer, options?: SendChatOptions) => Promise<RawAnswer>;
  stop: () => Promise<void>;
}

interface SendChatOptions {
  headers?: Record<string, string>;
  path?: string;
  method?: Dispatcher.HttpMethod;
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

const ERROR_KEYS = ['code', 'message', 'param', 'type'];

export interface ChatErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

/** The error of an answer; throws if the body has another shape. */
export function chatError({ body, headers }: RawAnswer): ChatErrorBody['error'] {
  if (!String(headers['content-type']).startsWith('application/json')) throw new Error('the error is no JSON');
  const parsed = JSON.parse(body.toString('utf8')) as ChatErrorBody;
  const keys = Object.keys(parsed.error).toSorted();
  if (keys.join() !== ERROR_KEYS.join()) throw new Error(`not the chat-completion error shape: ${body.toString()}`);
  return parsed.error;
}

export async function startChatProxy(models: string[], env: Record<string, string> = {}): Promise<ChatProxy> {
  const stack = await sharedStack();
  const account = await createAccount(stack);
  const upstream = await startRawUpstream(models);
  const api = await startApiProcess(stack, {
    MODEL_PROVIDERS_FILE: upstream.providersFile,
    RAW_PROVIDER_KEY: PLATFORM_KEY,
    ...env,
  });
  const baseUrl = `${api.apiUrl}/v1`;
  return {
    stack,
    account,
    upstream,
    process: api,
    baseUrl,
    openai: new OpenAI({ baseURL: baseUrl, apiKey: account.apiKey, maxRetries: 0 }),
    async send(body, { headers = {}, path = '/v1/chat/completions', method = 'POST' } = {}) {
      const answer = await request(`${api.apiUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json', ...headers },
        body: method === 'GET' ? null : body,
      });
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      return { status: answer.statusCode, headers: answer.headers, body: bytes };
    },
    async stop() {
      await api.stop();
      await upstream.close();
    },
  };
}

/**
 * A completion with odd white space, escapes and unknown fields: parsing and serializing it again would change its
 * bytes.
 */
export function completionBytes(model: string, content = 'Caf\\u00e9 ☕'): Buffer {
  return Buffer.from(
    `{ "id":"chatcmpl-1",\n  "object" : "chat.completion","created":1700000000,"model":"${model}",` +
      `"choices":[{"index":0,"message":{"role":"assistant","content":"${content}","refusal":null},` +
      `"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3},` +
      `"x_unknown":1.50}\n`,
  );
}

export function chatBody(model: string, extra: object = {}): string {
  return JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }], ...extra });
}
