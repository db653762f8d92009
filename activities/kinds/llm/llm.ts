// The LLM node: one chat completion, charged once.
import type OpenAI from 'openai';
import { findModel, type ModelProviders, type ResolvedModel } from '../../../config/model-providers.js';
import type { Database } from '../../../db/core/client.js';
import { claimCall, markCallRefused } from '../../../db/nodes/provider-calls-repository.js';
import { llmNode, type LlmNodeData } from '../../../graph/nodes/llm.js';
import { renderText, type Scope } from '../../../graph/template.js';
import { NodeFailure, type Charge } from '../../node/failures.js';
import { toCharge } from './llm-price.js';
import { toLlmFailure, type ModelClients } from './model-clients.js';
import { toModelParameters } from './model-parameters.js';
import { toIdempotencyKey } from '../../node/idempotency-key.js';
import type { RunContexts } from '../../node/run-context.js';
import type { NodeKindRunner, NodeOutcome, NodeTask } from '../../node/node-step.js';

interface LlmDeps {
  db: Database;
  contexts: RunContexts;
  providers: ModelProviders;
  clients: ModelClients;
}

export function createLlmRunner({ db, contexts, providers, clients }: LlmDeps): NodeKindRunner {
  return {
    kind: 'llm',
    maxAttempts: 5,
    firstDelayMs: 500,
    async execute(task) {
      const data = llmNode.schema.parse(task.node.data);
      const { messages, settings } = data;
      const scope = await contexts.loadScope(task, { messages, settings });
      const body = toBody(data, scope);
      const model = findModel(providers, body.model);
      if (model === undefined)
        throw new NodeFailure('model_not_found', `No provider serves the model "${body.model}".`);
      const client = await clients.forProject(task.run.projectId, model.provider);
      await claimModelCall(db, task, model, body.model);
      const answer = await client
        .complete(body, {
          signal: task.signal,
          timeoutMs: settings.timeout * 1000,
          // The provider sees each attempt of this node as the same request.
          headers: { 'idempotency-key': toIdempotencyKey(task) },
        })
        .catch(async (error: unknown) => {
          if (task.signal.aborted) throw error;
          const failure = toLlmFailure(error, client.masker);
          await markCallRefused(db, task);
          throw failure;
        });
      client.countTokens(answer?.usage);
      return toOutcome(client.masker.json(answer), model);
    },
  };
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

/**
 * A call that was in flight when its worker died is repeated once. The provider may charge for both, but the user pays
 * once.
 */
async function claimModelCall(db: Database, task: NodeTask, { provider }: ResolvedModel, model: string): Promise<void> {
  // The name may hold a variable, and with it a secret.
  const called = { provider: provider.name, model: task.run.masker.text(model) };
  const claim = await claimCall(db, { ...task, ...called, repeatsAfterCrash: 1 });
  if (claim.isAllowed) return;
  throw new NodeFailure('outcome_unknown', 'The model call was in flight twice when its worker died; it is given up.');
}

function toOutcome(answer: OpenAI.Chat.ChatCompletion, model: ResolvedModel): NodeOutcome {
  const charge: Charge = toCharge(answer?.usage, model);
  const choice = answer?.choices?.[0];
  if (choice?.message === undefined || choice.message === null) {
    throw new NodeFailure('invalid_response', 'The provider answered without a message.', { charge });
  }
  return {
    output: {
      content: choice.message.content ?? '',
      model: answer.model,
      usage: answer.usage,
      finish_reason: choice.finish_reason,
    },
    charge,
  };
}
