// One turn of an agent: calls the model, and records its message with the requested tool calls and the approvals that
// they need. docs/adr/0009-agents-as-durable-steps.md describes the loop.
import { randomUUID } from 'node:crypto';
import type OpenAI from 'openai';
import { findModel, type ModelProviders, type ResolvedModel } from '../../../config/model-providers.js';
import {
  findToolCalls,
  findTurns,
  saveTurn,
  type NewToolCall,
  type StoredToolCall,
  type StoredTurn,
  type TurnKey,
} from '../../../db/agents/agent-repository.js';
import { recordAgentEnd, savePaidCall } from '../../../db/agents/agent-charges.js';
import { claimCall, markCallRefused, sumCallPrices } from '../../../db/nodes/provider-calls-repository.js';
import { isObject } from '../../../graph/json.js';
import { parseJson, writeJson } from '../../../graph/json-text.js';
import { agentNode, type AgentNodeData } from '../../../graph/nodes/agent.js';
import { retryPolicyOf, type RetryPolicy } from '../../../graph/nodes/every-node.js';
import { renderText, type Scope } from '../../../graph/template.js';
import { toMessages, type AssistantMessage } from './agent-messages.js';
import { loadTools, toModelTools, type AgentSessionDeps, type AgentTool } from './agent-session.js';
import { NodeFailure, type Charge } from '../../node/failures.js';
import { toCharge } from '../llm/llm-price.js';
import { toLlmFailure, type ModelClients } from '../llm/model-clients.js';
import { toModelParameters } from '../llm/model-parameters.js';
import { toIdempotencyKey } from '../../node/idempotency-key.js';
import { persist } from '../../node/record-node.js';
import type { RunContexts } from '../../node/run-context.js';
import type { NodeDeps, NodeOutcome, NodeStep, NodeTask } from '../../node/node-step.js';

/** The facts that the run workflow gets: ids and durations only. */
export interface TurnFacts {
  next: 'final' | 'tools';
  /** Ids of the approval requests that the turn's tool calls wait for. */
  approvals: string[];
  /** Time until the approval requests expire. */
  waitMs: number;
}

export interface AgentDeps extends AgentSessionDeps {
  contexts: RunContexts;
  providers: ModelProviders;
  clients: ModelClients;
  node: NodeDeps;
}

/** Of one model call, where the node does not say its own `retry`. */
const MODEL_RETRIES: RetryPolicy = { maxAttempts: 5, delayMs: (attempt) => 500 * 2 ** (attempt - 1) };
/** A model's answer with more tool calls fails the agent. */
export const MAX_TOOL_CALLS = 128;
const NOTHING: TurnFacts = { next: 'final', approvals: [], waitMs: 0 };

export function createTurnStep(deps: AgentDeps, { turn }: TurnKey): NodeStep<TurnFacts> {
  return {
    ...agentStepFrame(deps),
    name: `${turn}`,
    settled: () => NOTHING,
    async perform(task, end) {
      const data = agentNode.schema.parse(task.node.data);
      const key = { ...task, turn };
      let said = await findTurns(deps.db, key);
      if (said.length <= turn) {
        await takeTurn(deps, task, data, turn, said);
        said = await findTurns(deps.db, key);
      }
      const calls = await findToolCalls(deps.db, key);
      const current = said[turn]!;
      if (!current.isFinal) return waitFor(calls.filter((call) => call.turn === turn));
      await end(await toOutcome(deps, task, said, calls));
      return NOTHING;
    },
  };
}

/** What the steps of an agent have in common: the ledger counts attempts, and costs add up over the steps. */
export function agentStepFrame(deps: AgentDeps): Omit<NodeStep<never>, 'settled' | 'perform'> {
  return {
    maxAttempts: Number.POSITIVE_INFINITY,
    firstDelayMs: 500,
    attemptOf: () => 1,
    chargeSoFar: (task) => chargeOf(deps, task),
    store: (end) => recordAgentEnd(deps.db, end),
  };
}

