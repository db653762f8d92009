import { z } from 'zod';
import {
  connectionTimeoutField,
  filesOutput,
  MCP_TOOL_FORMAT,
  mcpServerFields,
  SECONDS_FORMAT,
} from './shared-fields.js';
import type { NodeDefinition } from './node-definition.js';
import { placementFields } from './placement.js';

const settingsSchema = z.looseObject({
  timeout: z
    .number()
    .min(1)
    .max(600)
    .default(300)
    .describe('How long the call may take')
    .meta({ format: SECONDS_FORMAT }),
  fail_on_error: z.boolean().default(true).describe('An error that the tool reports fails the node'),
  retry_unsafe: z.boolean().default(false).describe('A call may be made again if its outcome is unknown'),
  connection_timeout: connectionTimeoutField,
  ...placementFields,
});

const schema = z.looseObject({
  ...mcpServerFields,
  tool_name: z
    .string()
    .min(1)
    .describe('The name of the tool in the list of the server')
    .meta({ format: MCP_TOOL_FORMAT }),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('Any JSON. Texts in it may hold variables'),
  settings: settingsSchema.prefault({}),
});

export type McpNodeData = z.infer<typeof schema>;

const outputSchema = z.looseObject({
  content: z.string().describe('The text parts, joined with a newline, or else the names of the files'),
  structured_content: z.unknown().describe('What the tool gave as structured content, else null'),
  is_error: z.boolean(),
  attachments: z
    .array(z.looseObject({ type: z.string() }))
    .describe('The parts that are neither text nor files, as the tool gave them'),
  files: filesOutput,
});

export const mcpNode = {
  kind: 'mcp',
  type: 'mcp-node',
  nodeType: 'MCPNodeInput',
  title: 'MCP tool',
  description: 'Calls a tool of an MCP server and gives its result.',
  category: 'Connections',
  example: {
    endpoint_url: 'https://mcp.example.com/mcp',
    tool_name: 'search',
    arguments: { query: '{{ input.text }}' },
  },
  templateFields: ['headers', 'arguments'],
  templatePlaces: { 'headers.*': 'text', arguments: 'json' },
  schema,
  outputSchema,
} as const satisfies NodeDefinition;
