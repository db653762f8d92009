// Offers workflows as models: `workflow:ID` at `/v1/chat/completions` and in `/v1/models` (docs/use/api.md, "Chat
// completions").
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { WORKFLOW_MODEL } from '../../config/model-providers.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Doer } from '../../db/audit/audit-entry.js';
import { findChat, listChats } from '../../db/workflows/chats-repository.js';
import { answerNodesOf } from '../../graph/answer-node.js';
import { compilePlan } from '../../graph/compile-plan.js';
import { ownValue } from '../../graph/json.js';
import { cutText } from '../../graph/cut-text.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { ChatDeps } from './deps.js';
import { ApiError, overloaded, refusing } from '../http/errors.js';
import { collectedBytes } from '../http/collect-body.js';
import { parseFields } from '../http/field-errors.js';
import { MAX_ID } from '../http/path-ids.js';
import type { Caller, RouteResult } from '../http/route.js';
import { toRefusedInput } from '../runs/refused-input.js';
import { acceptRun } from '../runs/accept-run.js';
import { idempotencyHeaders, repeatHeaders, toKeyedRequest } from '../runs/idempotency.js';
import { keepIfAccepted } from '../runs/uploaded-input.js';
import { withDrawing } from '../workflows/with-drawing.js';
import { answerStream, answerWhole, type AnsweredRun } from './answer-workflow.js';
import { readChatInput, saveChatFiles, toRunInput } from './chat-input.js';

interface AskedWorkflow {
  deps: ChatDeps;
  log: Logger;
  caller: Caller;
  body: { model: string; messages: readonly unknown[]; stream?: unknown; stream_options?: unknown };
  requestHeaders: IncomingHttpHeaders;
  /** The memory of the request, which already covers its body. */
  memory: ByteLease;
  tenant: string;
  signal: AbortSignal;
  doer: Doer;
}

export function isWorkflowModel(model: string): boolean {
  return model.startsWith(WORKFLOW_MODEL);
}

export async function askWorkflow(asked: AskedWorkflow): Promise<RouteResult> {
  const { deps, log, caller, body, signal, doer } = asked;
  const { model, stream } = body;
  const workflow = await findAsked(deps, caller, model);
  if (deps.runHub.isFullFor(caller.userId)) throw overloaded();
  const { runId, isRepeat, answering } = await acceptAsked(asked, workflow);
  const created = Math.floor(Date.now() / 1000);
  const reader = { userId: caller.userId, keyId: caller.keyId };
  const run: AnsweredRun = { runId, workflowId: workflow.id, model, created, reader, signal, doer, log };
  const headers = repeatHeaders(isRepeat);
  log.info({ model, run_id: runId, stream: stream === true }, 'chat completion of a workflow');
  if (stream === true) {
    const withUsage = ownValue(body.stream_options, 'include_usage') === true;
    const answer = answerStream(deps, run, { withUsage, answering });
    return { ...answer, headers: { ...answer.headers, ...headers } };
  }
  const later = async (): Promise<RouteResult> => {
    const answer = await answerWhole(deps, run);
    return { ...answer, headers: { ...answer.headers, ...headers } };
  };
  return { status: 200, later };
}

interface Asked {
  id: number;
  projectId: number;
}

async function findAsked({ db }: ChatDeps, caller: Caller, model: string): Promise<Asked> {
  const id = /^[1-9]\d{0,9}$/.exec(model.slice(WORKFLOW_MODEL.length))?.[0];
  const found = id === undefined || Number(id) > MAX_ID ? undefined : await findChat(db, caller, Number(id));
  if (found === undefined) {
    const error = unknownModel(model);
    throw id === undefined ? error : refusing({ type: 'workflow', id: Math.min(Number(id), MAX_ID) }, error);
  }
  return { id: found.id, projectId: found.project_id };
}

async function acceptAsked(
  { deps, log, caller, body, requestHeaders, memory, tenant, signal }: AskedWorkflow,
  { id: workflowId, projectId }: Asked,
): Promise<{ runId: string; isRepeat: boolean; answering: ReadonlySet<string> }> {
  const headers = parseFields(idempotencyHeaders, requestHeaders);
  const chatInput = readChatInput(body.messages);
  const { userId } = caller;
  const bodyBytes = collectedBytes(memory);
  const owner = { projectId, userId };
  const saved = await saveChatFiles(deps.files, chatInput, { owner, memory, signal });
  const uploads = saved.map((file) => ({ field: 'files', file }));
  const accept = async () => {
    signal.throwIfAborted();
    const workflow = await deps.drawings.find(workflowId);
    if (workflow === undefined) throw unknownModel(body.model);
    const { document } = workflow;
    const { message, messages } = chatInput;
    const options = { chat: true, files: saved.map(({ name, sha256 }) => ({ name, sha256 })) };
    const keyed = toKeyedRequest(userId, headers, { workflowId, input: { message, messages }, options });
    const input = toRunInput(chatInput, saved, document);
    // Compiled before `acceptRun`, which ends the turn of this work in the queue for large work.
    const compiled = body.stream === true ? compilePlan(document) : undefined;
    const answering = compiled?.ok === true ? answerNodesOf(document, compiled.plan) : new Set<string>();
    const acceptance = await acceptRun(deps, log, { workflow, userId, input, keyed, leavesNoDraft: true });
    return { ...acceptance, document, answering };
  };
  const { envelope, isRepeat, document, answering } = await keepIfAccepted(deps, { input: undefined, uploads }, () =>
    withDrawing(deps, { tenant, projectId, signal, memory }, { workflowId, form: 'parsed', bodyBytes }, accept),
  );
  const { id: runId } = envelope.data;
  if (envelope.status === 201 && runId !== null) return { runId, isRepeat, answering };
  const { detail, code, errors = {} } = toRefusedInput(envelope, document);
  const sentences = Object.entries(errors).map(([field, some]) => `${field}: ${some.join(' ')}`);
  throw new ApiError(400, code, [detail, ...sentences].join(' '), { param: 'messages' });
}

const MAX_SHOWN_CHARACTERS = 200;

export function unknownModel(name: string): ApiError {
  const shown = cutText(name, MAX_SHOWN_CHARACTERS);
  return new ApiError(404, 'model_not_found', `The model '${shown}' does not exist.`, { param: 'model' });
}

const MOST_LISTED = 1_000;

export const modelSchema = z.object({
  id: z.string().describe('`workflow:ID` where the model is a workflow'),
  object: z.literal('model'),
  created: z.int().describe('Unix time; 0, because providers do not tell it'),
  owned_by: z.string().describe('The name of the provider, or of the project of the workflow'),
  name: z.string().optional().describe('The title of the workflow'),
});

export async function listWorkflowModels({ db }: ChatDeps, caller: Caller): Promise<z.infer<typeof modelSchema>[]> {
  const chats = await listChats(db, caller, MOST_LISTED);
  return chats.map(({ id, title, project_name: project, created_at: createdAt }) => ({
    id: `${WORKFLOW_MODEL}${id}`,
    object: 'model',
    created: Math.floor(createdAt.getTime() / 1000),
    owned_by: project,
    name: title,
  }));
}
