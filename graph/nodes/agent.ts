import { z } from 'zod';
import { isObject, ownValue, type JsonObject } from '../json.js';
import { responseFormatField } from '../response-format.js';
import { actionName, valuesField } from './http.js';
import type { NodeDefinition } from './node-definition.js';
import { placementFields } from './placement.js';
import {
  connectionField,
  connectionTimeoutField,
  DEFAULT_TIMEOUT_SECONDS,
  filesOutput,
  MAX_WAIT_SECONDS,
  MCP_TOOL_FORMAT,
  mcpServerFields,
  messagesField,
  modelFields,
  SECONDS_FORMAT,
} from './shared-fields.js';
import { calledWorkflow, workflowIdField } from './workflow.js';

const toolNamesSchema = z.looseObject({ tool_names: z.array(z.string().min(1)) });

const givenSchema = z.looseObject({
  tool_name: z.string().min(1),
  arguments: z.array(z.string().min(1)).min(1).max(20),
});

const policySchema = z
  .union([
    z.enum(['always', 'never']),
    z.looseObject({
      always: toolNamesSchema.optional(),
      never: toolNamesSchema.optional(),
      when_given: z
        .array(givenSchema)
        .max(100)
        .optional()
        .describe('Tools whose calls wait only if one of these arguments is there and not empty'),
    }),
  ])
  .default('always')
  .describe('The tools whose calls wait for a person. A tool in no list waits');

const serverSchema = z
  .looseObject({
    type: z.literal('mcp'),
    server_label: z
      .string()
      .min(1)
      .max(60)
      .describe('The name by which people know the server. No two servers of a node have the same'),
    ...mcpServerFields,
    allowed_tools: z
      .array(z.string().min(1))
      .nullish()
      .describe('The names of the tools that the agent may call. Without the list it may call all of them')
      .meta({ format: MCP_TOOL_FORMAT }),
    require_approval: policySchema,
  })
  .meta({ title: 'MCP server' });

function toolNameField(source: string) {
  return z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'Input should have 1 to 64 letters, digits, _ and -' })
    .nullish()
    .describe(`The name of the tool for the model. Empty: it is made from ${source}`);
}

function toolDescriptionField(source: string) {
  return z
    .string()
    .max(4_000)
    .nullish()
    .describe(`What the model reads about the tool. Empty: it is made from ${source}`);
}

/** A tool that is another workflow. Each call starts a run. */
const workflowToolSchema = z
  .looseObject({
    type: z.literal('workflow'),
    workflow_id: workflowIdField,
    name: toolNameField('the title of the workflow'),
    description: toolDescriptionField('the title of the workflow'),
    require_approval: z.enum(['always', 'never']).default('always').describe('`always`: each call waits for a person'),
  })
  .meta({ title: 'Workflow' });

/** A tool that is an action of a service: the model fills in the fields that are not in `values`. */
const actionToolSchema = z
  .looseObject({
    type: z.literal('action'),
    ...actionName,
    connection: connectionField,
    values: valuesField.describe('Fixed fields, which the model does not see. They may hold variables'),
    name: toolNameField('the title of the action'),
    description: toolDescriptionField('the title and the description of the action'),
    require_approval: z
      .enum(['always', 'never'])
      .nullish()
      .describe('`always`: each call waits for a person. Without it they wait if the action has side effects'),
  })
  .meta({ title: 'Action' });

const toolSchema = z.discriminatedUnion('type', [serverSchema, workflowToolSchema, actionToolSchema], {
  error: 'Input should have the type "mcp", "workflow" or "action"',
});

const MAX_COST_USD = 10 ** 12;
const WRONG_COST = `Input should be a decimal number of US dollars from 0 to ${MAX_COST_USD}`;

const maxCostSchema = z
  .union([z.number(), z.string()], { error: WRONG_COST })
  .refine((cost) => isAmount(cost), WRONG_COST)
  .nullish()
  .describe('In US dollars. Before a model call that could cost more in all, the node fails');

/** The limit may be text, because no double holds 18 decimals. */
function isAmount(cost: number | string): boolean {
  if (typeof cost === 'number') return cost >= 0 && cost <= MAX_COST_USD;
  return /^\d{1,12}(\.\d{1,18})?$/.test(cost);
}

const approvalSchema = z.looseObject({
  required: z
    .int()
    .min(1)
    .max(5)
    .default(1)
    .describe('How many people must approve a call. One rejection is enough to reject it'),
  exclude_starter: z.boolean().default(false).describe('The person who started the run may not decide'),
  roles: z
    .array(z.enum(['editor', 'admin', 'owner']))
    .min(1)
    .nullish()
    .describe('The roles in the project that may decide. Without the list all three may'),
});

const settingsSchema = z.looseObject({
  ...modelFields,
  response_format: responseFormatField,
  max_iterations: z.int().min(1).max(1000).default(20).describe('How often the agent may call the model'),
  max_cost: maxCostSchema,
  approval_timeout: z
    .number()
    .min(0.1)
    .max(MAX_WAIT_SECONDS)
    .default(DEFAULT_TIMEOUT_SECONDS)
    .describe('How long a call waits for a decision')
    .meta({ format: SECONDS_FORMAT }),
  approval: approvalSchema.nullish().describe('Who may approve a call, and how many people must'),
  on_reject: z
    .enum(['continue', 'fail'])
    .default('continue')
    .describe('`continue` tells the model of the rejection, `fail` fails the node')
    .meta({ labels: { continue: 'The model is told', fail: 'The node fails' } }),
  retry_unsafe: z.boolean().default(false).describe('A tool call may be made again if it was interrupted'),
  timeout: z
    .number()
    .min(1)
    .max(600)
    .default(300)
    .describe('How long one call of the model or of a tool may take')
    .meta({ format: SECONDS_FORMAT }),
  connection_timeout: connectionTimeoutField,
  ...placementFields,
});

