// Servers in the attackers' process. Attackers make the service call them, and most answers are hostile.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { incompressibleText } from './incompressible-text.js';

const MIB = 1024 * 1024;
const GZIP = { level: 9 };

type Answer = (request: IncomingMessage, response: ServerResponse, argument: number) => unknown;

/** The first segment of the path selects the answer; the second one is its argument. */
const answers: Record<string, Answer> = {
  small: (_request, response) => sendJson(response, { ok: true }),
  /** Answers `count` bytes of text that does not compress. */
  bytes: (_request, response, count) => response.setHeader('content-type', 'text/plain').end(incompressibleText(count)),
  /** Answers a JSON array of empty objects with about `count` bytes. */
  objects: (_request, response, count) => response.setHeader('content-type', 'application/json').end(objectsOf(count)),
  /** Answers after `ms`. */
  pause: (_request, response, ms) => void setTimeout(() => sendJson(response, { ok: true }), ms),
  /** Never answers. */
  hang: () => undefined,
  /** Sends the headers, and then a byte per second. */
  drip(_request, response) {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const timer = setInterval(() => response.write('x'), 1_000);
    response.once('close', () => clearInterval(timer));
  },
  /** Answers zeros that are compressed `height` times. */
  tower(_request, response, height) {
    response.setHeader('content-type', 'text/plain');
    response.setHeader('content-encoding', Array.from({ length: height }, () => 'gzip').join(','));
    response.end(towerOf(height));
  },
  /** An MCP server whose lists and results are compressed, and expand to `mib` MiB of empty objects. */
  'packed-mcp': (request, response, mib) => answerMcp(request, response, (method) => packedList(method, mib)),
  /** A correct MCP server with one tool. */
  'small-mcp': (request, response) =>
    answerMcp(request, response, () => [
      Buffer.from('{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"content":[{"type":"text","text":"done"}]}'),
    ]),
  /** An MCP server whose lists always have a next page. */
  'paged-mcp': (request, response) =>
    answerMcp(request, response, () => [
      Buffer.from('{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"nextCursor":"on"}'),
    ]),
  /** An MCP server that answers with an event stream of comments only. */
  'silent-mcp'(_request, response) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => response.write(': still here\n\n'), 200);
    response.once('close', () => clearInterval(timer));
  },
  /** An MCP server that answers with an event stream of one endless line. */
  'endless-mcp'(_request, response) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const more = (): void => {
      if (!response.destroyed && response.write(`data: ${'x'.repeat(64 * 1024)}`)) setImmediate(more);
    };
    response.on('drain', more);
    more();
  },
};

export async function startServers(): Promise<string> {
  const server = createServer((request, response) => {
    const [, name = '', argument] = (request.url ?? '/').split('/');
    response.on('error', () => undefined);
    const answer = answers[name];
    if (answer === undefined) response.writeHead(404).end();
    else void answer(request, response, Number(argument));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** `result` returns the parts of a gzip stream, or a single part with plain text. */
async function answerMcp(
  request: IncomingMessage,
  response: ServerResponse,
  result: (method: string) => Buffer[],
): Promise<void> {
  const message = JSON.parse((await text(request)) || '{}') as { id?: number; method?: string };
  if (message.id === undefined) return void response.writeHead(request.method === 'POST' ? 202 : 405).end();
  const head = `{"jsonrpc":"2.0","id":${message.id},"result":`;
  if (message.method === 'initialize') {
    const serverInfo = { name: 'hostile', version: '1' };
    return sendText(
      response,
      `${head}${JSON.stringify({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo })}}`,
    );
  }
  const parts = result(message.method ?? '');
  if (parts.length === 1) return sendText(response, `${head}${parts[0]!.toString()}}`);
  // A gzip file may consist of several concatenated ones.
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-encoding', 'gzip');
  response.end(Buffer.concat([gzipSync(head, GZIP), ...parts, gzipSync('}', GZIP)]));
}

/** Returns the compressed parts of a list of tools, or of the content of a call. */
function packedList(method: string, mib: number): Buffer[] {
  const field = method === 'tools/list' ? 'tools' : 'content';
  return [gzipSync(`{"${field}":`, GZIP), packedObjects(mib), gzipSync('}', GZIP)];
}

const packedObjects = once((mib) => gzipSync(objectsOf(mib * MIB), GZIP));

const objectsOf = once((count) => Buffer.from(`[${'{},'.repeat(Math.floor(count / 3))}{}]`));

const towerOf = once((height) => {
  let bytes = Buffer.alloc(64 * MIB);
  for (let level = 0; level < height; level += 1) bytes = gzipSync(bytes, level === 0 ? GZIP : { level: 1 });
  return bytes;
});

function once<T>(make: (argument: number) => T): (argument: number) => T {
  const made = new Map<number, T>();
  return (argument) => {
    if (!made.has(argument)) made.set(argument, make(argument));
    return made.get(argument)!;
  };
}

function sendText(response: ServerResponse, body: string): void {
  response.setHeader('content-type', 'application/json').end(body);
}

function sendJson(response: ServerResponse, body: object): void {
  sendText(response, JSON.stringify(body));
}
