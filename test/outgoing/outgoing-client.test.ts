import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { eventually } from '../../harness/timing/eventually.js';
import {
  createOutgoingClient,
  isRepeatable,
  OutgoingError,
  toUrl,
  type OutgoingClient,
  type OutgoingRequest,
} from '../../outgoing/outgoing-client.js';

const MIB = 1024 * 1024;

async function listen(listener: RequestListener): Promise<{ server: Server; origin: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('outgoing client', () => {
  let client: OutgoingClient;
  let server: Server;
  let origin: string;
  let other: { server: Server; origin: string };
  let seen: { method: string; url: string; headers: IncomingMessage['headers'] }[] = [];

  before(async () => {
    client = createOutgoingClient({ allowPrivateNetwork: true });
    other = await listen((request, response) => {
      seen.push({ method: request.method!, url: request.url!, headers: request.headers });
      response.end('other');
    });
    ({ server, origin } = await listen((request, response) => {
      seen.push({ method: request.method!, url: request.url!, headers: request.headers });
      const url = new URL(request.url!, 'http://x');
      const status = Number(url.searchParams.get('status') ?? 302);
      if (url.pathname === '/redirect') response.writeHead(status, { location: url.searchParams.get('to')! }).end();
      else if (url.pathname === '/loop') response.writeHead(302, { location: '/loop' }).end();
      else if (url.pathname === '/gzip')
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('zipped'));
      else if (url.pathname === '/bomb') {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(30 * MIB)));
      } else if (url.pathname === '/big') response.end(Buffer.alloc(10 * MIB + 1));
      else if (url.pathname === '/full') response.end(Buffer.alloc(10 * MIB));
      else if (url.pathname === '/slow') response.write('first byte, then silence');
      else if (url.pathname === '/file') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
      else response.end(`${request.method} ${url.pathname}`);
    }));
  });

  beforeEach(() => {
    seen = [];
  });

  after(async () => {
    await client.close();
    for (const each of [server, other.server]) {
      each.closeAllConnections();
      each.close();
    }
  });

  function send(path: string, options: Partial<OutgoingRequest> = {}) {
    const url = new URL(path, origin);
    const base = { url, method: 'GET', headers: {}, body: undefined, timeoutMs: 5_000 };
    return client.send({ ...base, signal: new AbortController().signal, ...options });
  }

  it('follows redirects and gives the last answer', async () => {
    const answer = await send('/redirect?to=/redirect%3Fto%3D/end');
    assert.equal(answer.body.toString(), 'GET /end');
    assert.deepEqual(
      seen.map(({ url }) => url.split('?')[0]),
      ['/redirect', '/redirect', '/end'],
    );
  });

  it('gives up after five redirects', async () => {
    await assert.rejects(send('/loop'), { code: 'too_many_redirects' });
    assert.equal(seen.length, 6);
  });

  it('drops credentials on a redirect to another origin, and only there', async () => {
    const headers = {
      authorization: 'Bearer t',
      cookie: 'a=b',
      'X-Api-Key': 'k',
      'x-auth-token': 't',
      'idempotency-key': 'run/node',
      'x-plain': 'stays',
    };
    await send(`/redirect?to=${encodeURIComponent('/same')}`, { headers });
    assert.equal(seen[1]!.headers.authorization, 'Bearer t');
    await send(`/redirect?to=${encodeURIComponent(`${other.origin}/there`)}`, { headers });
    const there = seen.at(-1)!.headers;
    for (const name of ['authorization', 'cookie', 'x-api-key', 'x-auth-token']) assert.equal(there[name], undefined);
    assert.equal(there['idempotency-key'], 'run/node');
    assert.equal(there['x-plain'], 'stays');
  });

  it('turns a POST into a GET on 303 and 302, and repeats it with its body on 307', async () => {
    for (const status of [302, 303]) {
      const answer = await send(`/redirect?status=${status}&to=/end`, { method: 'POST', body: 'x' });
      assert.equal(answer.body.toString(), 'GET /end');
    }
    const answer = await send('/redirect?status=307&to=/end', { method: 'POST', body: 'x' });
    assert.equal(answer.body.toString(), 'POST /end');
  });

  it('says whether the answer is that to a GET which followed a performed request', async () => {
    for (const [status, isPerformed] of [
      [302, true],
      [303, true],
      [307, false],
    ] as const) {
      const answer = await send(`/redirect?status=${status}&to=/end`, { method: 'POST', body: 'x' });
      assert.equal(answer.isPerformed, isPerformed, String(status));
    }
    assert.equal((await send('/end', { method: 'POST' })).isPerformed, false);
  });

  it('opens a body only when the request is authorized', async () => {
    let opened = 0;
    const open = () => {
      opened += 1;
      return Promise.resolve(Readable.from([Buffer.from('x')]));
    };
    const lengths: (string | undefined)[] = [];
    const authorize: OutgoingRequest['authorize'] = (request) => {
      lengths.push(request.headers['content-length']);
      if (request.url.origin !== origin) throw new Error('another origin');
      return request;
    };
    const upload = { method: 'POST', body: { bytes: 1, open }, authorize };
    assert.equal((await send('/end', upload)).body.toString(), 'POST /end');
    const elsewhere = `/redirect?status=307&to=${encodeURIComponent(`${other.origin}/there`)}`;
    await assert.rejects(send(elsewhere, upload), { message: 'another origin' });
    assert.deepEqual([opened, lengths], [2, ['1', '1', '1']]);
  });

  it('gives a redirect as the answer where it is told not to follow', async () => {
    const answer = await send('/redirect?status=308&to=/end', { method: 'POST', body: 'x', followRedirects: false });
    assert.deepEqual([answer.status, answer.headers['location']], [308, '/end']);
    assert.equal(seen.length, 1);
  });

  it('does not wait for a body that nobody wants, nor mind its size', async () => {
    for (const path of ['/slow', '/big', '/bomb']) {
      // The body of the first answer never ends.
      const answer = await send(path, { method: 'POST', readBody: false, timeoutMs: 60_000 });
      assert.deepEqual([answer.status, answer.body.length], [200, 0], path);
    }
  });

  it('hangs up on a body that nobody wants, after 64 KiB or a second', async () => {
    const sent: Record<string, number> = { '/flood': 0, '/silent': 0 };
    const closed = new Set<string>();
    const endless = await listen((request, response) => {
      const path = request.url!;
      response.once('close', () => closed.add(path));
      response.write('first bytes');
      const write = (): void => {
        while (!response.destroyed && response.write('x'.repeat(16_384))) sent[path]! += 16_384;
      };
      if (path === '/silent') return;
      response.on('drain', write);
      write();
    });
    try {
      for (const path of Object.keys(sent)) {
        const url = new URL(path, endless.origin);
        const answer = await send('/', { url, method: 'POST', readBody: false, timeoutMs: 600_000 });
        assert.equal(answer.status, 200);
      }
      await eventually(() => closed.size === 2);
      // Bytes in the socket buffers of both ends count as sent, too.
      assert.ok(sent['/flood']! < 16 * MIB, `${sent['/flood']} bytes`);
    } finally {
      endless.server.closeAllConnections();
      endless.server.close();
    }
  });

  it('never follows a redirect to a scheme that is not http', async () => {
    await assert.rejects(send('/file'), { code: 'invalid_url' });
  });

  it('reads compressed answers', async () => {
    assert.equal((await send('/gzip')).body.toString(), 'zipped');
    assert.equal((await send('/gzip', { method: 'HEAD' })).body.length, 0);
  });

  it('takes 10 MiB and refuses one byte more, also when it was compressed', async () => {
    assert.equal((await send('/full')).body.length, 10 * MIB);
    await assert.rejects(send('/big'), { code: 'response_too_large' });
    await assert.rejects(send('/bomb'), { code: 'response_too_large' });
  });

  it('ends a request whose answer stalls after its first byte', async () => {
    const startedAt = Date.now();
    await assert.rejects(send('/slow', { timeoutMs: 200 }), { code: 'timeout' });
    assert.ok(Date.now() - startedAt < 2_000);
  });

  it('passes an abort on as such', async () => {
    const abort = new AbortController();
    const sent = send('/slow', { signal: abort.signal });
    await eventually(() => seen.length === 1);
    abort.abort();
    await assert.rejects(sent, (error) => !(error instanceof OutgoingError));
  });

  it('refuses private addresses, by number and by name, unless they are allowed', async () => {
    const guarded = createOutgoingClient({ allowPrivateNetwork: false });
    const { port } = new URL(origin);
    for (const host of [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '0x7f.1',
      '2130706433',
      '0177.0.0.1',
      '[::ffff:127.0.0.1]',
    ]) {
      for (const method of ['GET', 'POST']) {
        const attempt = guarded.send({
          url: new URL(`http://${host}:${port}/`),
          method,
          headers: {},
          body: undefined,
          timeoutMs: 2_000,
          signal: new AbortController().signal,
        });
        await assert.rejects(attempt, { code: 'blocked_address' }, host);
      }
    }
    assert.deepEqual(seen, []);
    await guarded.close();
  });

  it('knows which methods may be repeated', () => {
    assert.deepEqual(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'POST', 'PATCH'].map(isRepeatable), [
      true,
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  it('takes http and https URLs only', () => {
    assert.equal(toUrl('https://example.com/a').href, 'https://example.com/a');
    for (const text of ['', 'example.com', 'ftp://example.com', 'javascript:alert(1)', 'http://', '//example.com']) {
      assert.throws(() => toUrl(text), { code: 'invalid_url' }, text);
    }
  });
});
