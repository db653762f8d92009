// The assistant in the editor of a workflow (docs/use/assistants.md, "In the editor"). Its messages are those of a
// conversation, and its drafts those of the caller.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { toAmount } from '../../config/currencies.js';
import { findModel } from '../../config/model-providers.js';
import { findBaseline } from '../../db/conversations/baselines-repository.js';
import {
  changeInputs,
  costOfConversation,
  findAssistantConversation,
  insertConversation,
  MOST_CONVERSATIONS,
} from '../../db/conversations/conversations-repository.js';
import { findNewestRun } from '../../db/conversations/messages-repository.js';
import type { Db } from '../../db/core/client.js';
import { ApiError, invalidFields, orNotFound } from '../http/errors.js';
import { RawJson } from '../http/json-text.js';
import { routesOf, type Route } from '../http/route.js';
import { amountSchema } from '../projects/project-view.js';
import { drawingSchema } from '../workflows/workflow-view.js';
import { openInputs, sealInputs } from './conversation-inputs.js';
import type { ConversationDeps } from './deps.js';
import { modelIn } from './find-drawing.js';

const defineRoute = routesOf<ConversationDeps>();

const path = '/api/v1/workflows/:id/assistant/';
const MOST_CHARACTERS = 255;

const assistantSchema = z
  .object({
    conversation: z.uuid().nullable().describe('Null before the first one, and after it was deleted'),
    model: z.string().nullable(),
    cost: amountSchema.describe('Of all answers of the conversation, with the tests that they have asked for'),
    run: z.uuid().nullable().describe('The run of the newest answer'),
  })
  .meta({ id: 'Assistant' });

const read = defineRoute({
  method: 'GET',
  path,
  summary: "Returns the caller's conversation with the assistant in the editor of the workflow.",
  access: { to: 'workflow', role: 'editor' },
  responses: { 200: assistantSchema },
  handler: async ({ deps, caller, params }) => ({ status: 200, body: await answer(deps, params.id, caller.userId) }),
});

const put = defineRoute({
  method: 'PUT',
  path,
  summary: 'Sets the model of the assistant, and begins the conversation where there is none.',
  description:
    'Messages are sent to `/api/v1/conversations/{conversation_id}/messages/`. The answers change the draft of the caller, ' +
    'whose runs have the purpose `assistant`. 400: the service has no such model.',
  audit: { action: 'run.started', target: 'workflow', id: 'id', records: 'refusals' },
  access: { to: 'workflow', role: 'editor' },
  body: z.object({ model: z.string().min(1).max(MOST_CHARACTERS) }),
  responses: { 200: assistantSchema },
  async handler({ deps, caller, access, params, body: { model } }) {
    if (findModel(deps.models, model) === undefined) throw invalidFields({ model: ['There is no such model.'] });
    const { userId } = caller;
    const known = await findAssistantConversation(deps.db, params.id, userId);
    const id = known?.id ?? randomUUID();
    const inputsEnc = sealInputs(deps.secretBox, id, { model }, { document: {} });
    if (known !== undefined) await changeInputs(deps.db, id, inputsEnc);
    else await begin(deps.db, { id, workflowId: params.id, projectId: access.projectId, authorId: userId, inputsEnc });
    return { status: 200, body: await answer(deps, params.id, userId) };
  },
});

const before = defineRoute({
  method: 'GET',
  path: `${path}before/`,
  summary: 'Returns the draft of the caller as it was before the newest answer of the assistant.',
  description:
    '404 where the assistant has not answered yet, and where the draft has been saved or discarded since, or after 30 days.',
  readsBaseline: 'text',
  access: { to: 'workflow', role: 'editor' },
  responses: {
    200: z.object({
      run: z.uuid().describe('The run of the answer'),
      data: drawingSchema.nullable().describe('Null where there was no draft: the drawing was that of `base_version`'),
      base_version: z.int(),
    }),
  },
  async handler({ deps, caller, params }) {
    const { runId, document, baseVersion } = orNotFound(
      await findBaseline(deps.db, { workflowId: params.id, userId: caller.userId }),
    );
    const data = document === null ? null : new RawJson(document);
    return { status: 200, body: { run: runId, data, base_version: baseVersion } };
  },
});

export const assistantRoutes: Route<ConversationDeps>[] = [read, put, before];

interface Beginning {
  id: string;
  workflowId: number;
  projectId: number;
  authorId: number;
  inputsEnc: Buffer;
}

/**
 * Stores the conversation. If another tab of the user has begun one meanwhile, that one stays, with its model. Throws
 * 400 if the project has too many conversations.
 */
async function begin(db: Db, beginning: Beginning): Promise<void> {
  const conversation = { ...beginning, purpose: 'assistant' as const, title: '', endUser: null, fileIds: [] };
  const isMade = await insertConversation(db, conversation);
  if (isMade || (await findAssistantConversation(db, beginning.workflowId, beginning.authorId)) !== undefined) return;
  throw new ApiError(400, 'too_many_conversations', `A project may have ${MOST_CONVERSATIONS} conversations.`);
}

async function answer(
  { db, secretBox, currencies }: Pick<ConversationDeps, 'db' | 'secretBox' | 'currencies'>,
  workflowId: number,
  userId: number,
): Promise<z.infer<typeof assistantSchema>> {
  const conversation = await findAssistantConversation(db, workflowId, userId);
  if (conversation === undefined)
    return { conversation: null, model: null, cost: toAmount('0', currencies), run: null };
  const { id, inputsEnc } = conversation;
  const [cost, run] = await Promise.all([costOfConversation(db, id), findNewestRun(db, id)]);
  const stored = openInputs(secretBox, id, inputsEnc);
  return {
    conversation: id,
    model: (stored && modelIn(stored.input)) ?? null,
    cost: toAmount(cost, currencies),
    run: run ?? null,
  };
}
