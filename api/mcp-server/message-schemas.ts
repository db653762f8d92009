// The headers and messages of the protocol, for the documentation.
import { z } from 'zod';
import { documentedAs } from '../http/documented-as.js';

export const sessionHeaders = z.object({
  'mcp-session-id': z.string().optional().describe('As the answer to `initialize` has given it'),
  'mcp-protocol-version': z.string().optional().describe('The version that was agreed on'),
});

export const messageSchema = documentedAs(z.unknown(), {
  type: 'object',
  description: 'One message of JSON-RPC 2.0',
  properties: {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'integer'] },
    method: { type: 'string' },
    params: { type: 'object' },
  },
  required: ['jsonrpc'],
});

export const answerSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]).nullable(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ code: z.int(), message: z.string() }).optional(),
});
