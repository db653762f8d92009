// One call of a model by a node. It is claimed in the ledger before it leaves. Where it brings no answer, the ledger says
// whether it has cost something: a call that was cut off after it had left is charged as estimated (extensions, section 4).
import type OpenAI from 'openai';
import { APIError } from 'openai';
import { charactersIn, tokensIn, toCharge, type ModelCharge } from '../../../config/model-price.js';
import type { ResolvedModel } from '../../../config/model-providers.js';
import type { AnsweredCall } from '../../../db/agents/agent-charges.js';
import type { Database } from '../../../db/core/client.js';
import { markCallCut, markCallRefused } from '../../../db/nodes/provider-calls-repository.js';
import type { ToldToolCall } from '../../../db/runs/run-deltas-repository.js';
import { joinMaskers } from '../../../graph/mask.js';
import type { RetryPolicy } from '../../../graph/nodes/every-node.js';
import type { LiveTexts } from '../../live/live-texts.js';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../../outgoing/json-depth.js';
import { NodeFailure, type Charge } from '../../node/failures.js';
import { toIdempotencyKey } from '../../node/idempotency-key.js';
import type { NodeTask } from '../../node/node-step.js';
import { claimModelCall } from './claim-model-call.js';
import { toLlmFailure, type ModelClients } from './model-clients.js';

export type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

interface AskedModel {
  turn: number;
  model: ResolvedModel;
  timeoutMs: number;
  body: Body;
  /** The turn in the idempotency key, by which the provider recognizes a repeated request. */
  idempotencyTurn: number | undefined;
  /** The limit of an agent. */
  maxCostUsd?: string | null;
  /** The retry policy of the call, if its own attempts are counted instead of those of its node. */
  retry?: RetryPolicy;
}

interface ModelAnswer {
  /** Without the key of the provider. It may be anything. */
  answer: OpenAI.Chat.ChatCompletion;
  /** With the answered call. */
  charge: Charge & { answered: AnsweredCall };
}

/**
 * Throws a `NodeFailure`; with the code `budget_exceeded` where the call could pass a limit, and is not made. A call that was
 * in flight when its worker died is repeated. The provider may charge for each, but the user pays once.
 */
export async function askModel(
  { db, clients, live }: { db: Database; clients: ModelClients; live: LiveTexts },
  task: NodeTask,
  { turn, model, timeoutMs, body, idempotencyTurn, maxCostUsd, retry }: AskedModel,
): Promise<ModelAnswer> {
  const { runId, path, nodeId, signal } = task;
  const client = await clients.forProject(task.run.projectId, model.provider);
  const claimed = await claimModelCall(db, task, { turn, model, body, maxCostUsd: maxCostUsd ?? null });
  const { attempt, crashes, reserved, hasReaders } = claimed;
  const call = { runId, path, nodeId, turn, attempt };
  const headers = { 'idempotency-key': toIdempotencyKey(task, idempotencyTurn) };
  let hasLeft = false;
  const onSent = (): void => void (hasLeft = true);
  const masker = joinMaskers(client.masker, task.run.masker);
  const told = model.stream
    ? live.begin({ ...task, projectId: task.run.projectId, step: turn, hasReaders, masker })
    : undefined;
  const calling = { signal, timeoutMs, headers, onSent, onText: told && ((text: string) => told.add(text)) };
  const completed = client.complete(body, calling).then(refuseDeep);
  const answer = await completed.catch(async (error: unknown) => {
    told?.drop();
    const isPaid = hasLeft && !isRefusal(error);
    // The end of the node or of its run charges a call that they have cut off, and the next attempt repeats one whose
    // worker stops.
    if (!signal.aborted || !isPaid) await (isPaid ? markCallCut(db, call) : markCallRefused(db, call));
    if (signal.aborted) throw error;
    const failure = toLlmFailure(error, client.masker);
    if (retry === undefined) throw failure;
    const counted = attempt - crashes;
    throw counted < retry.maxAttempts ? failure.withDelay(retry.delayMs(counted)) : failure.asFinal();
  });
  await told?.end(toolCallsOf(answer));
  client.countTokens(answer?.usage);
  const masked = client.masker.json(answer);
  const estimated = { input: reserved.input, output: tokensIn(charactersIn(messagesOf(masked))) };
  const charge = toCharge(masked?.usage, model, estimated);
  return { answer: masked, charge: { ...charge, answered: { turn, attempt, ...toPaid(charge) } } };
}

function refuseDeep<Answer>(answer: Answer): Answer {
  if (!isDeeperThan(answer, MAX_JSON_DEPTH)) return answer;
  throw new NodeFailure('invalid_response', 'The answer of the provider is nested too deeply.');
}

/** The provider has answered that it did nothing. */
function isRefusal(error: unknown): boolean {
  return error instanceof APIError && typeof error.status === 'number';
}

function messagesOf(answer: Partial<OpenAI.Chat.ChatCompletion> | undefined): unknown {
  return Array.isArray(answer?.choices) ? answer.choices.map((choice) => choice?.message) : undefined;
}

/** The tool calls that can be told. */
function toolCallsOf(answer: Partial<OpenAI.Chat.ChatCompletion> | undefined): ToldToolCall[] {
  const calls: unknown = Array.isArray(answer?.choices) ? answer.choices[0]?.message?.tool_calls : undefined;
  if (!Array.isArray(calls)) return [];
  return calls.flatMap((call: Partial<OpenAI.Chat.ChatCompletionMessageFunctionToolCall> | null) => {
    const [id, { name, arguments: written }] = [call?.id, { ...call?.function }];
    const isWhole = typeof id === 'string' && typeof name === 'string' && typeof written === 'string';
    return isWhole ? [{ id, name, arguments: written }] : [];
  });
}

function toPaid({ usage, amountUsd, tokens, isEstimated }: ModelCharge): Omit<AnsweredCall, 'turn' | 'attempt'> {
  return { usage, priceUsd: amountUsd, tokens, isEstimated };
}
