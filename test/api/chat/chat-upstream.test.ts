import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createChatUpstream, MAX_ANSWER_BYTES } from '../../../api/chat/chat-upstream.js';
import { startHttpServer } from '../../../cli/sandbox/http-server.js';

describe('the answer of a model provider', function () {
  this.timeout(120_000);

  it('is aborted if it is a stream that never ends, at the limit for a whole stream', async () => {
    let hasHungUp = (): void => undefined;
    const hungUp = new Promise<void>((resolve) => (hasHungUp = resolve));
    const server = await startHttpServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const talking = setInterval(() => response.write('data: {"choices":[]}\n\n'), 5);
      response.once('close', () => {
        clearInterval(talking);
        hasHungUp();
      });
    });
    // The chunks are never `timeoutMs` apart, so only `longestStreamMs` can end the stream.
    const upstream = createChatUpstream({ timeoutMs: 25_000, longestStreamMs: 200 });
    const { body } = await upstream.send({
      provider: { name: 'endless', baseUrl: server.url } as never,
      apiKey: 'key',
      headers: {},
      body: Buffer.from('{}'),
      wantsStream: true,
      signal: new AbortController().signal,
      onWire: () => undefined,
    });
    await assert.rejects(text(body as Readable));
    await hungUp;
    await upstream.close();
    await server.close();
  });

  it('has at most 64 MiB if it is no stream: the connection of a larger one is closed', async () => {
    assert.equal(MAX_ANSWER_BYTES, 64 * 1024 * 1024);
    let hasHungUp = (): void => undefined;
    const hungUp = new Promise<void>((resolve) => (hasHungUp = resolve));
    const answers: ((response: ServerResponse) => void)[] = [
      (response) => void response.end('x'.repeat(1_000)),
      (response) => {
        response.once('close', () => hasHungUp());
        const write = (): void => {
          while (!response.destroyed && response.write('x'.repeat(1_000)));
        };
        response.on('drain', write);
        write();
      },
    ];
    const server = await startHttpServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      answers.shift()!(response);
    });
    const upstream = createChatUpstream({ timeoutMs: 60_000, maxAnswerBytes: 1_000 });
    const call = {
      provider: { name: 'endless', baseUrl: server.url } as never,
      apiKey: 'key',
      headers: {},
      body: Buffer.from('{}'),
      wantsStream: false,
      signal: new AbortController().signal,
      onWire: () => undefined,
    };
    assert.equal(((await upstream.send(call)).body as Buffer).length, 1_000);
    await assert.rejects(upstream.send(call), { status: 500, code: 'upstream_error', message: /is too large/ });
    await hungUp;
    await upstream.close();
    await server.close();
  });

  const KEY = 'sk-platform-0123456789';
  const sendTo = async (
    script: (response: ServerResponse) => void,
    more: {
      wantsStream?: boolean;
      signal?: AbortSignal;
      timeoutMs?: number;
      onStream?: (body: Readable) => void;
    } = {},
  ): Promise<{ status: number; body: string; mayCost: boolean | undefined }> => {
    const server = await startHttpServer((_request, response) => script(response));
    const upstream = createChatUpstream({ timeoutMs: more.timeoutMs ?? 30_000 });
    let mayCost: boolean | undefined;
    try {
      const { status, body } = await upstream.send({
        provider: { name: 'leaky', baseUrl: server.url } as never,
        apiKey: KEY,
        headers: {},
        body: Buffer.from('{}'),
        wantsStream: more.wantsStream ?? false,
        signal: more.signal ?? new AbortController().signal,
        onWire: (may) => (mayCost = may),
      });
      if (!Buffer.isBuffer(body)) more.onStream?.(body);
      return { status, body: Buffer.isBuffer(body) ? body.toString() : await text(body), mayCost };
    } finally {
      await upstream.close();
      await server.close();
    }
  };
  const json =
    (bytes: string | Buffer, headers: Record<string, string> = {}) =>
    (response: ServerResponse): void =>
      void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(bytes);

  it('is replaced if it has the status 200 and reports an error that quotes the key, for a stream too', async () => {
    const quoted = JSON.stringify({ error: { message: `Incorrect API key ${KEY}`, code: 401 } });
    for (const wantsStream of [false, true]) {
      for (const script of [json(quoted), json(gzipSync(quoted), { 'content-encoding': 'gzip' })]) {
        await assert.rejects(sendTo(script, { wantsStream }), (error: Error & { status?: number }) => {
          assert.deepEqual([error.status, JSON.stringify(error).includes(KEY)], [401, false]);
          return !error.message.includes(KEY);
        });
      }
    }
    const others = [
      JSON.stringify({ error: { message: 'Incorrect API key sk-****' } }),
      JSON.stringify({ choices: [{ message: { content: `You wrote ${KEY}` } }] }),
    ];
    for (const body of others) assert.equal((await sendTo(json(body))).body, body);
  });

  const events =
    (pieces: string[]) =>
    async (response: ServerResponse): Promise<void> => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const piece of pieces) {
        response.write(piece);
        await sleep(20);
      }
      response.end();
    };

  it('masks the key in the events of a stream that report an error, and changes no other event', async () => {
    const words = `data: {"choices":[{"delta":{"content":"${KEY} ü"}}]}\r\n\r\n: comment\n\n`;
    const failed = `data: {"error":{"message":"Incorrect API key ${KEY}"}}\n\n`;
    const named = `event: error\ndata: wrong key ${KEY}`;
    const cut = failed.length - 20;
    const pieces = [words, failed.slice(0, cut), failed.slice(cut), named];
    const { body } = await sendTo((response) => void events(pieces)(response), { wantsStream: true });
    assert.equal(body, words + failed.replace(KEY, '********') + named.replace(KEY, '********'));
  });

  it('has the time limit up to the first byte of a stream, from the request on', async () => {
    const failsInTime = async (timeoutMs: number): Promise<void> => {
      let [hasHeaders, isLate] = [false, false];
      const script = (response: ServerResponse): void => {
        setTimeout(() => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.flushHeaders();
        }, timeoutMs / 2);
      };
      const onStream = (body: Readable): void => {
        hasHeaders = true;
        // Timers of one process fire in the order of their times. A limit that began with the headers would fire later.
        const late = setTimeout(() => (isLate = true), timeoutMs * 0.75);
        body.once('error', () => clearTimeout(late));
      };
      await assert.rejects(sendTo(script, { wantsStream: true, timeoutMs, onStream }));
      // If the machine is too slow for the headers to arrive within the limit, the test tries twice the limit.
      if (!hasHeaders && timeoutMs < 20_000) return failsInTime(2 * timeoutMs);
      assert.deepEqual([hasHeaders, isLate], [true, false]);
    };
    await failsInTime(500);
  });

  it('is no failure of the provider if the caller hangs up', async () => {
    const hangUp = new AbortController();
    const reason = new Error('the caller hung up');
    const asked = sendTo(() => hangUp.abort(reason), { signal: hangUp.signal });
    await assert.rejects(asked, (error) => error === reason);
  });
});
