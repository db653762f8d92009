// Builds the input of the run that answers a message (docs/use/conversations.md, "What the run gets").
import type { Exchange } from '../../db/conversations/messages-repository.js';
import type { FileValue } from '../../files/file-value.js';
import type { RunInput } from '../../graph/input.js';
import { messageFiles } from '../files/message-files.js';

export const MOST_MESSAGES = 100;
export const MAX_MESSAGES_BYTES = 256 * 1024;

interface ChatMessage {
  role: 'user' | 'assistant';
  content: string;
}

export interface MessageToAnswer {
  conversationId: string;
  content: string;
  files: readonly FileValue[];
  inputs: RunInput;
  /** The exchanges before the message in its branch, newest first. */
  before: readonly Exchange[];
  drawing: unknown;
}

export function toRunInput({ conversationId, content, files, inputs, before, drawing }: MessageToAnswer): RunInput {
  const { files: _own, ...others } = Array.isArray(inputs) ? {} : inputs;
  const values = messageFiles(files, drawing);
  return {
    ...others,
    message: content,
    messages: toMessages(content, before),
    conversation_id: conversationId,
    ...(values !== undefined && { files: values }),
  };
}

/**
 * Returns the newest messages, oldest first and with `content` as the last one: at most 100, and at most 256 KiB as
 * JSON. Returns only `content` if it alone exceeds that. A message whose run has not succeeded is included without an
 * answer.
 */
export function toMessages(content: string, before: readonly Exchange[]): ChatMessage[] {
  const newestFirst: ChatMessage[] = [{ role: 'user', content }];
  for (const exchange of before) {
    if (exchange.answer !== null) newestFirst.push({ role: 'assistant', content: exchange.answer });
    newestFirst.push({ role: 'user', content: exchange.content });
  }
  const fitting: ChatMessage[] = [];
  let bytes = '[]'.length;
  for (const message of newestFirst.slice(0, MOST_MESSAGES)) {
    bytes += Buffer.byteLength(JSON.stringify(message)) + (fitting.length === 0 ? 0 : ','.length);
    if (bytes > MAX_MESSAGES_BYTES && fitting.length > 0) break;
    fitting.unshift(message);
  }
  return fitting;
}