async function chargeOf({ db, providers }: AgentDeps, task: NodeTask): Promise<Charge> {
  const amountUsd = await sumCallPrices(db, task);
  const modelName = (task.node.data['settings'] as { model_name?: string } | undefined)?.model_name ?? '';
  return { amountUsd, priceVersion: findModel(providers, modelName)?.priceVersion ?? '', reason: '', usage: null };
}

async function takeTurn(
  deps: AgentDeps,
  task: NodeTask,
  data: AgentNodeData,
  turn: number,
  turns: StoredTurn[],
): Promise<void> {
  const { max_iterations } = data.settings;
  if (turn >= max_iterations) {
    throw new NodeFailure('max_iterations', `The agent had no answer after ${max_iterations} model calls.`);
  }
  const scope = await deps.contexts.loadScope(task, pickTemplates(data));
  const tools = await loadTools(deps, task, data, scope);
  const messages = toMessages(data, scope, turns, await findToolCalls(deps.db, task), deps.secretBox);
  const body = toBody(data, scope, messages, tools);
  const model = findModel(deps.providers, body.model);
  if (model === undefined) throw new NodeFailure('model_not_found', `No provider serves the model "${body.model}".`);
  const answer = await askModel(deps, task, { turn, body, model, timeoutMs: data.settings.timeout * 1000 });
  const charge = toCharge(answer?.usage, model);
  const message = readMessage(answer);
  if (message === undefined) {
    // The call has to be paid for although it is unusable. The ledger stores its cost, and the node's transaction adds
    // it up.
    await persist(deps.node, task, () => savePaidCall(deps.db, { ...task, turn }, toPaid(charge)));
    throw new NodeFailure('invalid_response', 'The provider answered without a message that can be used.');
  }
  const toolCalls = (message.tool_calls ?? []).map((call) => toToolCall(deps, task, data, tools, call));
  const isFinal = toolCalls.length === 0;
  const saved = {
    ...task,
    turn,
    nodeLabel: task.node.label,
    isFinal,
    messageEnc: deps.secretBox.seal(JSON.stringify(message), 'agent'),
    ...toPaid(charge),
    toolCalls,
  };
  await persist(deps.node, task, () => saveTurn(deps.db, saved));
}

type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

interface ModelCall {
  turn: number;
  body: Body;
  model: ResolvedModel;
  timeoutMs: number;
}

async function askModel(deps: AgentDeps, task: NodeTask, call: ModelCall): Promise<OpenAI.Chat.ChatCompletion> {
  const { turn, body, model, timeoutMs } = call;
  const key = { runId: task.runId, path: task.path, nodeId: task.nodeId, turn, ordinal: 0 };
  const client = await deps.clients.forProject(task.run.projectId, model.provider);
  // The name may hold a variable, and with it a secret.
  const called = { provider: model.provider.name, model: task.run.masker.text(body.model) };
  const claim = await claimCall(deps.db, { ...key, ...called, repeatsAfterCrash: 1 });
  if (!claim.isAllowed) {
    throw new NodeFailure('outcome_unknown', 'A model call was in flight twice when its worker died; it is given up.');
  }
  const headers = { 'idempotency-key': toIdempotencyKey(task, turn) };
  const answer = await client
    .complete(body, { signal: task.signal, timeoutMs, headers })
    .catch(async (error: unknown) => {
      if (task.signal.aborted) throw error;
      const failure = toLlmFailure(error, client.masker);
      await markCallRefused(deps.db, key);
      const { maxAttempts, delayMs } = retryPolicyOf(task.node.data, MODEL_RETRIES);
      if (claim.attempts < maxAttempts) throw failure.withDelay(delayMs(claim.attempts));
      throw failure.asFinal();
    });
  client.countTokens(answer?.usage);
  return client.masker.json(answer);
}

function toBody(data: AgentNodeData, scope: Scope, messages: Body['messages'], tools: AgentTool[]): Body {
  const offered = tools.length === 0 ? {} : { tools: toModelTools(tools) };
  const model = renderText(data.settings.model_name, scope);
  return { ...toModelParameters(data.settings, scope), ...offered, model, messages, stream: false };
}