/** The `format` of the list of tools. Editors offer the tools of each server. */
const AGENT_TOOLS_FORMAT = 'agent-tools';
/** The label of an action's tool is this prefix and the id of its service. */
export const ACTION_LABEL_PREFIX = 'service:';

const toolsSchema = z
  .array(toolSchema)
  .max(32)
  .default([])
  .superRefine((tools, context) => {
    const seen = new Set<string>();
    for (const [index, tool] of tools.entries()) {
      if (tool.type !== 'mcp') continue;
      if (tool.server_label.startsWith(ACTION_LABEL_PREFIX)) {
        const message = `Server label should not begin with "${ACTION_LABEL_PREFIX}"`;
        context.addIssue({ code: 'custom', path: [index, 'server_label'], message });
      }
      if (seen.has(tool.server_label)) {
        context.addIssue({ code: 'custom', path: [index, 'server_label'], message: 'Server label should be unique' });
      }
      seen.add(tool.server_label);
    }
  })
  .meta({ format: AGENT_TOOLS_FORMAT });

const schema = z.looseObject({
  messages: messagesField,
  settings: settingsSchema,
  tools: toolsSchema,
});

export type AgentNodeData = z.infer<typeof schema>;
export type AgentServer = Extract<AgentNodeData['tools'][number], { type: 'mcp' }>;
export type ActionTool = Extract<AgentNodeData['tools'][number], { type: 'action' }>;
export type WorkflowTool = Extract<AgentNodeData['tools'][number], { type: 'workflow' }>;

const outputSchema = z.looseObject({
  content: z.string().describe('The final answer'),
  steps: z.array(
    z.looseObject({
      iteration: z.int(),
      tool_calls: z.array(z.looseObject({})),
      warnings: z.array(z.looseObject({})).optional().describe('In the first step: the tools that are left out'),
    }),
  ),
  usage: z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() }),
  json: z.unknown().optional().describe('The answer as JSON, where response_format asks for it'),
  files: filesOutput,
});

export const agentNode = {
  kind: 'agent',
  type: 'agent-node',
  nodeType: 'AgentNodeInput',
  title: 'Agent',
  description: 'A language model that calls tools until it has an answer; a person can approve its calls.',
  category: 'AI',
  example: {
    messages: [{ role: 'user', message: '{{ input.text }}' }],
    settings: { model_name: 'MODEL', max_cost: '0.50' },
    tools: [
      { type: 'mcp', server_label: 'docs', endpoint_url: 'https://mcp.example.com/mcp', require_approval: 'always' },
    ],
  },
  templateFields: ['messages', 'settings', 'tools'],
  templatePlaces: {
    'messages.*.message': 'text',
    'messages.*.files': 'json',
    settings: 'json',
    'tools.*.headers.*': 'text',
    'tools.*.values': 'json',
  },
  schema,
  outputSchema,
} as const satisfies NodeDefinition;

/** Returns the ids of the workflows that are tools of an agent. The data may be invalid. */
export function workflowToolsOf(data: JsonObject): number[] {
  const tools = ownValue(data, 'tools');
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown) => {
    const called = isObject(tool) && ownValue(tool, 'type') === 'workflow' ? calledWorkflow(tool) : undefined;
    return called ?? [];
  });
}

// Below: approval of an agent's tool calls.

type ToolNames = { tool_names: string[] } | undefined;

/** A tool that no list names needs approval. */
type ApprovalPolicy =
  | 'always'
  | 'never'
  | {
      always?: ToolNames;
      never?: ToolNames;
      when_given?: { tool_name: string; arguments: string[] }[] | undefined;
    };

/** True if some or all calls of the tool need approval. If several lists name the tool, the strictest one counts. */
export function needsApproval(policy: ApprovalPolicy, toolName: string): boolean {
  if (typeof policy === 'string') return policy === 'always';
  if (policy.always?.tool_names.includes(toolName)) return true;
  return argumentsThatAsk(policy, toolName) !== undefined || !policy.never?.tool_names.includes(toolName);
}

/**
 * Returns the arguments of which a call of the tool must give at least one to need approval; undefined if the approval
 * doesn't depend on arguments, because every call of the tool needs it or none does.
 */
export function argumentsThatAsk(policy: ApprovalPolicy, toolName: string): string[] | undefined {
  if (typeof policy === 'string' || policy.always?.tool_names.includes(toolName)) return undefined;
  const named = policy.when_given?.filter((condition) => condition.tool_name === toolName) ?? [];
  return named.length === 0 ? undefined : named.flatMap((condition) => condition.arguments);
}

/** Null, false, and empty texts, lists and objects count as not given. */
export function isArgumentGiven(call: JsonObject, name: string): boolean {
  const value = ownValue(call, name);
  if (value === undefined || value === null || value === false || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isObject(value) || Object.keys(value).length > 0;
}
