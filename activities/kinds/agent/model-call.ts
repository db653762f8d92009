// One model call of an agent: it is claimed in the ledger before it leaves.
import type OpenAI from 'openai';
import { findModel, type ResolvedModel } from '../../../config/model-providers.js';
import { markCallRefused } from '../../../db/nodes/provider-calls-repository.js';
import type { AgentNodeData } from '../../../graph/nodes/agent.js';
import { retryPolicyOf, type RetryPolicy } from '../../../graph/nodes/every-node.js';
import { NodeFailure } from '../../node/failures.js';
import { toIdempotencyKey } from '../../node/idempotency-key.js';
import type { NodeTask } from '../../node/node-step.js';
import { claimModelCall } from '../llm/claim-model-call.js';
import { toLlmFailure } from '../llm/model-clients.js';
import { maxCostOf } from './agent-session.js';
import type { AgentDeps } from './agent-step.js';

export type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

/** Where the node does not say its own `retry`. */
const MODEL_RETRIES: RetryPolicy = { maxAttempts: 5, delayMs: (attempt) => 500 * 2 ** (attempt - 1) };

interface ModelCall {
  turn: number;
  body: Body;
  settings: AgentNodeData['settings'];
}

export interface ModelAnswer {
  answer: OpenAI.Chat.ChatCompletion;
  model: ResolvedModel;
}

/** Throws a `NodeFailure`; with the code `budget_exceeded` where the call could pass a limit, and is not made. */
export async function askModel(deps: AgentDeps, task: NodeTask, call: ModelCall): Promise<ModelAnswer> {
  const { turn, body, settings } = call;
  const model = findModel(deps.providers, body.model);
  if (model === undefined) throw new NodeFailure('model_not_found', `No provider serves the model "${body.model}".`);
  const key = { runId: task.runId, path: task.path, nodeId: task.nodeId, turn, ordinal: 0 };
  const client = await deps.clients.forProject(task.run.projectId, model.provider);
  const claim = await claimModelCall(deps.db, task, { turn, model, body, maxCostUsd: maxCostOf(call) });
  const headers = { 'idempotency-key': toIdempotencyKey(task, turn) };
  const answer = await client
    .complete(body, { signal: task.signal, timeoutMs: settings.timeout * 1000, headers })
    .catch(async (error: unknown) => {
      if (task.signal.aborted) throw error;
      const failure = toLlmFailure(error, client.masker);
      await markCallRefused(deps.db, key);
      const { maxAttempts, delayMs } = retryPolicyOf(task.node.data, MODEL_RETRIES);
      if (claim.attempts < maxAttempts) throw failure.withDelay(delayMs(claim.attempts));
      throw failure.asFinal();
    });
  client.countTokens(answer?.usage);
  return { answer: client.masker.json(answer), model };
}
