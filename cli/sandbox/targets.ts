// The server of the sample workflows: data sources, a page, a target that accepts POST requests, and an MCP server.
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { helpDeskDocument, listTickets, readTicket } from './help-desk.js';
import { startHttpServer, type HttpServer } from './http-server.js';

/** Slow enough to observe concurrent nodes. */
const ANSWER_AFTER_MS = 400;

/** An order whose only item is in stock. */
const LAMP_ORDER = '7703';

/** A source returns undefined for a name that it does not have. */
const sources: Record<string, (name: string, query: URLSearchParams) => object | undefined> = {
  feeds: (name) => ({ source: `sandbox ${name} feed`, items: [stories[name] ?? stories['technology']] }),
  customers: (id) => ({ id, name: 'Ada Example', plan: 'business', since: '2023-04-02' }),
  orders: (id) => {
    const lines = [
      { item: 'standing desk', price: 529.5 },
      { item: 'lamp', price: 100 },
    ];
    if (id === LAMP_ORDER) lines.shift();
    return { id, currency: 'EUR', total: lines.reduce((sum, { price }) => sum + price, 0), lines };
  },
  rates: (base) => ({ base, rates: { USD: 1.09, GBP: 0.86 } }),
  regions: (region) => ({ region, orders: region.length * 12, revenue: region.length * 1_043.25 }),
  invoices: (supplier) => invoices[supplier] && { supplier, invoices: invoices[supplier] },
  stock: (item) => (item === 'lamp' ? { item, left: 3 } : undefined),
  jobs: (id) => ({ id, status: 'done' }),
  tickets: (id, query) => (id === '' ? listTickets(query.get('status')) : readTicket(id)),
};

const PAGE = `<!doctype html><html><head><title>A new library</title><style>p { margin: 0 }</style></head>
<body><script>document.title = '';</script><p>The library opens on <b>Monday</b>.</p><p>Everybody may borrow three books.</p></body></html>`;

/** One invoice has a wrong total, and one has no lines. */
const invoices: Record<string, object[]> = {
  northwind: [
    { number: 'NW-101', total: 120.5, lines: [{ item: 'office paper', quantity: 10, price: 12.05 }] },
    { number: 'NW-102', total: 450, lines: [{ item: 'travel to Lyon', quantity: 2, price: 225 }] },
    { number: 'NW-103', total: 2400, lines: [{ item: 'software licences', quantity: 12, price: 200 }] },
    { number: 'NW-104', total: 90, lines: [{ item: 'office chairs', quantity: 2, price: 40 }] },
    { number: 'NW-105', total: 60 },
  ],
  contoso: [
    { number: 'CO-7', total: 320, lines: [{ item: 'software maintenance', quantity: 1, price: 320 }] },
    { number: 'CO-8', total: 75, lines: [{ item: 'flowers', quantity: 3, price: 25 }] },
  ],
};

const stories: Record<string, { title: string; summary: string }> = {
  technology: {
    title: 'Workflow engines go mainstream',
    summary: 'Editors agree to publish more on programs that survive a crash of the machine they run on.',
  },
  markets: { title: 'Cloud spending steadies', summary: 'Budgets hold after two volatile quarters.' },
};

/** Listens on 127.0.0.1, by default on a free port. Rejects if another process uses the port. */
export function startSandboxTargets(listenOn = 0): Promise<HttpServer> {
  return startHttpServer(handle, listenOn);
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sandbox');
  if (pathname === '/openapi.json') return sendJson(response, 200, helpDeskDocument(`http://${request.headers.host}`));
  if (pathname === '/mcp') return answerToolCall(request, response, await read(request));
  const [, kind = '', name = ''] = pathname.split('/');
  await pause(ANSWER_AFTER_MS);
  if (request.method === 'POST')
    return sendJson(response, 201, { accepted: true, path: pathname, received: await read(request) });
  if (kind === 'pages') return void response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
  const found = sources[kind]?.(decodeURIComponent(name), searchParams);
  if (found === undefined) return sendJson(response, 404, { error: `the sandbox has no ${pathname}` });
  sendJson(response, 200, found);
}

async function read(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const contentType = request.headers['content-type'] ?? '';
  const body = Buffer.concat(chunks);
  if (contentType.startsWith('multipart/form-data')) return describeForm(body, contentType);
  const text = body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Describes each part of a form. The description of a file contains its hash. */
async function describeForm(body: Buffer, contentType: string): Promise<object[]> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
  const parts: object[] = [];
  for (const [field, value] of form) {
    if (typeof value === 'string') parts.push({ field, text: value });
    else {
      const { name, type, size } = value;
      const sha256 = createHash('sha256')
        .update(Buffer.from(await value.arrayBuffer()))
        .digest('hex');
      parts.push({ field, name, type, size, sha256 });
    }
  }
  return parts;
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

// An MCP server for the agents of the samples: a supplier who accepts orders.

const ORDER = { item: z.string().describe('What to order'), quantity: z.int().min(1).describe('How many') };

/** Creates a server for each request, which the protocol allows without sessions. */
async function answerToolCall(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
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
