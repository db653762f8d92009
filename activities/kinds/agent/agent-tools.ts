// The concurrent tool calls of one turn. Calls that were approved or need no approval are made, each once. For every
// other call the model is given the reason why it was not made.
import {
  findToolCalls,
  saveToolAnswer,
  type StoredToolCall,
  type TurnKey,
} from '../../../db/agents/agent-repository.js';
import { expireRequests } from '../../../db/agents/approvals-repository.js';
import { claimCall, markCallRefused } from '../../../db/nodes/provider-calls-repository.js';
import type { ToolOutcome } from '../../../db/core/tables.js';
import { agentNode, type AgentNodeData } from '../../../graph/nodes/agent.js';
import { retryPolicyOf, type RetryPolicy } from '../../../graph/nodes/every-node.js';
import type { Scope } from '../../../graph/template.js';
import { McpError } from '../../../outgoing/mcp-client.js';
import type { McpToolResult } from '../../../outgoing/mcp-types.js';
import { toServer } from './agent-session.js';
import { agentStepFrame, pickTemplates, type AgentDeps } from './agent-step.js';
import { parseArguments } from './tool-request.js';
import { NodeFailure } from '../../node/failures.js';
import { withMarkedNumbers } from '../marked-numbers.js';
import { toMcpFailure } from '../mcp/mcp-failure.js';
import { persist } from '../../node/record-node.js';
import type { NodeStep, NodeTask } from '../../node/node-step.js';

const MAX_CONNECT_ATTEMPTS = 4;
/** Where the node does not say its own `retry`. */
const CONNECT_RETRIES: RetryPolicy = {
  maxAttempts: MAX_CONNECT_ATTEMPTS,
  delayMs: (attempt) => 500 * 2 ** (attempt - 1),
};
export const CALLS_AT_ONCE = 8;
/** A longer answer is cut before the model sees it. */
const MAX_ANSWER_CHARACTERS = 1_000_000;

export function createToolsStep(deps: AgentDeps, { turn }: TurnKey): NodeStep<void> {
  return {
    ...agentStepFrame(deps),
    name: `${turn}/tools`,
    settled: () => undefined,
    async perform(task) {
      const data = agentNode.schema.parse(task.node.data);
      // The run has every answer or has waited long enough. No request may stay open, even if a signal arrives late.
      await expireRequests(deps.db, { ...task, turn });
      const calls = (await findToolCalls(deps.db, task)).filter((call) => call.turn === turn);
      failOnRejection(data, calls);
      const scope = await deps.contexts.loadScope(task, pickTemplates(data));
      const open = calls.filter(({ outcome }) => outcome === null).values();
      const failures: unknown[] = [];
      // Every call settles before the step does, so that no call stays in flight.
      const work = async () => {
        for (const call of open) {
          await answerCall(deps, task, { data, scope, turn, call }).catch((error: unknown) => failures.push(error));
        }
      };
      await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
      if (failures.length > 0) throw failures.find((error) => !isRetryable(error)) ?? failures[0];
    },
  };
}

const isRetryable = (error: unknown) => error instanceof NodeFailure && error.isRetryable;

function failOnRejection({ settings }: AgentNodeData, calls: StoredToolCall[]): void {
  if (settings.on_reject !== 'fail') return;
  const refused = calls.find(({ approval }) => approval === 'rejected' || approval === 'expired');
  if (refused === undefined) return;
  const why = refused.approval === 'expired' ? 'was not approved in time' : 'was rejected';
  const reason = refused.reason ? `: ${refused.reason}` : '.';
  throw new NodeFailure(`approval_${refused.approval}`, `The call of ${refused.toolName} ${why}${reason}`);
}

interface ToolWork {
  data: AgentNodeData;
  scope: Scope;
  turn: number;
  call: StoredToolCall;
}

interface Answer {
  outcome: ToolOutcome;
  text: string;
  wasCalled: boolean;
}

