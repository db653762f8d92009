// The input of the run that answers a message (docs/use/conversations.md, "What the run gets"). Pure.
import type { Exchange } from '../../db/conversations/messages-repository.js';
import type { FileValue } from '../../files/file-value.js';
import type { RunInput } from '../../graph/input.js';
import { messageFiles } from '../files/message-files.js';

export const MOST_MESSAGES = 100;
export const MAX_MESSAGES_BYTES = 256 * 1024;

/** The fields that the conversation itself gives to each run. */
export const OWN_FIELDS = ['message', 'messages', 'conversation_id', 'files'] as const;

interface ChatMessage {
  role: 'user' | 'assistant';
  content: string;
}

export interface MessageToAnswer {
  conversationId: string;
  content: string;
  files: readonly FileValue[];
  /** The other fields of the trigger. */
  inputs: RunInput;
  /** The exchanges before it in the branch, the newest first. */
  before: readonly Exchange[];
  drawing: unknown;
}

/** `before` in the order of the branch, and the message itself, as many of the newest as fit. */
export function toRunInput({ conversationId, content, files, inputs, before, drawing }: MessageToAnswer): RunInput {
  const { files: _own, ...others } = Array.isArray(inputs) ? {} : inputs;
  const given = messageFiles(files, drawing);
  return {
    ...others,
    message: content,
    messages: toMessages(content, before),
    conversation_id: conversationId,
    ...(given !== undefined && { files: given }),
  };
}

/**
 * The newest messages, oldest first and with `content` as the last one: at most 100, and at most 256 KiB as JSON. A
 * message whose run has not succeeded stands there without an answer.
 */
export function toMessages(content: string, before: readonly Exchange[]): ChatMessage[] {
  const newestFirst: ChatMessage[] = [{ role: 'user', content }];
  for (const exchange of before) {
    if (exchange.answer !== null) newestFirst.push({ role: 'assistant', content: exchange.answer });
    newestFirst.push({ role: 'user', content: exchange.content });
  }
  const kept: ChatMessage[] = [];
  let bytes = '[]'.length;
  for (const message of newestFirst.slice(0, MOST_MESSAGES)) {
    bytes += Buffer.byteLength(JSON.stringify(message)) + (kept.length === 0 ? 0 : ','.length);
    if (bytes > MAX_MESSAGES_BYTES) break;
    kept.unshift(message);
  }
  return kept;
}
