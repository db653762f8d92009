// Sends a completion as an event stream, like a model provider.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Gate } from '../timing/gate.js';
import { pauseUnlessClosed } from '../timing/pause-unless-closed.js';

/** A string is part of the content. `raw` is sent unchanged. A gate stops the stream until the test opens it. */
export type StreamPart =
  | string
  | { raw: string | Uint8Array }
  | { waitMs: number }
  | Pick<Gate, 'opened'>
  | { reset: true };

interface Completion {
  choices: { message: { role?: string; content?: unknown; tool_calls?: object[] }; finish_reason: string }[];
  usage?: object;
}

interface StreamOptions {
  /** The parts of the content. The default is its words. */
  parts?: StreamPart[] | undefined;
  includeUsage: boolean;
}

/**
 * Sends each tool call whose arguments are text in three chunks: the name, and the arguments in two halves. Sends
 * content that is not text in one chunk, and fields that only some providers support before the content.
 */
export async function streamCompletion(
  response: ServerResponse,
  completion: object,
  { parts, includeUsage }: StreamOptions,
): Promise<void> {
  const { choices, usage, ...facts } = completion as Completion;
  const [{ message, finish_reason: reason }] = choices as [Completion['choices'][number]];
  const { role: _role, content, tool_calls: calls = [], ...others } = message;
  const words = typeof content === 'string' ? content.match(/\S+\s*|\s+/g) : null;
  const send = (fields: object): void => {
    response.write(`data: ${JSON.stringify({ ...facts, object: 'chat.completion.chunk', ...fields })}\n\n`);
  };
  const say = (delta: object, finish: string | null = null): void =>
    send({ choices: [{ index: 0, delta, finish_reason: finish }] });
  say({ role: 'assistant', content: content === null ? null : '' });
  for (const [name, value] of Object.entries(others)) say({ [name]: value });
  if (typeof content === 'object' && content !== null) say({ content });
  for (const part of parts ?? words ?? []) {
    if (typeof part === 'string') say({ content: part });
    else if ('raw' in part) response.write(part.raw);
    else if ('reset' in part) return void response.socket?.resetAndDestroy();
    else if ('opened' in part) {
      await Promise.race([part.opened, once(response, 'close')]);
      if (response.closed) return;
    } else if (!(await pauseUnlessClosed(response, part.waitMs))) return;
  }
  for (const [index, call] of calls.entries()) {
    const { function: given, ...head } = call as { function?: { name?: string; arguments?: unknown } };
    const { name, arguments: written } = given ?? {};
    if (typeof written !== 'string') {
      say({ tool_calls: [{ index, ...call }] });
      continue;
    }
    const half = Math.ceil(written.length / 2);
    say({ tool_calls: [{ index, ...head, function: { name, arguments: '' } }] });
    say({ tool_calls: [{ index, function: { arguments: written.slice(0, half) } }] });
    say({ tool_calls: [{ index, function: { arguments: written.slice(half) } }] });
  }
  if (reason !== '') say({}, reason);
  if (includeUsage && usage !== undefined) send({ choices: [], usage });
  response.end('data: [DONE]\n\n');
}
