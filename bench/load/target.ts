// What the nodes under load call: a process of its own, so that its work is nobody's memory or processor time but its own.
//   /small/...      a few bytes of JSON           /delay/<ms>/...   the same after a while
//   /bytes/<n>/...  n bytes of text               /calls            how often each node called, by its idempotency key
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const calls = new Map<string, number>();
const bodies = new Map<number, Buffer>();

const server = createServer((request, response) => {
  const [, kind, argument] = (request.url ?? '/').split('?')[0]!.split('/');
  if (kind === 'calls') return sendJson(response, summary());
  const key = String(request.headers['idempotency-key'] ?? request.url);
  calls.set(key, (calls.get(key) ?? 0) + 1);
  request.resume();
  if (kind === 'bytes') return response.setHeader('content-type', 'text/plain').end(bodyOf(Number(argument)));
  if (kind === 'delay') return setTimeout(() => sendJson(response, { ok: true }), Number(argument));
  return sendJson(response, { ok: true });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => process.exit(0));

function sendJson(response: ServerResponse, body: object): void {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}

function summary(): { nodes: number; calls: number; repeated: number } {
  const counts = [...calls.values()];
  return {
    nodes: counts.length,
    calls: counts.reduce((sum, count) => sum + count, 0),
    repeated: counts.filter((count) => count > 1).length,
  };
}

/** Text that does not compress well, so that the database stores what it is said to store. */
function bodyOf(sizeBytes: number): Buffer {
  let body = bodies.get(sizeBytes);
  if (body === undefined) {
    body = Buffer.alloc(sizeBytes);
    let state = 1;
    for (let index = 0; index < sizeBytes; index += 1) {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      body[index] = 0x30 + ((state >> 16) % 64);
    }
    bodies.set(sizeBytes, body);
  }
  return body;
}
