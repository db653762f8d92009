// An MCP server for the agents of the samples: a supplier who takes orders.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const ORDER = { item: z.string().describe('What to order'), quantity: z.int().min(1).describe('How many') };

/** Each request has a server of its own: the protocol allows it where there is no session. */
export async function answerToolCall(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const server = new McpServer({ name: 'sandbox-supplier', version: '1.0.0' });
  const tool = { description: 'Orders an item from the supplier.', inputSchema: ORDER };
  server.registerTool('order_from_supplier', tool, ({ item, quantity }) => ({
    content: [{ type: 'text', text: `The supplier sends ${quantity} of "${item}".` }],
  }));
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  response.once('close', () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response, body);
}
