import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { request } from 'undici';
import { eventually } from '../../../harness/timing/eventually.js';
import { chatBody, startChatProxy, type ChatProxy } from '../chat-proxy.js';

const MODELS = ['words', 'steps', 'broken', 'hang-up', 'waiting'];
const SSE = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
/** The proxy aborts a silent call after 60 seconds in any case. */
const BEFORE_THE_LIMIT = { timeoutMs: 45_000 };
const SHORT_LIMIT_MS = 3_000;

const event = (content: string): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] })}\n\n`;

describe('a stream through the chat-completion proxy', function () {
  this.timeout(120_000);
  let proxy: ChatProxy;
  /** Its time limit is `SHORT_LIMIT_MS`. */
  let impatient: ChatProxy;

  before(async () => {
    proxy = await startChatProxy(MODELS);
    const limit = { CHAT_TIMEOUT_SECONDS: String(SHORT_LIMIT_MS / 1000) };
    impatient = await startChatProxy(['silent', 'steady', 'flood'], limit);
  });
  after(() => Promise.all([proxy.stop(), impatient.stop()]));

  const open = (model: string, { baseUrl, account } = proxy, signal?: AbortSignal) =>
    request(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
      body: chatBody(model, { stream: true }),
      signal: signal ?? null,
    });

  it('reaches the official client event by event, with the bytes of the provider', async () => {
    const bytes = `: a comment\n\n${event('Hel')}${event('lo')}data: [DONE]\n\n`;
    proxy.upstream.on('words', (_request, response) => void response.writeHead(200, SSE).end(bytes));
    const stream = await proxy.openai.chat.completions.create({
      model: 'words',
      messages: [{ role: 'user', content: 'hi' }],
      stream: true,
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    assert.equal(text, 'Hello');
    const raw = await open('words');
    assert.equal(await raw.body.text(), bytes);
    assert.equal(raw.headers['content-type'], SSE['content-type']);
  });

  it('each chunk arrives before the provider has sent the next', async () => {
    let response: ServerResponse | undefined;
    proxy.upstream.on('steps', (_request, opened) => {
      response = opened.writeHead(200, SSE);
      opened.flushHeaders();
    });
    const { statusCode, body } = await open('steps');
    assert.equal(statusCode, 200);
    const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    for (const word of ['one', 'two', 'three']) {
      response?.write(event(word));
      const { value } = await chunks.next();
      assert.equal(String(value), event(word));
    }
    response?.end();
    assert.equal((await chunks.next()).done, true);
  });

  it('a stream that breaks at the provider also breaks for the client, without an invented end', async () => {
    proxy.upstream.on('broken', (_request, response) => {
      response.writeHead(200, SSE).write(event('half'), () => response.socket?.destroy());
    });
    const { body } = await open('broken');
    let received = '';
    await assert.rejects(async () => {
      for await (const chunk of body) received += String(chunk);
    });
    assert.equal(received, event('half'));
    const stream = await proxy.openai.chat.completions.create({ model: 'broken', messages: [], stream: true });
    await assert.rejects(async () => {
      for await (const chunk of stream) assert.equal(chunk.choices[0]?.delta.content, 'half');
    });
  });

  it('a stream that breaks before its first byte is a 500 or a broken connection, never an empty success', async () => {
    proxy.upstream.on('broken', (_request, response) => {
      response.writeHead(200, SSE).flushHeaders();
      response.socket?.destroy();
    });
    const outcome = await open('broken').then(
      async ({ statusCode, body }) => (statusCode === 500 ? 'failed' : body.text().catch(() => 'failed')),
      () => 'failed',
    );
    assert.equal(outcome, 'failed');
  });

  it('a client that disconnects during the stream ends the call at the provider', async () => {
    proxy.upstream.on('hang-up', (_request, response) => void response.writeHead(200, SSE).write(event('first')));
    const { body } = await open('hang-up');
    await once(body, 'readable');
    body.destroy();
    await eventually(() => proxy.upstream.requestsFor('hang-up')[0]?.aborted, BEFORE_THE_LIMIT);
    await eventually(() => /"outcome":"broken".*"chat completion"/.test(proxy.process.output()));
  });

  it('a client that disconnects before the answer begins ends the call at the provider', async () => {
    proxy.upstream.on('waiting', () => undefined);
    const caller = new AbortController();
    const answer = open('waiting', proxy, caller.signal);
    await eventually(() => proxy.upstream.requestsFor('waiting').length === 1);
    caller.abort();
    await assert.rejects(answer);
    await eventually(() => proxy.upstream.requestsFor('waiting')[0]?.aborted, BEFORE_THE_LIMIT);
  });

  it('a stream without a chunk for the time limit is aborted, also at the provider', async () => {
    impatient.upstream.on('silent', (_request, response) => void response.writeHead(200, SSE).write(event('last')));
    const { body } = await open('silent', impatient);
    await assert.rejects(body.text());
    await eventually(() => impatient.upstream.requestsFor('silent')[0]?.aborted);
  });

  it('a stream that keeps sending chunks may last longer than the limit', async () => {
    impatient.upstream.on('steady', (_request, response) => {
      response.writeHead(200, SSE);
      let left = 12;
      const talk = setInterval(() => {
        response.write(event(String(left)));
        left -= 1;
        if (left > 0) return;
        clearInterval(talk);
        response.end('data: [DONE]\n\n');
      }, SHORT_LIMIT_MS / 8);
    });
    const startedAt = performance.now();
    const { body } = await open('steady', impatient);
    assert.match(await body.text(), /\[DONE\]\n\n$/);
    assert.ok(performance.now() - startedAt > SHORT_LIMIT_MS);
  });

  it('a client that reads slowly slows the provider down instead of filling the memory', async () => {
    let response: ServerResponse | undefined;
    let written = 0;
    const block = event('x'.repeat(64 * 1024));
    impatient.upstream.on('flood', async (_request, opened) => {
      response = opened.writeHead(200, SSE);
      const closed = once(opened, 'close');
      while (!opened.destroyed && written < 200 * 1024 * 1024) {
        written += block.length;
        if (!opened.write(block)) await Promise.race([once(opened, 'drain'), closed]);
      }
    });
    const { body } = await open('flood', impatient);
    await once(body, 'readable');
    await eventually(() => response?.writableNeedDrain === true);
    const before = written;
    await eventually(() => response?.destroyed === true);
    assert.ok(written - before < 16 * 1024 * 1024 && written < 64 * 1024 * 1024, `${written} bytes were taken`);
    body.destroy();
  });
});
