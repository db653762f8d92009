// Workflows as tools of an agent. Each call is a run whose input is the call's arguments and whose output is the answer
// (docs/use/nodes.md, "Agents").
import type { ChildToStart } from '../../../contract/activities.js';
import type { AgentTool } from '../../../db/agents/agent-tools.js';
import { endChildWait, type EndedChild } from '../../../db/runs/child-runs-repository.js';
import type { StoredToolCall } from '../../../db/agents/agent-repository.js';
import { toolCallNumber } from '../../../db/agents/tool-call-number.js';
import { toInputSchema } from '../../../graph/input-schema.js';
import { inputFieldsOf } from '../../../graph/input.js';
import type { JsonObject } from '../../../graph/json.js';
import type { WorkflowTool } from '../../../graph/nodes/agent.js';
import { NodeFailure } from '../../node/failures.js';
import type { NodeTask } from '../../node/node-step.js';
import { ensureChild, loadDrawing, readChildOutput, toChildToStart, toContent, type ChildDeps } from '../child-run.js';

/** The `server_label` of tool calls that run a workflow. No MCP server can have it. */
export const NO_SERVER = '';

/**
 * Does the work, and then restores the size of the node's memory lease. Nothing else may reserve memory for the node
 * meanwhile, because that memory would be released, too.
 */
export async function withMemory<Result>({ memory }: NodeTask, work: () => Promise<Result>): Promise<Result> {
  const before = memory.bytes;
  try {
    return await work();
  } finally {
    await memory.resize(before);
  }
}

/** Throws `workflow_not_found` if the project has no such workflow. */
export async function findWorkflowTool(
  { db }: Pick<ChildDeps, 'db'>,
  task: NodeTask,
  { workflow_id: workflowId, name, description, require_approval: approval }: WorkflowTool,
): Promise<AgentTool> {
  const { title, document } = await loadDrawing(db, task, workflowId);
  const shown = task.run.masker.text(title);
  return {
    name: name ?? shown,
    serverLabel: NO_SERVER,
    toolName: name ?? shown,
    description: description ?? `Runs the workflow "${shown}" and returns what it puts out.`,
    parameters: toInputSchema(inputFieldsOf(document)),
    needsApproval: approval === 'always',
    workflowId,
  };
}

/** A run that was accepted for a tool call and has not ended. */
export interface OpenToolRun {
  child: ChildToStart;
  /** When the agent, even if nothing has woken it, asks if the run has ended, in milliseconds since the epoch. */
  untilMs: number;
}

/**
 * Accepts the run of a tool call, or finds the one that an earlier attempt has accepted. Returns the run while it is
 * open, and afterwards its output as text. Throws a `NodeFailure` if the run cannot be accepted, has failed or was
 * cancelled. The caller lets `budget_exceeded` fail the agent, so that its model does not repeat a call whose run a
 * limit of money has stopped.
 */
export async function runTool(
  deps: ChildDeps,
  task: NodeTask,
  { workflowId, ...place }: Pick<StoredToolCall, 'turn' | 'ordinal'> & { workflowId: number },
  given: JsonObject,
): Promise<OpenToolRun | string> {
  const call = toolCallNumber(place);
  const child = await ensureChild(deps, task, { workflowId, call, waits: true }, () => given);
  const ended = await endChildWait(deps.db, task, call);
  if (ended === undefined) return { child: toChildToStart(deps, child), untilMs: child.untilMs ?? 0 };
  if (ended.errorCode === 'budget_exceeded') throw budgetExceeded(ended);
  const { output } = await readChildOutput(deps, task, ended);
  return toContent(output);
}

function budgetExceeded({ runId, errorMessage }: EndedChild): NodeFailure {
  return new NodeFailure(
    'budget_exceeded',
    `A limit of money has stopped the run ${runId} of a tool: ${errorMessage ?? ''}`,
  );
}
