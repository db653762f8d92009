import { z } from 'zod';
import type { NodeDefinition } from './node-definition.js';

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

const headerSchema = z.union([z.string(), z.number(), z.boolean()], {
  error: 'Input should be a valid string, number or boolean',
});

/** Where an MCP server is and how it is spoken to; the same for nodes and agents' tools. */
export const mcpServerFields = {
  // No variables: the stored headers belong to this server and to no other.
  endpoint_url: z.string().refine(isHttpUrl, { error: 'Input should be a valid http or https URL' }),
  transport: z.enum(['auto', 'sse', 'streamable_http']).default('auto'),
  headers: z.record(z.string(), headerSchema).default({}).describe('Values may hold variables'),
  timeout: z.number().min(0.1).max(30).default(10).describe('Seconds for connecting'),
};

const settingsSchema = z.looseObject({
  timeout: z.number().min(1).max(600).default(300).describe('Seconds for the call'),
  fail_on_error: z.boolean().default(true).describe('Whether an error that the tool reports fails the node'),
  retry_unsafe: z.boolean().default(false).describe('Whether a call whose outcome is unknown may be made again'),
});

const schema = z.looseObject({
  ...mcpServerFields,
  tool_name: z.string().min(1),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('Any JSON; strings in it may hold variables'),
  settings: settingsSchema.prefault({}),
});

export type McpNodeData = z.infer<typeof schema>;

const outputSchema = z.looseObject({
  content: z.string().describe('The text parts, joined with a newline'),
  structured_content: z.unknown().describe('What the tool gave as structured content, else null'),
  is_error: z.boolean(),
  attachments: z
    .array(z.looseObject({ type: z.string() }))
    .describe('The parts that are no text, as the tool gave them'),
});

export const mcpNode = {
  kind: 'mcp',
  type: 'mcp-node',
  nodeType: 'MCPNodeInput',
  title: 'MCP tool',
  description: 'Calls a tool of an MCP server and gives its result.',
  version: '1.0.0',
  templateFields: ['headers', 'arguments'],
  schema,
  outputSchema,
} as const satisfies NodeDefinition;
