// The fields of a node that describe an MCP server.
import { z } from 'zod';

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

const headerSchema = z.union([z.string(), z.number(), z.boolean()], {
  error: 'Input should be a valid string, number or boolean',
});

/** The address and transport of an MCP server, for MCP nodes and for agents' tools. */
export const mcpServerFields = {
  // Variables are not allowed, because the stored headers belong to this server only.
  endpoint_url: z
    .string()
    .refine(isHttpUrl, { error: 'Input should be a valid http or https URL' })
    .describe('Of the MCP server, without variables'),
  transport: z
    .enum(['auto', 'sse', 'streamable_http'])
    .default('auto')
    .describe('auto finds out what the server speaks'),
  headers: z.record(z.string(), headerSchema).default({}).describe('Values may hold variables'),
  timeout: z.number().min(0.1).max(30).default(10).describe('Seconds for connecting'),
};
