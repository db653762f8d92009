// A programmable model provider that speaks the chat-completions protocol and records what it is asked.
import type { IncomingHttpHeaders } from 'node:http';
import { startHttpServer } from '../../cli/sandbox/http-server.js';
import { NOT_SCRIPTED, ONLY_SCRIPTED } from './model-router.js';
import { streamCompletion, type StreamPart } from './stream-completion.js';
import { pauseUnlessClosed } from '../timing/pause-unless-closed.js';

export interface ModelAnswer {
  /** Default: `echo: ` and the last user message. */
  text?: string;
  finishReason?: string;
  /** The model asks for these calls; an object as arguments is sent as JSON. */
  toolCalls?: { name: string; arguments: object | string }[];
  /** Fields that the message has beside these, or in their place. */
  message?: object;
  /** Default: 10 prompt and 5 completion tokens. */
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  /** With a status other than 200 the body is `error` in the protocol's shape. */
  status?: number;
  error?: { message: string; type?: string; code?: string | null; param?: string | null };
  headers?: Record<string, string>;
  delayMs?: number;
  /** The connection is cut instead of answered. */
  reset?: boolean;
  /** The whole body, instead of a completion. */
  body?: unknown;
  /** False: the answer comes in one piece, although a stream was asked for. */
  streams?: boolean;
  /** How the content is streamed, instead of `text` word by word. The finish reason '' is left out. */
  parts?: StreamPart[];
}

export interface ModelRequest {
  model: string;
  messages: { role: string; content: unknown }[];
  body: Record<string, unknown>;
  /** The body as it came. */
  text: string;
  /** The body without what asks for a stream: its length is what estimates count. */
  counted: string;
  headers: IncomingHttpHeaders;
  receivedAt: number;
  /** The caller hung up before the answer. */
  aborted: boolean;
}

export interface FakeModelProvider {
  /** Ends in `/v1`. */
  url: string;
  /** All requests, oldest first. */
  requests: ModelRequest[];
  requestsFor: (model: string) => ModelRequest[];
  /** Answers to the model's next calls; the last one is repeated. Without a script: the defaults of `ModelAnswer`. */
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
