import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { createChatUpstream } from '../../../api/chat/chat-upstream.js';
import { startHttpServer } from '../../../cli/sandbox/http-server.js';

describe('the stream of a model provider', function () {
  this.timeout(120_000);

  it('that never stops is broken off when its whole time is over', async () => {
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
    // Every chunk comes long before the limit between two of them.
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
});
