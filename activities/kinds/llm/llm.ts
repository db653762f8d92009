// The LLM node: one chat completion, charged once; two where an answer must have a form and the first one has not.
import type OpenAI from 'openai';
import { findModel, type ModelProviders, type ResolvedModel } from '../../../config/model-providers.js';
import { toCharge } from '../../../config/model-price.js';
import { recordAgentEnd } from '../../../db/agents/agent-charges.js';
import { recordNodeEnd } from '../../../db/nodes/node-results-repository.js';
import { markCallRefused, sumCallPrices } from '../../../db/nodes/provider-calls-repository.js';
import { llmNode, type LlmNodeData } from '../../../graph/nodes/llm.js';
import { toAnswerForm } from '../../../graph/response-format.js';
import { renderJson, renderText, type Scope } from '../../../graph/template.js';
import { NodeFailure } from '../../node/failures.js';
import type { FormChecker } from '../structured-answer.js';
import { askForForm, withoutMessage, type Message, type PaidReply } from './ask-for-form.js';
import { claimModelCall } from './claim-model-call.js';
import { toLlmFailure, type ModelClients } from './model-clients.js';
import { toModelParameters } from './model-parameters.js';
import { readReply, toOutput } from './model-reply.js';
import { toIdempotencyKey } from '../../node/idempotency-key.js';
import { persist } from '../../node/record-node.js';
import type { RunContexts } from '../../node/run-context.js';
import type { NodeDeps, NodeKindRunner, NodeOutcome, NodeTask } from '../../node/node-step.js';

interface LlmDeps {
  contexts: RunContexts;
  providers: ModelProviders;
  clients: ModelClients;
  forms: FormChecker;
  node: NodeDeps;
}

export function createLlmRunner(deps: LlmDeps): NodeKindRunner {
  const { contexts, providers, forms, node } = deps;
  const { db, secretBox } = node;
  return {
    kind: 'llm',
    maxAttempts: 5,
    firstDelayMs: 500,
    async chargeSoFar(task) {
      const amountUsd = await sumCallPrices(db, task);
      const { settings } = task.node.data as Partial<LlmNodeData>;
      const { priceVersion = '' } = findModel(providers, settings?.model_name ?? '') ?? {};
      return { amountUsd, priceVersion, reason: '', usage: null };
    },
    // An end that brings no usage of its own costs what the calls before it have cost, which the ledger says.
    store: (end) => (end.usage === null ? recordAgentEnd(db, end) : recordNodeEnd(db, end)),
    async execute(task) {
      const data = readData(task.node.data);
      const { messages, settings } = data;
      const scope = await contexts.loadScope(task, { messages, settings });
      const body = toBody(data, scope);
      const model = findModel(providers, body.model);
      if (model === undefined)
        throw new NodeFailure('model_not_found', `No provider serves the model "${body.model}".`);
      const timeoutMs = settings.timeout * 1000;
      const ask = (turn: number, added: Message[]): Promise<PaidReply> =>
        askModel(deps, task, { turn, model, timeoutMs, body: { ...body, messages: [...body.messages, ...added] } });
      const form = toAnswerForm(renderJson(settings.response_format, scope));
      if (form === undefined) return toOutcome(await ask(0, []));
      const { priceVersion } = model;
      const persisting = (write: () => Promise<void>): Promise<void> => persist(node, task, write);
      return askForForm({ db, secretBox, task, form, forms, priceVersion, ask, persist: persisting });
    },
  };
}

/**
 * The format is not looked at here, but once its variables are filled in. Of runs that an earlier release has accepted it
 * may be anything.
 */
function readData(data: Record<string, unknown>): LlmNodeData {
  const settings = data['settings'] as LlmNodeData['settings'];
  const parsed = llmNode.schema.parse({ ...data, settings: { ...settings, response_format: undefined } });
  return { ...parsed, settings: { ...parsed.settings, response_format: settings.response_format } };
}

type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

function toBody(data: LlmNodeData, scope: Scope): Body {
  const messages = data.messages.map(({ role, message }) => ({ role, content: renderText(message, scope) }));
  return {
    ...toModelParameters(data.settings, scope),
    model: renderText(data.settings.model_name, scope),
    messages,
    stream: false,
  } as Body;
}

interface ModelCall {
  /** 0, and 1 for the call that asks for a better answer. */
  turn: number;
  model: ResolvedModel;
  timeoutMs: number;
  body: Body;
}

/**
 * A call that was in flight when its worker died is repeated once. The provider may charge for both, but the user pays
 * once.
 */
async function askModel(
  { clients, node: { db } }: LlmDeps,
  task: NodeTask,
  { turn, model, timeoutMs, body }: ModelCall,
): Promise<PaidReply> {
  const client = await clients.forProject(task.run.projectId, model.provider);
  const call = { runId: task.runId, path: task.path, nodeId: task.nodeId, turn };
  await claimModelCall(db, task, { turn, model, body });
  // The provider sees each attempt of this call as the same request.
  const headers = { 'idempotency-key': turn === 0 ? toIdempotencyKey(task) : toIdempotencyKey(task, turn) };
  const answer = await client
    .complete(body, { signal: task.signal, timeoutMs, headers })
    .catch(async (error: unknown) => {
      if (task.signal.aborted) throw error;
      const failure = toLlmFailure(error, client.masker);
      await markCallRefused(db, call);
      throw failure;
    });
  client.countTokens(answer?.usage);
  const masked = client.masker.json(answer);
  return { reply: readReply(masked), charge: toCharge(masked?.usage, model) };
}

function toOutcome({ reply, charge }: PaidReply): NodeOutcome {
  if (reply === undefined) throw withoutMessage(charge);
  return { output: toOutput(reply), charge };
}
