import { z } from 'zod';
import { responseFormatField } from '../response-format.js';
import { mcpServerFields } from './mcp-server-fields.js';
import type { NodeDefinition } from './node-definition.js';
import { DEFAULT_TIMEOUT_SECONDS, MAX_WAIT_SECONDS } from './timeout-field.js';

const toolNamesSchema = z.looseObject({ tool_names: z.array(z.string().min(1)) });

const policySchema = z
  .union([
    z.enum(['always', 'never']),
    z.looseObject({ always: toolNamesSchema.optional(), never: toolNamesSchema.optional() }),
  ])
  .default('always')
  .describe('Which tools wait for a person; a tool that no list names does');

/** An MCP server whose tools the agent may use. */
const toolSchema = z.looseObject({
  type: z.literal('mcp'),
  server_label: z.string().min(1).max(60).describe('Tells the server apart from the others'),
  ...mcpServerFields,
  allowed_tools: z.array(z.string().min(1)).nullish().describe('Names; all tools of the server when absent'),
  require_approval: policySchema,
});

const messageSchema = z.looseObject({
  role: z
    .string()
    .min(1)
    .describe('For example system or user')
    .meta({ examples: ['system', 'user', 'assistant'] }),
  message: z.string().min(1).describe('May hold variables'),
});

const MAX_COST_USD = 10 ** 12;
const WRONG_COST = `Input should be a decimal number of US dollars from 0 to ${MAX_COST_USD}`;

const maxCostSchema = z
  .union([z.number(), z.string()], { error: WRONG_COST })
  .refine((cost) => isAmount(cost), WRONG_COST)
  .nullish()
  .describe('US dollars; a model call that could cost more is not made, and the node fails');

/** As text up to 18 decimals, which no double holds. */
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
  model_name: z.string().min(1).describe('As the operator lists it'),
  temperature: z.number().min(0).max(2).nullish().describe('Higher values vary the answer more'),
  response_format: responseFormatField,
  max_iterations: z.int().min(1).max(1000).default(20).describe('Model calls at most'),
  max_cost: maxCostSchema,
  approval_timeout: z.number().min(0.1).max(MAX_WAIT_SECONDS).default(DEFAULT_TIMEOUT_SECONDS).describe('Seconds'),
  approval: approvalSchema.nullish().describe('How many people must approve a call, and who may'),
  on_reject: z.enum(['continue', 'fail']).default('continue').describe('Whether a rejected call fails the node'),
  retry_unsafe: z.boolean().default(false).describe('Whether a tool call that was in flight may be made again'),
  timeout: z.number().min(1).max(600).default(300).describe('Seconds for one model or tool call'),
});

const toolsSchema = z
  .array(toolSchema)
  .max(32)
  .default([])
  .superRefine((tools, context) => {
    const seen = new Set<string>();
    for (const [index, { server_label }] of tools.entries()) {
      if (seen.has(server_label)) {
        context.addIssue({ code: 'custom', path: [index, 'server_label'], message: 'Server label should be unique' });
      }
      seen.add(server_label);
    }
  });

const schema = z.looseObject({
  messages: z.array(messageSchema).min(1),
  settings: settingsSchema,
  tools: toolsSchema,
});

export type AgentNodeData = z.infer<typeof schema>;
export type AgentServer = AgentNodeData['tools'][number];

const outputSchema = z.looseObject({
  content: z.string().describe('The final answer'),
  steps: z.array(z.looseObject({ iteration: z.int(), tool_calls: z.array(z.looseObject({})) })),
  usage: z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() }),
  json: z.unknown().optional().describe('The answer as JSON, where response_format asks for it'),
});

export const agentNode = {
  kind: 'agent',
  type: 'agent-node',
  nodeType: 'AgentNodeInput',
  title: 'Agent',
  description: 'A language model that calls tools until it has an answer; a person can approve its calls.',
  category: 'AI',
  version: '1.0.0',
  templateFields: ['messages', 'settings', 'tools'],
  templatePlaces: { 'messages.*.message': 'text', settings: 'json', 'tools.*.headers.*': 'text' },
  schema,
  outputSchema,
} as const satisfies NodeDefinition;
