// The sandbox model provider: implements the chat-completions protocol without a model.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { startHttpServer, type HttpServer } from './http-server.js';
import {
  sandboxAnswer,
  sandboxToolCall,
  textOf,
  type ChatMessage,
  type ResponseFormat,
  type ToolCall,
} from './sandbox-answer.js';

export const SANDBOX_MODEL = 'sandbox-echo';

interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  tools?: { function?: { name?: unknown } }[];
  response_format?: ResponseFormat;
}

interface Completion {
  id: string;
  created: number;
  model: string;
  text: string;
  toolCall: ToolCall | undefined;
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** Listens on a free port of 127.0.0.1. The base address for clients is `<url>/v1`. */
export function startSandboxProvider(): Promise<HttpServer> {
  return startHttpServer(handle);
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://sandbox');
  if (pathname === '/v1/models' && request.method === 'GET') {
    return sendJson(response, 200, {
      object: 'list',
      data: [{ id: SANDBOX_MODEL, object: 'model', owned_by: 'sandbox' }],
    });
  }
  if (pathname !== '/v1/chat/completions' || request.method !== 'POST') {
    return sendError(response, 404, 'unknown_url', `There is no ${request.method} ${pathname} here.`);
  }
  const parsed = parseRequest(await readBody(request));
  if (typeof parsed === 'string') return sendError(response, 400, null, parsed);
  if (parsed.model !== SANDBOX_MODEL) {
    return sendError(response, 404, 'model_not_found', `The sandbox serves the model ${SANDBOX_MODEL} only.`);
  }
  const completion = complete(parsed);
  if (parsed.stream === true) streamCompletion(response, completion, parsed.stream_options?.include_usage === true);
  else sendJson(response, 200, toBody(completion));
}

/** Returns the request, or a sentence that says what is wrong with it. */
function parseRequest(text: string): ChatRequest | string {
  let body: Partial<ChatRequest> | null;
  try {
    body = JSON.parse(text) as Partial<ChatRequest> | null;
  } catch {
    return 'The body is not valid JSON.';
  }
  if (typeof body !== 'object' || body === null || typeof body.model !== 'string')
    return 'The parameter model is missing.';
  if (!Array.isArray(body.messages) || body.messages.length === 0) return 'The parameter messages is missing or empty.';
  return body as ChatRequest;
}

function complete({ model, messages, tools, response_format: format }: ChatRequest): Completion {
  const toolCall = sandboxToolCall(messages, toolNames(tools));
  const text = toolCall === undefined ? sandboxAnswer(messages, format) : '';
  const prompt = countTokens(
    messages.map(({ content }) => (Array.isArray(content) ? textOf(content) : JSON.stringify(content))).join(' '),
  );
  const answer = countTokens(toolCall?.arguments ?? text);
  return {
    id: `chatcmpl-sandbox-${randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    model,
    text,
    toolCall,
    usage: { prompt_tokens: prompt, completion_tokens: answer, total_tokens: prompt + answer },
  };
}

function toolNames(tools: ChatRequest['tools']): string[] {
  const names = Array.isArray(tools) ? tools.map((tool) => tool?.function?.name) : [];
  return names.filter((name) => typeof name === 'string');
}

/** Assumes four characters per token, about as in English text. */
function countTokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4));
}

function toBody({ text, toolCall, ...rest }: Completion): object {
  const message =
    toolCall === undefined
      ? { role: 'assistant', content: text, refusal: null }
      : { role: 'assistant', content: null, refusal: null, tool_calls: [toCall(toolCall)] };
  const finishReason = toolCall === undefined ? 'stop' : 'tool_calls';
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason }];
  return { ...rest, object: 'chat.completion', choices };
}

function toCall(toolCall: ToolCall): object {
  return { id: `call_${randomUUID()}`, type: 'function', function: toolCall };
}

function streamCompletion(response: ServerResponse, completion: Completion, includeUsage: boolean): void {
  const { text, usage, toolCall, ...rest } = completion;
  const chunk = (fields: object): string =>
    `data: ${JSON.stringify({ ...rest, object: 'chat.completion.chunk', ...fields })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.write(chunk(toChoices({ role: 'assistant', content: toolCall === undefined ? '' : null })));
  for (const word of text.match(/\S+\s*|\s+/g) ?? []) response.write(chunk(toChoices({ content: word })));
  for (const delta of toolCall === undefined ? [] : toCallDeltas(toolCall)) {
    response.write(chunk(toChoices({ tool_calls: [{ index: 0, ...delta }] })));
  }
  response.write(chunk(toChoices({}, toolCall === undefined ? 'stop' : 'tool_calls')));
  if (includeUsage) response.write(chunk({ choices: [], usage }));
  response.end('data: [DONE]\n\n');
}

/** Splits the arguments into two parts, because models stream them in parts. */
function toCallDeltas(toolCall: ToolCall): object[] {
  const { name, arguments: written } = toolCall;
  const half = Math.ceil(written.length / 2);
  const parts = [written.slice(0, half), written.slice(half)].filter((part) => part !== '');
  return [toCall({ name, arguments: '' }), ...parts.map((part) => ({ function: { arguments: part } }))];
}

function toChoices(delta: object, finishReason: string | null = null): object {
  return { choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_BODY_BYTES) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function sendError(response: ServerResponse, status: number, code: string | null, message: string): void {
  sendJson(response, status, {
    error: { message: `[sandbox] ${message}`, type: 'invalid_request_error', param: null, code },
  });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
