// Makes one model call of an agent, and another one if a final answer does not have its form. Records each message of
// the model together with the requested tool calls and their approvals. docs/adr/0009-agents-as-durable-steps.md
// describes the loop.
import type { TurnFacts } from '../../../contract/activities.js';
import {
  findCallsOfTurn,
  findToolCalls,
  findTurns,
  measureConversation,
  saveTurn,
  type AnsweredToolCall,
  type StoredToolCall,
  type StoredTurn,
  type TurnKey,
} from '../../../db/agents/agent-repository.js';
import { savePaidCall } from '../../../db/agents/agent-charges.js';
import { findLeftOutTools } from '../../../db/agents/agent-tools.js';
import { findModel } from '../../../config/model-providers.js';
import { agentNode, type AgentNodeData } from '../../../graph/nodes/agent.js';
import { retryPolicyOf, type RetryPolicy } from '../../../graph/nodes/every-node.js';
import { toAnswerForm, type AnswerForm } from '../../../graph/response-format.js';
import { textOfContent } from '../../../graph/message-text.js';
import { writeJson } from '../../../graph/json-text.js';
import { renderJson, renderText, type VariableValues } from '../../../graph/template.js';
import { NodeFailure } from '../../node/failures.js';
import type { NodeOutcome, NodeStep, NodeTask } from '../../node/node-step.js';
import { persist } from '../../node/record.js';
import { refuseInCase } from '../refuse-in-case.js';
import { checkReply, notOfForm, toCorrection, type Checking } from '../llm/answer-form.js';
import { askModel, type Body } from '../llm/ask-model.js';
import { ledgerCharge } from '../llm/ledger-charge.js';
import { toModelMessages } from '../llm/message-files.js';
import { toModelParameters } from '../llm/model-parameters.js';
import { sumUsage } from '../llm/model-reply.js';
import { refusalOf, withoutCalls, type AssistantMessage } from '../llm/provider-message.js';
import { filesOfAnswers } from './answer-files.js';
import { openMessage, toMessages } from './agent-messages.js';
import { loadTools, maxCostOf, toModelTools } from './load-tools.js';
import { toResultSteps } from './agent-steps.js';
import { agentStepFrame, pickTemplates, type AgentDeps } from './agent-step.js';
import { readMessage } from './assistant-message.js';
import { toToolCall } from './tool-request.js';

/** The retry policy of model calls of nodes without a `retry` of their own. */
const MODEL_RETRIES: RetryPolicy = { maxAttempts: 5, delayMs: (attempt) => 500 * 2 ** (attempt - 1) };

/** Bytes of memory per byte of the conversation: as PostgreSQL sends it, its texts, and the body of the model call. */
const CONVERSATION_FACTOR = 7;

/** Undefined after the final answer. */
export type OpenTurn = Omit<TurnFacts, 'final'> | undefined;

interface Agent {
  task: NodeTask;
  data: AgentNodeData;
  values: VariableValues;
  /** The form of the final answer; undefined if any text will do. */
  form: AnswerForm | undefined;
}

export function createTurnStep(deps: AgentDeps, { turn }: TurnKey): NodeStep<OpenTurn> {
  return {
    ...agentStepFrame(deps),
    name: `${turn}`,
    factsOf: () => undefined,
    async run(task) {
      const agent = await prepareAgent(deps, task);
      await task.memory.resize(task.memory.bytes + CONVERSATION_FACTOR * (await measureConversation(deps.db, task)));
      let turns = await findTurns(deps.db, task);
      if (turns.length <= turn) turns = await makeTurn(deps, agent, turns);
      if (!turns[turn]!.isFinal) {
        const open = waitFor(await findCallsOfTurn(deps.db, { ...task, turn }));
        if (open.approvals.length > 0) refuseInCase(task);
        return { facts: open };
      }
      const answer = await answerOf(deps, agent, turn, turns);
      return toOutcome(deps, agent, await findToolCalls(deps.db, task), answer);
    },
  };
}

async function prepareAgent(deps: AgentDeps, task: NodeTask): Promise<Agent> {
  const data = agentNode.schema.parse(task.node.data);
  const values = await deps.contexts.loadValues(task, pickTemplates(data));
  const form = toAnswerForm(renderJson(data.settings.response_format, values));
  // Fails before the model call if the answer could not be checked.
  if (form !== undefined) await deps.forms.prepare(form, { projectId: task.run.projectId, signal: task.signal });
  return { task, data, values, form };
}

interface FinalAnswer {
  turns: StoredTurn[];
  message: AssistantMessage;
  /** Defined if the answer must have a form. */
  json?: unknown;
}

/**
 * Returns the final answer. If the answer does not have the form, the model is asked once more, unless it refused to
 * answer. The second call is stored together with its price, like every model call, so an attempt after a crash
 * continues after that call. Throws `invalid_output` if no answer has the form.
 */
