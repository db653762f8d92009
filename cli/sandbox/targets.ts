// The servers of the sample workflows: a few sources to read, and a target that accepts posts.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { startHttpServer, type HttpServer } from './http-server.js';

/** Slow enough to observe concurrent nodes. */
const ANSWER_AFTER_MS = 400;

const sources: Record<string, (name: string) => object> = {
  feeds: (name) => ({ source: `sandbox ${name} feed`, items: [stories[name] ?? stories['technology']] }),
  customers: (id) => ({ id, name: 'Ada Example', plan: 'business', since: '2023-04-02' }),
  orders: (id) => ({
    id,
    currency: 'EUR',
    total: 629.5,
    lines: [
      { item: 'standing desk', price: 529.5 },
      { item: 'lamp', price: 100 },
    ],
  }),
  rates: (base) => ({ base, rates: { USD: 1.09, GBP: 0.86 } }),
  regions: (region) => ({ region, orders: region.length * 12, revenue: region.length * 1_043.25 }),
};

const stories: Record<string, { title: string; summary: string }> = {
  technology: {
    title: 'Workflow engines go mainstream',
    summary: 'Editors agree to publish more on programs that survive a crash of the machine they run on.',
  },
  markets: { title: 'Cloud spending steadies', summary: 'Budgets hold after two volatile quarters.' },
};

/** Listens on 127.0.0.1, on a free port unless one is given. Rejects when another process has that port. */
export function startSandboxTargets(listenOn = 0): Promise<HttpServer> {
  return startHttpServer(handle, listenOn);
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://sandbox');
  const [, kind = '', name = ''] = pathname.split('/');
  await pause(ANSWER_AFTER_MS);
  if (request.method === 'POST')
    return sendJson(response, 201, { accepted: true, path: pathname, received: await read(request) });
  const source = sources[kind];
  if (source === undefined) return sendJson(response, 404, { error: `the sandbox has no ${pathname}` });
  sendJson(response, 200, source(decodeURIComponent(name)));
}

async function read(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
