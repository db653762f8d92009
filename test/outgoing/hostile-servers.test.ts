// Servers that harm their callers by slow answers, large answers, and answers that are no HTTP.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { startFakeInternet, type FakeInternet } from '../support/fake-internet.js';
import { startRawServer, type RawServer } from '../support/raw-server.js';
import { createCallers, type Callers } from './callers.js';
import { MIB } from './mcp.js';

type Answer = { status: number; headers: Record<string, string>; body: Buffer };

const TIMEOUT_MS = 300;
/**
 * Far above the time-out, because the machine may be busy; far below the 10 s after which undici itself gives up
 * connecting.
 */
const SOON_MS = 6_000;
/** The time-out of tests about sizes, however busy the machine is. */
const UNHURRIED = { timeoutMs: 30_000 };
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
/** A client that opens a stream with GET reads the answer only if it is an event stream. */
const headFor = (request: string): string =>
  request.startsWith('GET ') ? HEAD.replace('application/json', 'text/event-stream') : HEAD;

describe('hostile servers', function () {
  this.timeout(120_000);
  const callers: Callers = createCallers({ allowPrivateNetwork: true });
  const [get, post] = callers.http;
  const servers: RawServer[] = [];
  let internet: FakeInternet;

  before(() => void (internet = startFakeInternet()));
  after(async () => {
    internet.close();
    await Promise.all(servers.map((server) => server.close()));
    await callers.close();
  });

  async function serve(answer: (socket: Socket, request: string, connection: number) => void): Promise<RawServer> {
    const server = await startRawServer(answer);
    servers.push(server);
    return server;
  }

  /** Writes the piece again and again until the connection is closed. */
  function dribble(socket: Socket, piece: string | Buffer, everyMs = 5): void {
    const timer = setInterval(() => socket.write(piece), everyMs);
    socket.once('close', () => clearInterval(timer));
  }

  function flood(socket: Socket, piece: string): void {
    const block = piece.repeat(100);
    const more = (): void => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.on('drain', more);
    more();
  }

  describe('time', () => {
    const hangs: [what: string, open: () => Promise<string>, exceptWebhook?: boolean][] = [
      [
        'a name that is never resolved',
        async () => {
          internet.hang('silent.test');
          return 'http://silent.test/';
        },
      ],
      [
        'a connection that is neither made nor refused',
        async () => {
          internet.drop('10.255.255.1');
          return 'http://10.255.255.1/';
        },
      ],
      ['a TLS handshake that is not answered', async () => `https://${(await serve(() => undefined)).host}/`],
      ['headers that do not come', async () => (await serve(() => undefined)).url],
      [
        'headers that come byte by byte',
        async () => (await serve((socket) => (socket.write('HTTP/1.1 200 OK\r\nX-A: '), dribble(socket, 'b')))).url,
      ],
      [
        'header lines that never end',
        async () => (await serve((socket) => (socket.write(HEAD), dribble(socket, 'X-A: b\r\n')))).url,
      ],
      [
        'answers that are never the last one',
        async () => (await serve((socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'))).url,
      ],
      [
        'a body that does not come',
        async () =>
          (await serve((socket, request) => void socket.write(`${headFor(request)}Content-Length: 9\r\n\r\n`))).url,
        true,
      ],
      [
        'a body that comes byte by byte',
        async () =>
          (
            await serve(
              (socket, request) => (
                socket.write(`${headFor(request)}Content-Length: 99999\r\n\r\n`),
                dribble(socket, ' ')
              ),
            )
          ).url,
        true,
      ],
      [
        'a chunked body that never ends',
        async () =>
          (
            await serve(
              (socket, request) => (
                socket.write(`${headFor(request)}Transfer-Encoding: chunked\r\n\r\n`),
                dribble(socket, '1\r\n \r\n')
              ),
            )
          ).url,
        true,
      ],
      [
        'an event stream that never answers',
        async () =>
          (
            await serve((socket) => {
              socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n');
              dribble(socket, ': still here\n\n');
            })
          ).url,
        true,
      ],
    ];

    for (const [what, open, exceptWebhook] of hangs) {
      it(`${what}: every caller is answered when its own time is up`, async () => {
        const url = await open();
        const asked = callers.all.filter(({ name }) => exceptWebhook !== true || name !== 'webhook');
        await Promise.all(
          asked.map(async ({ name, ask }) => {
            const startedAt = Date.now();
            await assert.rejects(ask(url, { timeoutMs: TIMEOUT_MS }), { code: 'timeout' }, name);
            assert.ok(Date.now() - startedAt < SOON_MS, `${name} took ${Date.now() - startedAt} ms`);
          }),
        );
      });
    }

    it('what was given up while it connected is not sent later', async () => {
      const server = await serve((socket) => void socket.end(`${HEAD}Content-Length: 2\r\n\r\n{}`));
      const { port } = new URL(server.url);
      internet.hang('late.test');
      await assert.rejects(post!.ask(`http://late.test:${port}/`, { timeoutMs: 100 }), { code: 'timeout' });
      internet.resolve('late.test', ['127.0.0.1']);
      await post!.ask(`http://late.test:${port}/second`);
      assert.deepEqual(server.received.filter(Boolean).length, 1);
      assert.match(server.received.join(''), /^POST \/second /);
    });
  });

  describe('size', () => {
    const bomb = Buffer.alloc(30 * MIB, ' ');
    const bombs: [encoding: string, body: Buffer][] = [
      ['gzip', gzipSync(bomb)],
      ['deflate', deflateSync(bomb)],
      ['br', brotliCompressSync(bomb)],
      ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(bomb)))],
      ['deflate, br', brotliCompressSync(deflateSync(bomb))],
    ];
    const whole = (request: string, encoding: string, body: Buffer): Buffer =>
      Buffer.concat([
        Buffer.from(`${headFor(request)}Content-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n`),
        body,
      ]);

    for (const [encoding, body] of bombs) {
      it(`30 MiB in ${body.length} bytes of ${encoding} are refused by every caller that reads them`, async () => {
        const server = await serve((socket, request) => void socket.end(whole(request, encoding, body)));
        for (const { name, ask } of callers.all) {
          if (name === 'webhook') continue;
          await assert.rejects(ask(server.url, UNHURRIED), { code: 'response_too_large' }, name);
        }
      });
    }

    it('a tower of encodings is refused before any of them is opened', async () => {
      for (const count of [6, 10_000]) {
        const encodings = Array.from({ length: count }, () => 'gzip').join(',');
        const server = await serve((socket, request) => void socket.end(whole(request, encodings, gzipSync('x'))));
        await assert.rejects(get!.ask(server.url), { code: 'invalid_response', message: /more than 5 times/ });
        for (const { name, ask } of callers.mcp) await assert.rejects(ask(server.url), { name: 'McpError' }, name);
      }
    });

    it('a tower whose inner encodings expand into nothing is opened no further than the limit, and not after its time', async () => {
      const empty = gzipSync('');
      const nothing = gzipSync(Buffer.concat(Array.from({ length: 100_000 }, () => empty)));
      // These 16 KB would take half a minute to decode: they expand to 2 GB of empty gzip archives.
      const tower = gzipSync(Buffer.concat(Array.from({ length: 1_000 }, () => nothing)));
      const server = await serve((socket, request) => void socket.end(whole(request, 'gzip, gzip, gzip', tower)));
      for (const { name, ask } of callers.all) {
        if (name === 'webhook') continue;
        const startedAt = process.cpuUsage();
        await assert.rejects(ask(server.url, { timeoutMs: 500 }), /large|within|event stream|JSON/, name);
        await setTimeout(1_000);
        const { user, system } = process.cpuUsage(startedAt);
        assert.ok(user + system < 2_000_000, `${name} took ${user + system} µs of processor time`);
      }
    });

    it('headers above 64 KiB are refused, in one line or in many', async () => {
      const tower = (line: (index: number) => string, count: number): string =>
        `${HEAD}${Array.from({ length: count }, (_, index) => line(index)).join('')}Content-Length: 2\r\n\r\n{}`;
      const heads = [
        tower(() => `X-Long: ${'x'.repeat(70_000)}\r\n`, 1),
        tower((index) => `X-${index}: y\r\n`, 10_000),
      ];
      for (const head of heads) {
        const server = await serve((socket) => void socket.end(head));
        for (const { name, ask } of callers.all) {
          const error = await ask(server.url).then(
            () => assert.fail(name),
            (thrown: unknown) => thrown as { code: string },
          );
          assert.ok(['UND_ERR_HEADERS_OVERFLOW', 'mcp_unreachable'].includes(error.code), `${name}: ${error.code}`);
        }
      }
    });

    it('an endless body costs no more than the limit', async () => {
      let sentBytes = 0;
      const server = await serve((socket, request) => {
        socket.write(`${headFor(request)}\r\n`);
        socket.once('close', () => (sentBytes += socket.bytesWritten));
        flood(socket, ' '.repeat(1_000));
      });
      for (const { name, ask } of callers.all) {
        if (name === 'webhook') continue;
        await assert.rejects(ask(server.url, UNHURRIED), { code: 'response_too_large' }, name);
      }
      assert.ok(sentBytes < callers.all.length * 30 * MIB, `${sentBytes} bytes`);
    });
  });

  describe('protocol', () => {
    const wrong: [what: string, answer: string][] = [
      ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
      ['HTTP/0.9', '<html>hello</html>\r\n\r\n'],
      ['a status that is none', 'HTTP/1.1 abc OK\r\n\r\n'],
      ['two lengths', `${HEAD}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}`],
      ['a length and chunks', `${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
      ['a negative length', `${HEAD}Content-Length: -1\r\n\r\n{}`],
      ['a length that no number holds', `${HEAD}Content-Length: 99999999999999999999999\r\n\r\n{}`],
      ['a body that breaks off', `${HEAD}Content-Length: 40\r\n\r\n{}`],
      ['a chunk size that is none', `${HEAD}Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n`],
      ['a NUL in a header', `${HEAD}X-A: a\0b\r\nContent-Length: 2\r\n\r\n{}`],
      ['a header without a name', `${HEAD}: x\r\nContent-Length: 2\r\n\r\n{}`],
      [
        'another protocol that nobody asked for',
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      ],
      ['a permission to go on that nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ];
    for (const [what, answer] of wrong) {
      it(`${what} fails the request and nothing else`, async () => {
        const server = await serve((socket) => void socket.end(answer));
        for (const { name, ask } of callers.all) {
          if (name === 'webhook' && /breaks off|chunk size/.test(what)) continue;
          await assert.rejects(ask(server.url, { timeoutMs: 3_000 }), name);
        }
      });
    }

    it('HTTP/1.0 and a body that ends with its connection are read', async () => {
      const server = await serve((socket) => void socket.end('HTTP/1.0 200 OK\r\n\r\nold'));
      assert.equal(((await get!.ask(server.url)) as Answer).body.toString(), 'old');
    });

    it('MCP redirects in a circle end', async () => {
      const server = await serve(
        (socket) => void socket.end('HTTP/1.1 307 x\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n'),
      );
      for (const { name, ask } of callers.mcp) {
        const before = server.received.length;
        await assert.rejects(ask(server.url), { code: 'mcp_protocol' }, name);
        assert.ok(server.received.length - before <= 12, name);
      }
    });
  });
});
