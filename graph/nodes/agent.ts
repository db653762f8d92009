import { z } from 'zod';
import { isObject, ownValue, type JsonObject } from '../json.js';
import { responseFormatField } from '../response-format.js';
import type { NodeDefinition } from './node-definition.js';
import {
  connectionTimeoutField,
  DEFAULT_TIMEOUT_SECONDS,
  filesOutput,
  MAX_WAIT_SECONDS,
  MCP_TOOL_FORMAT,
  mcpServerFields,
  messagesField,
  modelFields,
} from './shared-fields.js';
import { calledWorkflow, workflowIdField } from './workflow.js';

const toolNamesSchema = z.looseObject({ tool_names: z.array(z.string().min(1)) });

const policySchema = z
  .union([
    z.enum(['always', 'never']),
    z.looseObject({ always: toolNamesSchema.optional(), never: toolNamesSchema.optional() }),
  ])
  .default('always')
  .describe('Which tools wait for a person; a tool that no list names does');

const serverSchema = z
  .looseObject({
    type: z.literal('mcp'),
    server_label: z.string().min(1).max(60).describe('Tells the server apart from the others'),
    ...mcpServerFields,
    allowed_tools: z
      .array(z.string().min(1))
      .nullish()
      .describe('Names; all tools of the server when absent')
      .meta({ format: MCP_TOOL_FORMAT }),
    require_approval: policySchema,
  })
  .meta({ title: 'MCP server' });

/** A tool that is another workflow. Each call starts a run. */
const workflowToolSchema = z
  .looseObject({
    type: z.literal('workflow'),
    workflow_id: workflowIdField,
    name: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'Input should have 1 to 64 letters, digits, _ and -' })
      .nullish()
      .describe('What the model calls the tool; made from the title of the workflow when absent'),
    description: z
      .string()
      .max(4_000)
      .nullish()
      .describe('Tells the model what the tool does; made from the title of the workflow when absent'),
    require_approval: z.enum(['always', 'never']).default('always').describe('Whether its calls wait for a person'),
  })
  .meta({ title: 'Workflow' });

const toolSchema = z.discriminatedUnion('type', [serverSchema, workflowToolSchema], {
  error: 'Input should have the type "mcp" or "workflow"',
});

const MAX_COST_USD = 10 ** 12;
const WRONG_COST = `Input should be a decimal number of US dollars from 0 to ${MAX_COST_USD}`;

const maxCostSchema = z
  .union([z.number(), z.string()], { error: WRONG_COST })
  .refine((cost) => isAmount(cost), WRONG_COST)
  .nullish()
  .describe('US dollars; a model call that could cost more is not made, and the node fails');

/** The limit may be text, because no double holds 18 decimals. */
function isAmount(cost: number | string): boolean {
  if (typeof cost === 'number') return cost >= 0 && cost <= MAX_COST_USD;
  return /^\d{1,12}(\.\d{1,18})?$/.test(cost);
}

const approvalSchema = z.looseObject({
  required: z.int().min(1).max(5).default(1).describe('So many different people must approve; one rejection rejects'),
  exclude_starter: z.boolean().default(false).describe('Whether the person who started the run may not decide'),
  roles: z
    .array(z.enum(['editor', 'admin', 'owner']))
    .min(1)
    .nullish()
    .describe('Roles in the project that may decide; all three when absent'),
});

const settingsSchema = z.looseObject({
  ...modelFields,
  response_format: responseFormatField,
  max_iterations: z.int().min(1).max(1000).default(20).describe('Model calls at most'),
  max_cost: maxCostSchema,
  approval_timeout: z.number().min(0.1).max(MAX_WAIT_SECONDS).default(DEFAULT_TIMEOUT_SECONDS).describe('Seconds'),
  approval: approvalSchema.nullish().describe('How many people must approve a call, and who may'),
  on_reject: z.enum(['continue', 'fail']).default('continue').describe('Whether a rejected call fails the node'),
  retry_unsafe: z.boolean().default(false).describe('Whether a tool call that was in flight may be made again'),
  timeout: z.number().min(1).max(600).default(300).describe('Seconds for one model or tool call'),
  connection_timeout: connectionTimeoutField,
});

const toolsSchema = z
  .array(toolSchema)
  .max(32)
  .default([])
  .superRefine((tools, context) => {
    const seen = new Set<string>();
    for (const [index, tool] of tools.entries()) {
      if (tool.type !== 'mcp') continue;
      if (seen.has(tool.server_label)) {
        context.addIssue({ code: 'custom', path: [index, 'server_label'], message: 'Server label should be unique' });
      }
      seen.add(tool.server_label);
    }
  });

const schema = z.looseObject({
  messages: messagesField,
  settings: settingsSchema,
  tools: toolsSchema,
});

export type AgentNodeData = z.infer<typeof schema>;
export type AgentServer = Extract<AgentNodeData['tools'][number], { type: 'mcp' }>;
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
  templateFields: ['messages', 'settings', 'tools'],
  templatePlaces: {
    'messages.*.message': 'text',
    'messages.*.files': 'json',
    settings: 'json',
    'tools.*.headers.*': 'text',
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

/** A tool that neither list names needs approval. */
type ApprovalPolicy =
  | 'always'
  | 'never'
  | { always?: { tool_names: string[] } | undefined; never?: { tool_names: string[] } | undefined };

export function needsApproval(policy: ApprovalPolicy, toolName: string): boolean {
  if (typeof policy === 'string') return policy === 'always';
  // A tool in both lists needs approval, which is the safer interpretation.
  if (policy.always?.tool_names.includes(toolName)) return true;
  return !policy.never?.tool_names.includes(toolName);
}