function toPaid({ usage, amountUsd }: Charge): { usage: string | null; priceUsd: string } {
  return { usage, priceUsd: amountUsd };
}

/** A tool call without an id cannot be answered, and an id with a NUL cannot be stored. */
function isUsable(call: OpenAI.Chat.ChatCompletionMessageToolCall): boolean {
  if (typeof call?.id !== 'string' || call.id === '' || call.id.includes('\0')) return false;
  if (call.type !== 'function') return true;
  return typeof call.function?.name === 'string' && typeof call.function.arguments === 'string';
}

/**
 * Keeps only what later turns send back to the model. Undefined for a message with which the conversation cannot
 * continue.
 */
function readMessage(answer: OpenAI.Chat.ChatCompletion): AssistantMessage | undefined {
  const message = answer?.choices?.[0]?.message;
  if (message === undefined || message === null) return undefined;
  if (!(message.tool_calls ?? []).every(isUsable)) return undefined;
  const calls = (message.tool_calls ?? []).flatMap((call) =>
    call.type === 'function' ? [{ id: call.id, type: call.type, function: call.function }] : [],
  );
  if (calls.length > MAX_TOOL_CALLS) return undefined;
  const content = message.content ?? null;
  return { role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
}

function toToolCall(
  deps: AgentDeps,
  task: NodeTask,
  data: AgentNodeData,
  tools: AgentTool[],
  call: NonNullable<AssistantMessage['tool_calls']>[number],
): NewToolCall {
  const seal = (text: string) => deps.secretBox.seal(text, 'agent');
  const tool = tools.find(({ name }) => name === call.function.name);
  const given = parseArguments(call.function.arguments);
  const base = {
    toolCallId: call.id,
    serverLabel: tool?.serverLabel ?? null,
    toolName: (tool?.toolName ?? call.function.name.slice(0, 200)).replaceAll('\0', '\uFFFD'),
    argumentsEnc: seal(call.function.arguments),
    invalidEnc: null,
    approval: null,
  };
  if (tool === undefined) return { ...base, invalidEnc: seal('There is no tool of this name.') };
  if (given === undefined) return { ...base, invalidEnc: seal('The arguments are not a JSON object.') };
  if (!tool.needsApproval) return base;
  const shownArguments = writeJson(task.run.masker.json(given));
  const expiresInSeconds = data.settings.approval_timeout;
  return { ...base, approval: { requestId: randomUUID(), shownArguments, expiresInSeconds } };
}

/** Undefined for anything but a JSON object. Some models send an empty text for an empty object. */
export function parseArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function pickTemplates({ messages, settings, tools }: AgentNodeData): unknown {
  return { messages, settings, headers: tools.map(({ headers }) => headers) };
}

function waitFor(calls: StoredToolCall[]): TurnFacts {
  const asked = calls.filter(({ requestId }) => requestId !== null);
  const waits = asked.map(({ waitMs }) => Math.ceil(waitMs ?? 0));
  return { next: 'tools', approvals: asked.map(({ requestId }) => requestId!), waitMs: Math.max(0, ...waits) };
}

async function toOutcome(
  deps: AgentDeps,
  task: NodeTask,
  turns: StoredTurn[],
  calls: StoredToolCall[],
): Promise<NodeOutcome> {
  const last = JSON.parse(deps.secretBox.open(turns.at(-1)!.messageEnc, 'agent')) as AssistantMessage;
  const steps = turns.map(({ turn }) => ({
    iteration: turn + 1,
    tool_calls: calls
      .filter((call) => call.turn === turn)
      .map(({ serverLabel, toolName, outcome }) => ({ server_label: serverLabel, tool_name: toolName, outcome })),
  }));
  const total = (name: string) =>
    turns.reduce((sum, { usage }) => sum + (typeof usage?.[name] === 'number' ? usage[name] : 0), 0);
  const usage = {
    prompt_tokens: total('prompt_tokens'),
    completion_tokens: total('completion_tokens'),
    total_tokens: total('total_tokens'),
  };
  return { output: { content: last.content ?? '', steps, usage }, charge: await chargeOf(deps, task) };
}