async function answerCall(deps: AgentDeps, task: NodeTask, work: ToolWork): Promise<void> {
  const { outcome, text, wasCalled } = refusalOf(work.call) ?? (await callTool(deps, task, work));
  const answerEnc = deps.secretBox.seal(toldOfEdit(deps, work.call, text), 'agent');
  const key = { runId: task.runId, path: task.path, nodeId: task.nodeId, turn: work.turn, ordinal: work.call.ordinal };
  await persist(deps.node, task, () => saveToolAnswer(deps.db, key, { outcome, answerEnc, wasCalled }));
}

function refusalOf({ approval, reason }: StoredToolCall): Answer | undefined {
  if (approval === 'rejected') {
    const why = reason ? ` The reason given: ${reason}` : '';
    return { outcome: 'rejected', text: `The user rejected this call; it was not made.${why}`, wasCalled: false };
  }
  if (approval !== 'expired') return undefined;
  return { outcome: 'expired', text: 'This call was not approved in time; it was not made.', wasCalled: false };
}

/** The model knows only what it asked for. */
function toldOfEdit({ secretBox }: AgentDeps, { editedEnc, approval }: StoredToolCall, text: string): string {
  if (editedEnc === null || approval !== 'approved') return text;
  const edited = secretBox.open(editedEnc, 'agent');
  return `A person has changed the arguments of this call to: ${edited}\n${text}`;
}

async function callTool(deps: AgentDeps, task: NodeTask, { data, scope, turn, call }: ToolWork): Promise<Answer> {
  const server = data.tools.find(({ server_label }) => server_label === call.serverLabel);
  // The arguments come from the row that the approval shows, so that the call is exactly what was approved. Nobody changes
  // them once the request is settled.
  const given = parseArguments(deps.secretBox.open(call.editedEnc ?? call.argumentsEnc, 'agent'));
  if (server === undefined || given === undefined) throw new Error('a tool call without server or arguments');
  const key = { runId: task.runId, path: task.path, nodeId: task.nodeId, turn, ordinal: call.ordinal + 1 };
  const claim = await claimCall(deps.db, {
    ...key,
    provider: call.serverLabel,
    model: call.toolName,
    repeatsAfterCrash: data.settings.retry_unsafe ? MAX_CONNECT_ATTEMPTS : 0,
  });
  if (!claim.isAllowed) {
    throw new NodeFailure(
      'outcome_unknown',
      `The call of ${call.toolName} was on its way when its worker died; whether it was carried out is unknown.`,
    );
  }
  try {
    const timeoutMs = data.settings.timeout * 1000;
    const { runId, signal } = task;
    const result = await deps.sessions.use(runId, toServer(server, scope), signal, (session) =>
      session.callTool(call.toolName, withMarkedNumbers(given), { timeoutMs, signal }),
    );
    return toAnswer(result);
  } catch (error) {
    if (task.signal.aborted || !(error instanceof McpError)) throw error;
    if (error.isBeforeSend) await markCallRefused(deps.db, key);
    const failure = toMcpFailure(error, { mayRepeat: false });
    const { maxAttempts, delayMs } = retryPolicyOf(task.node.data, CONNECT_RETRIES);
    if (failure.isRetryable && claim.attempts < maxAttempts) throw failure.withDelay(delayMs(claim.attempts));
    // The model can work around an unreachable or broken server.
    const fate = error.isBeforeSend ? 'it was not made' : 'whether it was carried out is unknown';
    return {
      outcome: 'tool_error',
      text: `The call failed (${error.message}); ${fate}.`,
      wasCalled: !error.isBeforeSend,
    };
  }
}

/** Returns the text parts, or else the structured content. Of other parts, such as pictures, only the type is named. */
function toAnswer({ content, structuredContent, isError, parts }: McpToolResult): Answer {
  const kinds = parts.map((part) => (part as { type?: unknown }).type).filter((type) => type !== 'text');
  const omitted = kinds.length > 0 ? `[${kinds.map(String).join(', ')} omitted]` : '';
  const structured = content === '' && structuredContent !== undefined ? JSON.stringify(structuredContent) : '';
  const text = [content, structured, omitted].filter(Boolean).join('\n').slice(0, MAX_ANSWER_CHARACTERS);
  return { outcome: isError ? 'tool_error' : 'result', text: text || '(no content)', wasCalled: true };
}