async function answerOf(deps: AgentDeps, agent: Agent, turn: number, turns: StoredTurn[]): Promise<FinalAnswer> {
  const { form, task } = agent;
  const unsealDeps = { secretBox: deps.secretBox, agent: task };
  const message = openMessage(turns[turn]!, unsealDeps);
  if (form === undefined) return { turns, message };
  const checking: Checking = { forms: deps.forms, form, projectId: task.run.projectId, signal: task.signal };
  const checked = await checkReply(toReply(message), checking);
  if ('json' in checked) return { turns, message, json: checked.json };
  if (refusalOf(message) !== null) throw notOfForm(checked.problem);
  const all =
    turns.length > turn + 1
      ? turns
      : await makeTurn(deps, agent, turns, await toCorrection(toReply(message), checking));
  const repaired = openMessage(all[turn + 1]!, unsealDeps);
  const again = await checkReply(toReply(repaired), checking);
  if ('problem' in again) throw notOfForm(again.problem);
  return { turns: all, message: repaired, json: again.json };
}

function toReply(message: AssistantMessage) {
  return { content: textOfContent(message['content']) ?? '', refusal: refusalOf(message), finishReason: undefined };
}

/** Makes the next model call and returns all turns. After a correction, the last turn is the corrected answer. */
async function makeTurn(
  deps: AgentDeps,
  { task, data, values }: Agent,
  turns: StoredTurn[],
  correction?: string,
): Promise<StoredTurn[]> {
  const turn = turns.length;
  const { max_iterations: most } = data.settings;
  if (correction === undefined && turn >= most) {
    throw new NodeFailure('max_iterations', `The agent had no answer after ${most} model calls.`);
  }
  const tools = await loadTools(deps, task, data, values);
  const unsealDeps = { secretBox: deps.secretBox, agent: task };
  const modelName = renderText(data.settings.model_name, values);
  const model = findModel(deps.providers, modelName);
  if (model === undefined) throw new NodeFailure('model_not_found', `No provider serves the model "${modelName}".`);
  const heldBytes = task.memory.bytes;
  const nodeMessages = await toModelMessages(deps, task, { messages: data.messages, values, model, modelName });
  const messages = toMessages(nodeMessages, turns, await findToolCalls(deps.db, task), unsealDeps);
  if (correction !== undefined) messages.push({ role: 'user', content: correction });
  const parameters = { ...toModelParameters(data.settings, values), model: modelName };
  const body = toBody(parameters, messages, toModelTools(tools), correction !== undefined);
  const { answer, charge } = await askModel(deps, task, {
    turn,
    model,
    body,
    timeoutMs: data.settings.timeout * 1000,
    idempotencyTurn: turn,
    maxCostUsd: maxCostOf(data),
    retry: retryPolicyOf(task.node.data, MODEL_RETRIES),
  });
  await task.memory.resize(heldBytes);
  const read = readMessage(answer);
  if (read === undefined) {
    // The call must be paid for although its answer is unusable. The ledger stores its cost, and the
    // node's transaction contains the sum.
    await persist(deps.node, task, () => savePaidCall(deps.db, { ...task, ...charge.answered }, charge.answered));
    throw new NodeFailure('invalid_response', 'The provider answered without a message that can be used.');
  }
  const { message, calls: requested } = read;
  const asking = { secretBox: deps.secretBox, task, turn, settings: data.settings, tools };
  // After a correction the model must answer, so its tool calls are ignored.
  const toolCalls = correction === undefined ? requested.map((call, ordinal) => toToolCall(asking, call, ordinal)) : [];
  const stored = toolCalls.length > 0 ? message : withoutCalls(message);
  const saved = {
    ...task,
    ...charge.answered,
    nodeLabel: task.node.label,
    isFinal: toolCalls.length === 0,
    messageEnc: deps.secretBox.seal(writeJson(stored), 'agent-message', task.runId, task.path, task.nodeId, turn),
    toolCalls,
  };
  await persist(deps.node, task, () => saveTurn(deps.db, saved));
  return findTurns(deps.db, task);
}

function toBody(
  parameters: Record<string, unknown> & Pick<Body, 'model'>,
  messages: Body['messages'],
  tools: Body['tools'] & object,
  isCorrection: boolean,
): Body {
  const offered = tools.length === 0 ? {} : { tools, ...(isCorrection && { tool_choice: 'none' as const }) };
  return { ...parameters, ...offered, messages, stream: false };
}

function waitFor(calls: StoredToolCall[]): NonNullable<OpenTurn> {
  const requested = calls.filter(({ requestId }) => requestId !== null);
  const waits = requested.map(({ waitMs }) => Math.ceil(waitMs ?? 0));
  return { approvals: requested.map(({ requestId }) => requestId!), waitMs: Math.max(0, ...waits) };
}

async function toOutcome(
  deps: AgentDeps,
  { task }: Agent,
  calls: AnsweredToolCall[],
  { turns, message, json }: FinalAnswer,
): Promise<NodeOutcome> {
  const steps = toResultSteps(turns, calls, await findLeftOutTools(deps.db, deps.secretBox, task));
  const usage = sumUsage(turns.map((turn) => turn.usage));
  const files = await filesOfAnswers(deps, task, calls);
  const output = {
    content: textOfContent(message['content']) ?? '',
    steps,
    usage,
    ...(json !== undefined && { json }),
    ...(files.length > 0 && { files }),
  };
  return { output, charge: await ledgerCharge(deps, task) };
}
