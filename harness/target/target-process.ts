// The HTTP server that nodes call in benchmarks and load tests. It is a separate process, so that its processor time is
// not counted for another part. It sends a tiny answer over keep-alive connections, and records every call.
//   /<tag>/<number>?delay=<ms>   the calls of runs
//   /<tag>/<number>?bytes=<n>    the same, answered with <n> bytes of text
//   /-/calls                     all calls so far: [path, receivedAt, answeredAt or 0, method and address][]
//   /-/forget                    forgets these calls
//   /-/release                   answers every call that is still waiting
// The argument of the process is the port to listen on; by default any free port.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { incompressibleText } from './incompressible-text.js';

export type RecordedCall = [path: string, receivedAt: number, answeredAt: number, call: string];

const ANSWER = JSON.stringify({ well: 'yes', items: [1, 2, 3], note: 'a tiny answer' });

let calls: RecordedCall[] = [];
const waiting = new Map<RecordedCall, { response: ServerResponse; timer: NodeJS.Timeout }>();

const server = createServer((request, response) => {
  if (request.url?.startsWith('/-/') === true) control(request.url, response);
  else receive(request, response);
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.once('disconnect', () => process.exit());

function receive(request: IncomingMessage, response: ServerResponse): void {
  const { method = 'GET', url = '/' } = request;
  const [path = '/', query = ''] = url.split('?');
  const call: RecordedCall = [path, Date.now(), 0, `${method} ${url}`];
  calls.push(call);
  const bytes = /(?:^|&)bytes=(\d+)/.exec(query)?.[1];
  if (bytes !== undefined) return sendText(call, response, incompressibleText(Number(bytes)));
  const delayMs = Number(/(?:^|&)delay=(\d+)/.exec(query)?.[1] ?? 0);
  if (delayMs === 0) return answer(call, response);
  waiting.set(call, { response, timer: setTimeout(() => answer(call, response), delayMs) });
}

function answer(call: RecordedCall, response: ServerResponse): void {
  const held = waiting.get(call);
  clearTimeout(held?.timer);
  waiting.delete(call);
  call[2] = Date.now();
  send(response, ANSWER);
}

function sendText(call: RecordedCall, response: ServerResponse, text: Buffer): void {
  call[2] = Date.now();
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': text.length });
  response.end(text);
}

function control(url: string, response: ServerResponse): void {
  if (url === '/-/forget') calls = [];
  if (url === '/-/release') for (const [call, { response: held }] of waiting) answer(call, held);
  send(response, url === '/-/calls' ? JSON.stringify(calls) : '{}');
}

function send(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
