// Makes one tool call of an agent: to an MCP server, to an action of a service, or as a run of a workflow.
import { CALL_NAME } from '../../../contract/assistant-call.js';
import type { StoredToolCall } from '../../../db/agents/agent-repository.js';
import type { JsonObject } from '../../../graph/json.js';
import { retryPolicyOf } from '../../../graph/nodes/every-node.js';
import { readArguments } from '../../../graph/tool-arguments.js';
import { cutText } from '../../../graph/cut-text.js';
import { McpError } from '../../../outgoing/mcp-client.js';
import type { McpToolResult } from '../../../outgoing/mcp-types.js';
import { NodeFailure } from '../../node/failures.js';
import type { NodeTask } from '../../node/node-step.js';
import { messageBytes } from '../../node/payload-weight.js';
import { withMarkedNumbers } from '../marked-numbers.js';
import { toMcpFailure } from '../mcp/mcp-failure.js';
import { storeResultFiles, type ResultParts } from '../mcp/result-files.js';
import { linkIn, structuredText } from '../mcp/result-words.js';
import { ACTION_LABEL_PREFIX } from '../../../graph/nodes/agent.js';
import { callAction } from './call-action.js';
import { AGENT_RETRIES } from './connect-attempts.js';
import type { Answer, ToolWork } from './tool-work.js';
import { failedAnswer, openToolClaim, sentBy, type Outcome } from './tool-claim.js';
import { withToolServer } from './tool-servers.js';
import { withFiles } from './answer-files.js';
import type { AgentDeps } from './agent-step.js';
import { NO_SERVER, runTool, withMemory, type OpenToolRun } from './workflow-tools.js';

/** A longer answer is cut before the model gets it. */
const MAX_ANSWER_CHARACTERS = 1_000_000;
/** Failures of a run that is a tool call, which the model can work around. */
const OF_RUNS = new Set(['child_failed', 'too_deep', 'workflow_not_found']);

/** Returns the answer, or the run that must end before there is one. */
export function callTool(deps: AgentDeps, task: NodeTask, work: ToolWork): Promise<Answer | OpenToolRun> {
  const { call, workflows, actions, data } = work;
  // The arguments are those that the approval request shows (masked), or those with which a person has replaced them,
  // so that the call is exactly the approved one. Nothing changes the arguments after the request is settled.
  const { parsed } = readArguments(openArguments(deps, task, work));
  if (parsed === undefined) throw new Error('a tool call without arguments');
  const action =
    call.serverLabel?.startsWith(ACTION_LABEL_PREFIX) === true
      ? data.tools[actions.get(call.toolName) ?? -1]
      : undefined;
  if (action?.type === 'action') return callAction(deps, task, work, { tool: action, given: parsed });
  if (call.serverLabel !== NO_SERVER) return callServer(deps, task, work, parsed);
  const workflowId = workflows.get(call.toolName);
  if (workflowId === undefined) throw new Error('a call of a workflow that is no tool');
  return callWorkflow(deps, task, { ...call, workflowId }, parsed);
}

function openArguments({ secretBox }: AgentDeps, { runId, path, nodeId }: NodeTask, { call, turn }: ToolWork): string {
  const { editedEnc, requestId, argumentsEnc, ordinal } = call;
  if (editedEnc !== null && requestId !== null) return secretBox.open(editedEnc, 'agent-edit', requestId);
  return secretBox.open(argumentsEnc, 'agent-arguments', runId, path, nodeId, turn, ordinal);
}

async function callWorkflow(
  deps: AgentDeps,
  task: NodeTask,
  call: StoredToolCall & { workflowId: number },
  parsed: JsonObject,
): Promise<Answer | OpenToolRun> {
  try {
    const ended = await withMemory(task, () => runTool(deps, task, call, parsed));
    return typeof ended === 'string' ? { outcome: 'result', text: toText([ended]) } : ended;
  } catch (error) {
    if (!(error instanceof NodeFailure) || !OF_RUNS.has(error.code)) throw error;
    return { outcome: 'tool_error', text: error.message };
  }
}

async function callServer(
  deps: AgentDeps,
  task: NodeTask,
  { data, values, turn, call }: ToolWork,
  parsed: JsonObject,
): Promise<Answer> {
  const server = data.tools.find((tool) => tool.type === 'mcp' && tool.server_label === call.serverLabel);
  if (server?.type !== 'mcp' || call.serverLabel === null) throw new Error('a tool call without a server');
  const claim = await openToolClaim(deps, task, { turn, call, mayRepeat: data.settings.retry_unsafe });
  try {
    const timeoutMs = data.settings.timeout * 1000;
    const { signal, memory } = task;
    const result = await withToolServer(deps, task, { tool: server, values }, (session) => {
      const send = () =>
        session.callTool(call.toolName, withMarkedNumbers(parsed), {
          timeoutMs,
          signal,
          reserve: (size) => memory.resize(messageBytes(size)),
          ...(task.run.isAssistant && { meta: { [CALL_NAME]: `${turn}.${call.ordinal}` } }),
        });
      return claim.send(send, isUnsent);
    });
    const parts = await storeResultFiles(deps.files, task, result, call.toolName);
    return { ...toAnswer(result, parts), ...sentBy(claim) };
  } catch (error) {
    const failure = failureOf(error);
    if (task.signal.aborted || failure === undefined) throw error;
    const { maxAttempts, delayMs } = retryPolicyOf(task.node.data, AGENT_RETRIES);
    const made = await claim.countFailure();
    if (failure.isRetryable && made < maxAttempts) throw failure.withDelay(delayMs(made));
    return failedAnswer(claim, failure);
  }
}

function isUnsent(outcome: Outcome<unknown>): boolean {
  return 'error' in outcome && outcome.error instanceof McpError && outcome.error.isBeforeSend;
}

/**
 * Returns undefined for an error that the model cannot work around; the caller rethrows it. A retryable `NodeFailure`
 * comes from the token endpoint, before anything was sent.
 */
function failureOf(error: unknown): NodeFailure | undefined {
  if (error instanceof McpError) return toMcpFailure(error, { mayRepeat: false, hasConnection: false });
  return error instanceof NodeFailure && error.isRetryable ? error : undefined;
}

/** Joins the texts, the links, the structured data and the files. Other parts are mentioned by type only. */
function toAnswer(result: McpToolResult, { text, files, others }: ResultParts): Answer {
  const links = others.flatMap((part) => linkIn(part) ?? []);
  const unknown = others.filter((part) => linkIn(part) === undefined);
  const kinds = unknown.map((part) => String((part as { type?: unknown }).type));
  const omitted = kinds.length > 0 ? `[${kinds.join(', ')} omitted]` : '';
  const joined = toText([text, ...links, structuredText(result), omitted], files.length > 0);
  return { outcome: result.isError ? 'tool_error' : 'result', text: withFiles(joined, files) };
}

function toText(parts: string[], hasMore = false): string {
  return cutText(parts.filter(Boolean).join('\n'), MAX_ANSWER_CHARACTERS) || (hasMore ? '' : '(no content)');
}
