// Formats the answer of a workflow as a chat completion, whole or in chunks.
import type { RunTokens } from '../../db/runs/run-tokens-repository.js';
import { toChatError } from '../http/chat-errors.js';
import type { ApiError } from '../http/errors.js';

export interface AnswerHead {
  /** The completion has the id of its run. */
  runId: string;
  /** The model name as the client sent it. */
  model: string;
  /** Unix time in seconds. */
  created: number;
}

export function toCompletion({ runId, model, created }: AnswerHead, content: string, tokens: RunTokens): object {
  const message = { role: 'assistant', content, refusal: null };
  return {
    id: runId,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage: toUsage(tokens),
  };
}

export interface ChunkFrames {
  /** The first chunk, which names the role of the author. */
  first(): string;
  words(content: string): string;
  /** The chunks after the last text, including the usage, if it was requested, and `[DONE]`. */
  end(tokens: RunTokens): string;
}

/** `withUsage`: the client has requested `stream_options.include_usage`. */
export function createChunkFrames({ runId, model, created }: AnswerHead, withUsage: boolean): ChunkFrames {
  const head = { id: runId, object: 'chat.completion.chunk', created, model };
  const frame = (delta: object, finishReason: string | null): string => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
    return toFrame({ ...head, choices, ...(withUsage && { usage: null }) });
  };
  return {
    first: () => frame({ role: 'assistant', content: '' }, null),
    words: (content) => frame({ content }, null),
    end: (tokens) => {
      const usage = withUsage ? toFrame({ ...head, choices: [], usage: toUsage(tokens) }) : '';
      return `${frame({}, 'stop')}${usage}data: [DONE]\n\n`;
    },
  };
}

export function toErrorFrame(error: ApiError): string {
  return toFrame(toChatError(error));
}

function toFrame(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function toUsage({ input, output }: RunTokens): object {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}
