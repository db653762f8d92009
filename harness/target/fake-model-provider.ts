// A programmable model provider with the chat-completions protocol. It records all requests.
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { startHttpServer } from '../../cli/sandbox/http-server.js';
import { NOT_SCRIPTED, ONLY_SCRIPTED } from './model-router.js';
import { streamCompletion, type StreamPart } from './stream-completion.js';
import { pauseUnlessClosed } from '../timing/pause-unless-closed.js';

export interface ModelAnswer {
  /** The default is `echo: ` and the last user message, or no text if there are tool calls. */
  text?: string;
  finishReason?: string;
  /** The tool calls that the model requests. Arguments that are an object are sent as JSON. */
  toolCalls?: { name: string; arguments: object | string }[];
  /** Additional fields of the message, which override the fields above. */
  message?: object;
  /** The default is 10 prompt and 5 completion tokens. */
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  /** If the status is an error, the body is `error` in the format of the protocol. */
  status?: number;
  error?: { message: string; type?: string; code?: string | null; param?: string | null };
  headers?: Record<string, string>;
  delayMs?: number;
  /** The answer waits for this promise, unless the caller closes the connection. */
  until?: Promise<unknown>;
  /** Cuts the connection instead of answering. */
  reset?: boolean;
  /** The whole body, which replaces the completion. */
  body?: unknown;
  /** If false, the answer is not streamed even if the request asks for a stream. */
  streams?: boolean;
  /** The parts of the stream, which replace the words of `text`. If the finish reason is '', it is not sent. */
  parts?: StreamPart[];
}

export interface ModelRequest {
  model: string;
  messages: { role: string; content: unknown }[];
  body: Record<string, unknown>;
  /** The body as received. */
  text: string;
  /** The body as if it requested no stream. The service estimates tokens from the length of this text. */
  counted: string;
  headers: IncomingHttpHeaders;
  receivedAt: number;
  /** True if the connection was closed before the whole answer was sent. */
  aborted: boolean;
}

export interface FakeModelProvider {
  /** Ends in `/v1`. */
  url: string;
  /** All requests, oldest first. */
  requests: ModelRequest[];
  requestsFor: (model: string) => ModelRequest[];
  /**
   * Sets the answers to the model's calls, in the order of all its calls since the start of the provider. The last one
   * is repeated. Models without a script get the defaults.
   */
  script: (model: string, answers: ModelAnswer | ModelAnswer[] | ((request: ModelRequest) => ModelAnswer)) => void;
  close: () => Promise<void>;
}

type Script = (request: ModelRequest, callNumber: number) => ModelAnswer;

export async function startFakeModelProvider(): Promise<FakeModelProvider> {
  const requests: ModelRequest[] = [];
  const scripts = new Map<string, Script>();
  const server = await startHttpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const body = JSON.parse(text) as Record<string, unknown>;
    const { [ONLY_SCRIPTED]: onlyScripted, ...headers } = request.headers;
    const recorded: ModelRequest = {
      model: String(body['model']),
      messages: body['messages'] as ModelRequest['messages'],
      body,
      text,
      counted: text.replace('"stream":true', '"stream":false').replace(',"stream_options":{"include_usage":true}', ''),
      headers,
      receivedAt: Date.now(),
      aborted: false,
    };
    requests.push(recorded);
    response.once('close', () => (recorded.aborted = !response.writableFinished));
    if (onlyScripted !== undefined && !scripts.has(recorded.model)) {
      response.writeHead(NOT_SCRIPTED).end();
      return;
    }
    const callNumber = requests.filter(({ model }) => model === recorded.model).length - 1;
    const answer = scripts.get(recorded.model)?.(recorded, callNumber) ?? {};
    if (answer.delayMs !== undefined && !(await pauseUnlessClosed(response, answer.delayMs))) return;
    if (answer.until !== undefined) await Promise.race([answer.until, once(response, 'close')]);
    if (answer.reset === true) {
      request.socket.resetAndDestroy();
      return;
    }
    const completion = answerBody(recorded, answer);
    const isWhole = (answer.status ?? 200) === 200 && answer.body === undefined;
    if (body['stream'] === true && isWhole && answer.streams !== false) {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...answer.headers });
      const { include_usage: includeUsage } = (body['stream_options'] ?? {}) as { include_usage?: boolean };
      await streamCompletion(response, completion as object, {
        parts: answer.parts,
        includeUsage: includeUsage === true,
      });
      return;
    }
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
    response.end(JSON.stringify(completion));
  });
  return {
    url: `${server.url}/v1`,
    requests,
    requestsFor: (model) => requests.filter((request) => request.model === model),
    script(model, answers) {
      if (typeof answers === 'function') scripts.set(model, answers);
      else {
        const list = Array.isArray(answers) ? answers : [answers];
        scripts.set(model, (_request, callNumber) => list[Math.min(callNumber, list.length - 1)] ?? {});
      }
    },
    close: () => server.close(),
  };
}

function answerBody(request: ModelRequest, answer: ModelAnswer): unknown {
  if (answer.body !== undefined) return answer.body;
  if ((answer.status ?? 200) >= 400) {
    return { error: { type: 'server_error', code: null, param: null, message: 'scripted failure', ...answer.error } };
  }
  const lastUser = request.messages.findLast((message) => message?.role === 'user')?.content;
  const written = answer.parts?.filter((part) => typeof part === 'string').join('');
  const content =
    written ?? answer.text ?? `echo: ${typeof lastUser === 'string' ? lastUser : JSON.stringify(lastUser)}`;
  return {
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: request.model,
    choices: [
      {
        index: 0,
        message: { ...toMessage(content, answer), ...answer.message },
        finish_reason: answer.finishReason ?? 'stop',
      },
    ],
    usage: answer.usage ?? { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  };
}

function toMessage(content: string, { text, toolCalls }: ModelAnswer): object {
  if (toolCalls === undefined) return { role: 'assistant', content };
  const calls = toolCalls.map(({ name, arguments: given }, index) => ({
    id: `call_${index}_${name}`,
    type: 'function',
    function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) },
  }));
  return { role: 'assistant', content: text ?? null, tool_calls: calls };
}
