// Makes one model call of a node. The call is claimed in the ledger before it is sent. A call that a time limit or a
// broken connection cuts off after it was sent is charged as estimated (docs/use/spending.md, "How it is reckoned").
import type OpenAI from 'openai';
import { APIError } from 'openai';
import { hasMessage } from '../../../config/model-answer.js';
import {
  charactersIn,
  reportsUsage,
  tokensIn,
  toCharge,
  type ModelCharge,
  type Tokens,
} from '../../../config/model-price.js';
import type { ResolvedModel } from '../../../config/model-providers.js';
import { savePaidAttempt, type AnsweredCall } from '../../../db/agents/agent-charges.js';
import type { NodeDeps } from '../../node/node-step.js';
import { persist } from '../../node/record.js';
import { markCallCut, markCallRefused, type PaidCall } from '../../../db/nodes/provider-calls-repository.js';
import { joinMaskers } from '../../../graph/mask.js';
import type { RetryPolicy } from '../../../graph/nodes/every-node.js';
import type { LiveTexts } from '../../live/live-texts.js';
import { isDeeperThan, MAX_RESULT_DEPTH } from '../../../graph/json-depth.js';
import { NodeFailure, type Charge } from '../../node/failures.js';
import { toIdempotencyKey } from '../idempotency-key.js';
import type { NodeTask } from '../../node/node-step.js';
import { claimModelCall } from './claim-model-call.js';
import { toLlmFailure, type ModelClients } from './model-clients.js';
import { giveCallIds, reportedCallsOf } from './provider-message.js';
import { UnusableAnswer } from './unusable-answer.js';

export type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

interface AskedModel {
  turn: number;
  model: ResolvedModel;
  timeoutMs: number;
  body: Body;
  /** The turn in the idempotency key, by which the provider recognises a repeated request. */
  idempotencyTurn: number | undefined;
  /** The cost limit of an agent, as a decimal in USD. */
  maxCostUsd?: string | null;
  /** The retry policy of the call. Set if the attempts of the call count instead of those of its node. */
  retry?: RetryPolicy;
}

interface ModelAnswer {
  /** The answer with the provider's key masked. It may be any JSON in which a choice has a message. */
  answer: OpenAI.Chat.ChatCompletion;
  charge: Charge & { answered: AnsweredCall };
}

/**
 * Throws a `NodeFailure`, whose code is `budget_exceeded` if the call could exceed a limit and was not made. Throws
 * other errors if the run has ended or the attempt must stop. A call that was in flight when its worker died is
 * repeated. The provider may charge for both, but the user pays once.
 */
export async function askModel(
  { node, clients, live }: { node: NodeDeps; clients: ModelClients; live: LiveTexts },
  task: NodeTask,
  { turn, model, timeoutMs, body, idempotencyTurn, maxCostUsd, retry }: AskedModel,
): Promise<ModelAnswer> {
  const { db } = node;
  const { runId, path, nodeId, signal } = task;
  const client = await clients.forProject(task.run.projectId, model.provider);
  const claimed = await claimModelCall(db, task, { turn, model, body, maxCostUsd: maxCostUsd ?? null });
  const { attempt, crashes, reserved, hasReaders } = claimed;
  const call = { runId, path, nodeId, turn, attempt };
  const headers = { 'idempotency-key': toIdempotencyKey(task, idempotencyTurn) };
  let hasLeft = false;
  const onRequest = (): void => void (hasLeft = false);
  const onSent = (): void => void (hasLeft = true);
  const masker = joinMaskers(client.masker, task.run.masker);
  const liveText = model.stream
    ? live.begin({ ...task, projectId: task.run.projectId, step: turn, hasReaders, masker })
    : undefined;
  const calling = {
    signal,
    timeoutMs,
    headers,
    onRequest,
    onSent,
    onText: liveText && ((text: string) => liveText.add(text)),
  };
  const completed = client.complete(body, calling).then(refuseUnusable).then(giveCallIds);
  const answer = await completed.catch(async (error: unknown) => {
    liveText?.drop();
    const cost = hasLeft ? costOf(error, model, reserved) : 'nothing';
    if (typeof cost === 'object') {
      client.countTokens((error as UnusableAnswer).usage);
      await persist(node, task, () => savePaidAttempt(db, call, cost));
    } else if (cost === 'nothing') await persist(node, task, () => markCallRefused(db, call));
    // If the end of the node or run has cut off the call, that end charges the call. If the worker stops, the next
    // attempt repeats the call.
    else if (!signal.aborted) await persist(node, task, () => markCallCut(db, call));
    if (signal.aborted) throw error;
    const failure = toLlmFailure(error, client.masker);
    if (retry === undefined) throw failure;
    const counted = attempt - crashes;
    throw counted < retry.maxAttempts ? failure.withDelay(retry.delayMs(counted)) : failure.asFinal();
  });
  await liveText?.end(reportedCallsOf(answer));
  client.countTokens(answer?.usage);
  const masked = client.masker.json(answer);
  const estimated = { input: reserved.input, output: tokensIn(charactersIn(messagesOf(masked))) };
  const charge = toCharge(masked?.usage, model, estimated);
  return { answer: masked, charge: { ...charge, answered: { turn, attempt, ...toPaid(charge) } } };
}

function refuseUnusable(answer: OpenAI.Chat.ChatCompletion): OpenAI.Chat.ChatCompletion {
  if (isDeeperThan(answer, MAX_RESULT_DEPTH))
    throw unusable(answer, 'The answer of the provider is nested too deeply.');
  if (!hasMessage(answer)) throw unusable(answer, 'The provider answered without a message.');
  return answer;
}

function unusable(answer: Partial<OpenAI.Chat.ChatCompletion> | null, message: string): UnusableAnswer {
  const failure = new NodeFailure('invalid_response', message);
  return new UnusableAnswer(failure, { usage: answer?.usage, hasWords: hasMessage(answer) });
}

/**
 * Returns the cost of a call that was sent and brought no usable answer. `nothing`: the provider answered with an error
 * status, or with neither usage nor words. `reserved`: the work is unknown, so the call costs the amount that was
 * reserved.
 */
function costOf(error: unknown, model: ResolvedModel, reserved: Tokens): PaidCall | 'nothing' | 'reserved' {
  if (error instanceof UnusableAnswer) {
    const { usage, hasWords } = error;
    if (!reportsUsage(usage)) return hasWords ? 'reserved' : 'nothing';
    const estimated = { input: reserved.input, output: hasWords ? reserved.output : 0 };
    return toPaid(toCharge(countsOf(usage), model, estimated));
  }
  return error instanceof APIError && typeof error.status === 'number' ? 'nothing' : 'reserved';
}

/** A usage that comes without an answer may be any JSON, so only its token counts are kept. */
function countsOf(usage: unknown): object {
  const { prompt_tokens, completion_tokens, total_tokens } = usage as OpenAI.CompletionUsage;
  const counts = Object.entries({ prompt_tokens, completion_tokens, total_tokens });
  return Object.fromEntries(counts.filter(([, count]) => typeof count === 'number'));
}

function messagesOf(answer: Partial<OpenAI.Chat.ChatCompletion> | undefined): unknown {
  return Array.isArray(answer?.choices) ? answer.choices.map((choice) => choice?.message) : undefined;
}

function toPaid({ usage, amountUsd, tokens, isEstimated }: ModelCharge): PaidCall {
  return { usage, priceUsd: amountUsd, tokens, isEstimated };
}
