// State that a server leaves for later requests: cookies, credentials and connections.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { startRawServer, type RawServer } from '../support/raw-server.js';
import { createCallers, type Callers } from './callers.js';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

describe('requests to the same server', function () {
  this.timeout(120_000);
  const callers: Callers = createCallers({ allowPrivateNetwork: true });
  const servers: RawServer[] = [];

  after(async () => {
    await Promise.all(servers.map((server) => server.close()));
    await callers.close();
  });

  async function serve(answer: (socket: Socket, request: string) => void): Promise<RawServer> {
    const server = await startRawServer(answer);
    servers.push(server);
    return server;
  }

  it('carry no cookie, no referrer and no credential of an earlier answer', async () => {
    const server = await serve((socket) => {
      const cookie = 'Set-Cookie: session=canary; Path=/\r\nWWW-Authenticate: Basic realm="x"\r\n';
      socket.end(`${HEAD}${cookie}Content-Length: 2\r\n\r\n{}`);
    });
    for (let round = 0; round < 2; round += 1) {
      for (const { ask } of callers.all) await ask(`${server.url}/path?query=secret`).catch(() => undefined);
    }
    assert.ok(server.received.length >= 12);
    assert.doesNotMatch(server.received.join(''), /^(?:cookie|referer|authorization):/im);
    assert.doesNotMatch(server.received.join(''), /canary/);
  });

  it('share a connection only if they are of the same tenant and may be repeated', async () => {
    const server = await serve((socket) => void socket.write(`${HEAD}Content-Length: 2\r\n\r\n{}`));
    const owners = ['1', '2', '1', '2', '1', '2'];
    for (const tenant of owners) await callers.send(server.url, { tenant, headers: { 'x-owner': tenant } });
    for (const method of ['GET', 'POST']) {
      const tenant = method === 'POST' ? { tenant: '1' } : {};
      await callers.send(server.url, { method, headers: { 'x-owner': method }, ...tenant });
    }
    const ownersOf = server.received.map((text) => [...text.matchAll(/x-owner: (\w+)/g)].map(([, owner]) => owner));
    for (const seen of ownersOf) assert.equal(new Set(seen).size, 1, String(ownersOf));
    assert.deepEqual(ownersOf.flat().length, 8);
  });

  it('receive the whole of a long answer that waits for memory while the server closes the connection', async () => {
    const text = randomBytes(400_000).toString('hex');
    const encodings: [name: string, sent: Buffer][] = [
      ['identity', Buffer.from(text)],
      ['gzip', gzipSync(text)],
    ];
    for (const [encoding, sent] of encodings) {
      const head = `${HEAD}Content-Encoding: ${encoding}\r\nContent-Length: ${sent.length}\r\n\r\n`;
      const server = await serve((socket) => void socket.end(Buffer.concat([Buffer.from(head), sent])));
      for (const waitAt of [sent.length, text.length]) {
        let isGranted = false;
        const reserve = (bytes: number): Promise<void> | undefined => {
          if (isGranted || bytes < waitAt) return undefined;
          isGranted = true;
          return new Promise((resolve) => setTimeout(resolve, 200));
        };
        const answer = await callers.send(server.url, { tenant: '1', reserve });
        assert.equal(answer.body.toString(), text, encoding);
        assert.ok(isGranted);
      }
    }
  });

  it('do not take what follows an earlier answer on a connection for their own answer', async () => {
    const extra = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\npoisoned';
    const server = await serve((socket, request) => {
      socket.write(`${HEAD}Content-Length: 5\r\n\r\nfresh`);
      if (request.includes('/first')) socket.write(extra);
    });
    for (const tenant of ['1', '2', '1', '2']) {
      await callers.send(`${server.url}/first`, { tenant });
      const next = await callers.send(`${server.url}/next`, { tenant: tenant === '1' ? '2' : '1' });
      assert.equal(next.body.toString(), 'fresh');
    }
  });

  it('leave no connection behind on which the server may take the body of a GET for the next request', async () => {
    const server = await serve((socket) => void socket.write(`${HEAD}Content-Length: 5\r\n\r\nfresh`));
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
    await callers.send(server.url, { tenant: '1', body: smuggled });
    await callers.send(`${server.url}/next`, { tenant: '1' });
    const [first, second] = server.received;
    assert.match(first ?? '', /smuggled/);
    assert.match(second ?? '', /^GET \/next /);
  });
});
