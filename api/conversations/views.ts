import { z } from 'zod';
import type { ConversationRecord } from '../../db/conversations/conversations-repository.js';
import type { MessageRecord } from '../../db/conversations/messages-repository.js';
import { findInputSecrets } from '../../db/workflows/secret-input-fields.js';
import { toAmount, type Currencies } from '../../config/currencies.js';
import type { ConversationDeps } from './deps.js';
import { fileValueSchema } from '../files/file-view.js';
import { amountSchema } from '../projects/project-view.js';
import { toExecutionStatus } from '../runs/node-map.js';
import { maskedInputs } from './conversation-inputs.js';

export const conversationSchema = z
  .object({
    id: z.uuid(),
    workflow: z.int(),
    author: z.int(),
    title: z.string().describe('Where none was given, the beginning of the first message'),
    user: z.string().nullable().describe("The author's name for an end user"),
    inputs: z
      .unknown()
      .describe("The trigger's other fields for each message, secrets masked. Null: their key was withdrawn"),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Conversation' });

export async function toConversations(
  { db, secretBox }: Pick<ConversationDeps, 'db' | 'secretBox'>,
  conversations: readonly ConversationRecord[],
): Promise<z.infer<typeof conversationSchema>[]> {
  const drawings = await findInputSecrets(db, [...new Set(conversations.map(({ workflowId }) => workflowId))]);
  return conversations.map((conversation) => {
    const { id, inputsEnc } = conversation;
    return {
      id,
      workflow: conversation.workflowId,
      author: conversation.authorId,
      title: conversation.title,
      user: conversation.endUser,
      inputs: maskedInputs(secretBox, id, inputsEnc, drawings.get(conversation.workflowId)!),
      created_at: conversation.createdAt.toISOString(),
    };
  });
}

export const messageSchema = z
  .object({
    id: z.uuid(),
    role: z.enum(['user', 'assistant']),
    content: z.string().nullable().describe('Null for the answer of a run that has not succeeded'),
    truncated: z.literal(true).optional().describe('The content is cut; the run has the whole'),
    files: z.array(fileValueSchema.extend({ deleted: z.literal(true).optional() })),
    created_at: z.iso.datetime(),
    run_id: z.uuid(),
    cost: amountSchema.nullable().describe('What the run has cost with the runs below it; null for messages of people'),
    status: z.enum(['in queue', 'in progress', 'succeed', 'failed', 'cancelled']).describe('The status of the run'),
    error: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .describe('Why the run failed; null for messages of people'),
    replaces: z.uuid().nullable().describe('The message in whose place this one was asked'),
  })
  .meta({ id: 'Message' });

export function toMessage(message: MessageRecord, currencies: Currencies): z.infer<typeof messageSchema> {
  const { errorCode: code, errorMessage } = message;
  const isAnswer = message.role === 'assistant';
  return {
    id: message.id,
    role: message.role,
    content: message.content,
    ...(message.isCut && { truncated: true }),
    files: message.files as z.infer<typeof messageSchema>['files'],
    created_at: message.createdAt.toISOString(),
    run_id: message.runId,
    cost: isAnswer ? toAmount(message.costUsd, currencies) : null,
    status: toStatus(message),
    error: isAnswer && code !== null ? { code, message: errorMessage ?? '' } : null,
    replaces: message.replaces,
  };
}

function toStatus({ runStatus, isRunStarted }: MessageRecord): z.infer<typeof messageSchema>['status'] {
  if (runStatus === 'Cancelled') return 'cancelled';
  return toExecutionStatus(runStatus, isRunStarted);
}
