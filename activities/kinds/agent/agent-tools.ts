// Executes the tool calls of one model message concurrently. Each call that is approved or needs no approval is carried
// out at most once, unless repeating it is allowed (`retry_unsafe`, or the method of an action). If a call was not
// approved, the model receives the reason, or the node fails (`on_reject`). A call of a workflow starts a run, and the
// step is repeated until that run has ended.
import PQueue from 'p-queue';
import type { ToolsFacts } from '../../../contract/activities.js';
import {
  findCallsOfTurn,
  saveToolAnswer,
  type StoredToolCall,
  type TurnKey,
} from '../../../db/agents/agent-repository.js';
import { findTools } from '../../../db/agents/agent-tools.js';
import { leaveStep } from '../../../db/nodes/node-results-repository.js';
import { expireRequests } from '../../../db/agents/approvals-repository.js';
import { NodeError } from '../../../graph/node-error.js';
import { agentNode, type AgentNodeData } from '../../../graph/nodes/agent.js';
import { splitLease } from '../../../memory/split-lease.js';
import { NodeFailure } from '../../node/failures.js';
import type { NodeStep, NodeTask } from '../../node/node-step.js';
import { persist } from '../../node/record.js';
import { agentStepFrame, pickTemplates, type AgentDeps } from './agent-step.js';
import { callTool } from './call-tool.js';
import type { Answer, ToolWork } from './tool-work.js';
import { NO_SERVER, type OpenToolRun } from './workflow-tools.js';

export const CALLS_AT_ONCE = 8;

export function createToolsStep(deps: AgentDeps, { turn }: TurnKey): NodeStep<ToolsFacts | undefined> {
  const name = `${turn}/tools`;
  return {
    ...agentStepFrame(deps),
    name,
    factsOf: () => undefined,
    async run(task) {
      const data = agentNode.schema.parse(task.node.data);
      // Every approval request is decided or overdue. The pending ones expire now, so that nobody decides one during
      // the calls.
      await expireRequests(deps.db, { ...task, turn });
      const calls = await findCallsOfTurn(deps.db, { ...task, turn });
      failOnRejection(data, calls);
      const values = await deps.contexts.loadValues(task, pickTemplates(data));
      const ours = await findOurs(deps, task, data);
      const open = calls.filter(({ outcome }) => outcome === null);
      const lease = splitLease(task.memory, task.signal);
      const failures: unknown[] = [];
      const runs: OpenToolRun[] = [];
      // Every call settles before the step ends, so that no call stays in flight.
      const answer = async (call: StoredToolCall): Promise<void> => {
        const memory = lease.part();
        try {
          const run = await answerCall(deps, { ...task, memory }, { data, values, ...ours, turn, call });
          if (run !== undefined) runs.push(run);
        } catch (error) {
          failures.push(error);
        } finally {
          memory.end();
        }
      };
      const servers = new PQueue({ concurrency: CALLS_AT_ONCE });
      // Starts workflows one after another, because each needs memory for a drawing and its run is accepted quickly.
      const starts = new PQueue({ concurrency: 1 });
      await Promise.all(open.map((call) => (isOfWorkflow(call) ? starts : servers).add(() => answer(call))));
      if (failures.length > 0) throw mostFinal(failures);
      if (runs.length > 0) await leaveStep(deps.db, task, name);
      return { facts: toFacts(runs) };
    },
  };
}

function isOfWorkflow({ serverLabel }: StoredToolCall): boolean {
  return serverLabel === NO_SERVER;
}

/** Returns the workflows and actions that are tools, by tool name. */
async function findOurs(
  { db, secretBox }: AgentDeps,
  task: NodeTask,
  data: AgentNodeData,
): Promise<Pick<ToolWork, 'workflows' | 'actions'>> {
  const hasOurs = data.tools.some(({ type }) => type !== 'mcp');
  const tools = hasOurs ? ((await findTools(db, secretBox, task)) ?? []) : [];
  return {
    workflows: new Map(tools.flatMap(({ name, workflowId }) => (workflowId === undefined ? [] : [[name, workflowId]]))),
    actions: new Map(tools.flatMap(({ name, toolIndex }) => (toolIndex === undefined ? [] : [[name, toolIndex]]))),
  };
}

function toFacts(runs: OpenToolRun[]): ToolsFacts | undefined {
  if (runs.length === 0) return undefined;
  return { runs: runs.map(({ child }) => child), untilMs: Math.max(...runs.map(({ untilMs }) => untilMs)) };
}

/**
 * Returns the failure with which the step ends. A final failure comes first, because a node that ends anyway need not
 * wait for a sign-in or an outage.
 */
export function mostFinal(failures: readonly unknown[]): unknown {
  const isRetryable = (error: unknown): boolean => error instanceof NodeFailure && error.isRetryable;
  const isFinal = (error: unknown): boolean => error instanceof NodeError && !isRetryable(error);
  return failures.find(isFinal) ?? failures.find((error) => !isRetryable(error)) ?? failures[0];
}

function failOnRejection({ settings }: AgentNodeData, calls: StoredToolCall[]): void {
  if (settings.on_reject !== 'fail') return;
  const refused = calls.find(({ approval }) => approval === 'rejected' || approval === 'expired');
  if (refused === undefined) return;
  const why = refused.approval === 'expired' ? 'was not approved in time' : 'was rejected';
  const reason = refused.reason ? `: ${refused.reason}` : '.';
  throw new NodeFailure(`approval_${refused.approval}`, `The call of ${refused.toolName} ${why}${reason}`);
}

/** Returns the run that the call waits for, or undefined once the call has its answer. */
async function answerCall(deps: AgentDeps, task: NodeTask, work: ToolWork): Promise<OpenToolRun | undefined> {
  const answer = refusalOf(work.call) ?? (await callTool(deps, task, work));
  if ('child' in answer) return answer;
  const { text, ...ended } = answer;
  const key = { runId: task.runId, path: task.path, nodeId: task.nodeId, turn: work.turn, ordinal: work.call.ordinal };
  const row = [key.runId, key.path, key.nodeId, key.turn, key.ordinal] as const;
  const answerEnc = deps.secretBox.seal(withEditNote(deps, work.call, text), 'agent-answer', ...row);
  await persist(deps.node, task, () => saveToolAnswer(deps.db, key, { ...ended, answerEnc }));
  return undefined;
}

function refusalOf({ approval, reason }: StoredToolCall): Answer | undefined {
  if (approval === 'rejected') {
    const why = reason ? ` The reason given: ${reason}` : '';
    return { outcome: 'rejected', text: `The user rejected this call; it was not made.${why}` };
  }
  if (approval !== 'expired') return undefined;
  return { outcome: 'expired', text: 'This call was not approved in time; it was not made.' };
}

/**
 * Adds a note to the answer if a person has changed the arguments, because the model
 * knows only those that it requested.
 */
function withEditNote(
  { secretBox }: AgentDeps,
  { editedEnc, requestId, approval }: StoredToolCall,
  text: string,
): string {
  if (editedEnc === null || requestId === null || approval !== 'approved') return text;
  const edited = secretBox.open(editedEnc, 'agent-edit', requestId);
  return `A person has changed the arguments of this call to: ${edited}\n${text}`;
}
