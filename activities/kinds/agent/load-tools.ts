// The tools of an agent. The first turn lists and stores them, so that every later turn offers the same tools.
import type OpenAI from 'openai';
import { findTools, keepTools, type AgentTool, type LeftOutTool } from '../../../db/agents/agent-tools.js';
import { storeRefusedToolsOfRun } from '../../../db/agents/refused-tools-repository.js';
import type { Database } from '../../../db/core/client.js';
import type { SecretBox } from '../../../db/core/secret-box.js';
import { argumentsThatAsk, needsApproval, type AgentNodeData, type AgentServer } from '../../../graph/nodes/agent.js';
import type { VariableValues } from '../../../graph/template.js';
import { McpError } from '../../../outgoing/mcp-client.js';
import { MAX_REFUSED, readTools, toShownTools, type RefusedTool } from '../../../outgoing/mcp-tools.js';
import { splitLease } from '../../../memory/split-lease.js';
import { withMarkedNumbers } from '../marked-numbers.js';
import { toMcpFailure } from '../mcp/mcp-failure.js';
import { NodeFailure } from '../../node/failures.js';
import type { NodeTask } from '../../node/node-step.js';
import { messageBytes } from '../../node/payload-weight.js';
import { findActionTool } from './action-tools.js';
import { withinAttempts } from './connect-attempts.js';
import { withToolServer, type ToolServerDeps } from './tool-servers.js';
import { findWorkflowTool, withMemory } from './workflow-tools.js';

export interface LoadToolsDeps extends ToolServerDeps {
  db: Database;
  secretBox: SecretBox;
}

const MAX_TOOLS = 256;
const MAX_NAME = 64;

/**
 * Throws a `NodeFailure` if a server cannot list its tools, if a workflow no longer exists, or if an action did not
 * exist when the drawing was saved. Throws `ConnectionNeeded` if a server's connection needs a sign-in.
 */
export async function loadTools(
  deps: LoadToolsDeps,
  task: NodeTask,
  data: AgentNodeData,
  values: VariableValues,
): Promise<AgentTool[]> {
  const stored = await findTools(deps.db, deps.secretBox, task);
  if (stored !== undefined) return stored;
  const ofServers = await listOfServers(deps, task, data, values);
  const found: AgentTool[] = [];
  for (const [at, tool] of data.tools.entries()) {
    if (tool.type === 'mcp') found.push(...ofServers[at]!.tools);
    else if (tool.type === 'action') found.push(findActionTool(task, tool, at));
    else found.push(await withMemory(task, () => findWorkflowTool(deps, task, tool)));
  }
  const listed = ofServers.filter((server) => server !== undefined);
  await storeRefusedToolsOfRun(deps.db, task, new Map(listed.map(({ label, refused }) => [label, refused])));
  const beyond = found.slice(MAX_TOOLS, MAX_TOOLS + MAX_REFUSED).map(({ serverLabel, toolName }) => ({
    label: serverLabel,
    refused: toShown([{ name: toolName, reason: `An agent has at most ${MAX_TOOLS} tools.` }], task),
  }));
  return keepTools(deps.db, deps.secretBox, task, {
    tools: nameTools(found.slice(0, MAX_TOOLS)),
    leftOut: [...listed, ...beyond].flatMap(toLeftOut),
    maxCostUsd: maxCostOf(data),
  });
}

/**
 * Returns the tools of each MCP server at its index in `data.tools`. If a listing fails, aborts and awaits the others
 * before it throws.
 */
async function listOfServers(
  deps: LoadToolsDeps,
  task: NodeTask,
  data: AgentNodeData,
  values: VariableValues,
): Promise<(ServerTools | undefined)[]> {
  const failed = new AbortController();
  const signal = AbortSignal.any([task.signal, failed.signal]);
  const lease = splitLease(task.memory, signal);
  const listings = data.tools.map(async (tool) => {
    return tool.type === 'mcp'
      ? toolsOfServer(deps, { ...task, signal, memory: lease.part() }, tool, values)
      : undefined;
  });
  try {
    return await Promise.all(listings);
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled(listings);
    throw error;
  } finally {
    lease.close();
  }
}

