// Workflows as tools of an agent: each call is a run of its own, whose input is the call's arguments and whose output is the
// answer (docs/use/nodes.md, "Agents").
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

/** The `server_label` of calls of workflows: no MCP server has it. */
export const NO_SERVER = '';

/** Gives back the memory that the work has asked for. A node asks for memory in one place at a time. */
export async function withMemory<Result>({ memory }: NodeTask, work: () => Promise<Result>): Promise<Result> {
  const before = memory.bytes;
  try {
    return await work();
  } finally {
    await memory.resize(before);
  }
}

/** Throws `workflow_not_found` where the project has no such workflow. */
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

/** The run of a tool call that has not ended. */
export interface OpenToolRun {
  child: ChildToStart;
  /** How long the agent waits for it, in milliseconds since the epoch. */
  untilMs: number;
}

/**
 * Starts the run of a tool call, or finds it. Returns the run while it is open, and then what it has put out, as a text.
 * Throws a `NodeFailure` where it cannot run, has failed or was cancelled: `budget_exceeded` where a limit of money has stopped
 * it, which ends the agent, so that its model does not call the tool again and again.
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
