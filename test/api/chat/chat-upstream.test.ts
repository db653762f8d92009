import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
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
});