interface ServerTools {
  label: string;
  tools: AgentTool[];
  refused: RefusedTool[];
}

function toLeftOut({ label, refused }: Pick<ServerTools, 'label' | 'refused'>): LeftOutTool[] {
  return refused.map(({ name, reason }) => ({ serverLabel: label, toolName: name, reason }));
}

/** Masks the names, which come from the server and are stored unsealed. The reasons are this service's own texts. */
function toShown(refused: RefusedTool[], { run }: NodeTask): RefusedTool[] {
  return toShownTools(refused, (text) => run.masker.text(text));
}

/** Returns the limit as a decimal in USD, or null if the agent has none. */
export function maxCostOf({ settings: { max_cost: maxCost } }: Pick<AgentNodeData, 'settings'>): string | null {
  return maxCost === undefined || maxCost === null ? null : String(maxCost);
}

async function toolsOfServer(
  deps: LoadToolsDeps,
  task: NodeTask,
  server: AgentServer,
  values: VariableValues,
): Promise<ServerTools> {
  const items = await listTools(deps, task, { tool: server, values });
  const { offered, refused } = readTools(items, server.allowed_tools);
  const policy = server.require_approval;
  const tools = offered.map(({ name, description, parameters }) => {
    const whenGiven = argumentsThatAsk(policy, name);
    return {
      name,
      serverLabel: server.server_label,
      toolName: name,
      description,
      parameters,
      needsApproval: needsApproval(policy, name),
      ...(whenGiven !== undefined && { whenGiven }),
    };
  });
  return { label: server.server_label, tools, refused: toShown(refused, task) };
}

export function toModelTools(tools: AgentTool[]): OpenAI.Chat.ChatCompletionFunctionTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters: withMarkedNumbers(parameters) },
  }));
}

async function listTools(
  deps: LoadToolsDeps,
  task: NodeTask,
  server: { tool: AgentServer; values: VariableValues },
): Promise<unknown[]> {
  const { signal, memory } = task;
  try {
    return await withToolServer(deps, task, server, (session) =>
      session.listTools(signal, (size) => memory.resize(messageBytes(size))),
    );
  } catch (error) {
    // Listing tools has no side effects, so it may always be retried.
    const failure =
      error instanceof McpError
        ? toMcpFailure(error, { mayRepeat: true, hasConnection: hasConnection(server.tool) })
        : error;
    throw failure instanceof NodeFailure ? await withinAttempts(deps.db, task, failure) : failure;
  }
}

function hasConnection({ connection }: AgentServer): boolean {
  return connection !== undefined && connection !== null;
}

/**
 * Leaves a tool its own name if that is unique. Otherwise adds its server's label as a prefix, or a number. Replaces
 * characters that providers refuse, and cuts the name at their limit. A workflow or an action has no name at a server,
 * so its `toolName` becomes the assigned name.
 */
function nameTools(found: AgentTool[]): AgentTool[] {
  const used = new Set<string>();
  const uses = new Map<string, number>();
  for (const { toolName } of found) uses.set(toolName, (uses.get(toolName) ?? 0) + 1);
  return found.map((tool) => {
    const { toolName, serverLabel, workflowId, toolIndex } = tool;
    const isOurs = workflowId !== undefined || toolIndex !== undefined;
    const isUnique = uses.get(toolName) === 1 || isOurs;
    const wanted = isUnique ? toolName : `${serverLabel}__${toolName}`;
    const base = wanted.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_NAME) || 'tool';
    let name = base;
    for (let suffix = 2; used.has(name); suffix++) name = `${base.slice(0, MAX_NAME - 5)}_${suffix}`;
    used.add(name);
    return { ...tool, name, ...(isOurs && { toolName: name }) };
  });
}
