// Servers that drawings and tools of attackers call. They answer as badly as they can, in the attacker's process.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { incompressibleText } from './incompressible-text.js';

const MIB = 1024 * 1024;
const GZIP = { level: 9 };

type Answer = (request: IncomingMessage, response: ServerResponse, argument: number) => unknown;

/** The first segment of the path names the answer, the second is its argument. */
const answers: Record<string, Answer> = {
  small: (_request, response) => sendJson(response, { ok: true }),
  /** So many bytes of text that does not compress. */
  bytes: (_request, response, count) => response.setHeader('content-type', 'text/plain').end(incompressibleText(count)),
  /** A JSON array of so many bytes, all empty objects. */
  objects: (_request, response, count) => response.setHeader('content-type', 'application/json').end(objectsOf(count)),
  /** A small answer after so many milliseconds. */
  pause: (_request, response, ms) => void setTimeout(() => sendJson(response, { ok: true }), ms),
  /** Nothing, ever. */
  hang: () => undefined,
  /** Headers, and then a byte a second. */
  drip(_request, response) {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const timer = setInterval(() => response.write('x'), 1_000);
    response.once('close', () => clearInterval(timer));
  },
  /** Zeros, packed so many times. */
  tower(_request, response, height) {
    response.setHeader('content-type', 'text/plain');
    response.setHeader('content-encoding', Array.from({ length: height }, () => 'gzip').join(','));
    response.end(towerOf(height));
  },
  /** An MCP server whose lists and results are 10 KB that become so many MiB of empty objects. */
  'packed-mcp': (request, response, mib) => answerMcp(request, response, (method) => packedList(method, mib)),
  /** An honest one with one tool. */
  'small-mcp': (request, response) =>
    answerMcp(request, response, () => [
      Buffer.from('{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"content":[{"type":"text","text":"done"}]}'),
    ]),
  /** One whose lists have a next page for ever. */
  'paged-mcp': (request, response) =>
    answerMcp(request, response, () => [
      Buffer.from('{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"nextCursor":"on"}'),
    ]),
  /** One that opens a stream of events in place of an answer and says nothing but comments. */
  'silent-mcp'(_request, response) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => response.write(': still here\n\n'), 200);
    response.once('close', () => clearInterval(timer));
  },
  /** One whose stream of events is one endless line. */
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

/** `result`: the parts of the gzip stream, or the plain text, of a result. */
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
  // A gzip stream may be several, one after the other.
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-encoding', 'gzip');
  response.end(Buffer.concat([gzipSync(head, GZIP), ...parts, gzipSync('}', GZIP)]));
}

/** Returns the packed parts of a list of tools, or of the content of a call. */
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
