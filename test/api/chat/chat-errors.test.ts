import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import OpenAI from 'openai';
import { eventually } from '../../../harness/timing/eventually.js';
import type { RawScript } from '../../support/raw-upstream.js';
import { createAccount, revokeAccess } from '../accounts.js';
import { chatBody, chatError, completionBytes, startChatProxy, type ChatProxy } from '../chat-proxy.js';

const MODELS = ['ok', 'limited', 'refused', 'odd', 'leaky', 'half', 'moved'];

const answer =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}): RawScript =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);

describe('errors of the chat-completion proxy', function () {
  this.timeout(120_000);
  let proxy: ChatProxy;

  before(async () => {
    proxy = await startChatProxy(MODELS);
    proxy.upstream.on('ok', answer(200, completionBytes('ok')));
  });
  after(() => proxy.stop());

  const expectFault = async (model: string, code: string, { send } = proxy): Promise<void> => {
    const raw = await send(chatBody(model));
    const error = chatError(raw);
    assert.deepEqual([raw.status, error.type, error.code, error.param], [500, 'server_error', code, null]);
    assert.doesNotMatch(raw.body.toString(), /127\.0\.0\.1|ECONN|sk-|undici|Socket/);
  };

  describe('400', () => {
    it('model and messages are required, and named when they are missing or wrong', async () => {
      const cases: [body: string, param: string | null][] = [
        ['{"messages":[]}', 'model'],
        ['{"model":"","messages":[]}', 'model'],
        ['{"model":null,"messages":[]}', 'model'],
        ['{"model":5,"messages":[]}', 'model'],
        ['{"model":"ok"}', 'messages'],
        ['{"model":"ok","messages":"hi"}', 'messages'],
        ['{}', 'model'],
        ['', 'model'],
        ['[]', null],
        ['"text"', null],
        ['null', null],
      ];
      for (const [body, param] of cases) {
        const refused = await proxy.send(body);
        const error = chatError(refused);
        assert.deepEqual([refused.status, error.type, error.param], [400, 'invalid_request_error', param], body);
      }
      const thrown = await proxy.openai.chat.completions
        .create({ messages: [] } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming)
        .catch((error: unknown) => error);
      assert.ok(thrown instanceof OpenAI.BadRequestError);
      assert.equal(thrown.param, 'model');
    });

    it('malformed JSON is refused in the chat-completion error shape and not quoted', async () => {
      const deep = `{"model":"ok","messages":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
      for (const body of ['{', '{"model": secret-stuff}', 'null null', Buffer.from([0x7b, 0xff, 0x7d]), deep]) {
        const refused = await proxy.send(body);
        const { type, message, code } = chatError(refused);
        assert.deepEqual([refused.status, type, code], [400, 'invalid_request_error', 'parse_error']);
        assert.ok(!message.includes('secret'));
      }
    });
  });

  describe('401 and 403', () => {
    it('the key is accepted only as a bearer token, and never appears in the answer', async () => {
      const { apiKey } = proxy.account;
      const cases: Record<string, string>[] = [
        { authorization: '' },
        { authorization: '', 'x-api-key': apiKey },
        { authorization: apiKey },
        { authorization: 'Bearer wfa_wrong' },
        { authorization: `Basic ${apiKey}` },
      ];
      for (const headers of cases) {
        const refused = await proxy.send(chatBody('ok'), { headers });
        const { type, code } = chatError(refused);
        assert.deepEqual([refused.status, type, code], [401, 'invalid_request_error', 'invalid_api_key']);
        assert.match(String(refused.headers['www-authenticate']), /^Bearer/);
        assert.ok(!refused.body.includes(apiKey));
      }
      const stranger = new OpenAI({ baseURL: proxy.baseUrl, apiKey: 'wfa_wrong', maxRetries: 0 });
      await assert.rejects(stranger.chat.completions.create({ model: 'ok', messages: [] }), OpenAI.AuthenticationError);
    });

    it('a user without API access is refused', async () => {
      const account = await createAccount(proxy.stack);
      await revokeAccess(proxy.stack, account);
      const refused = await proxy.send(chatBody('ok'), { headers: { authorization: `Bearer ${account.apiKey}` } });
      assert.deepEqual([refused.status, chatError(refused).code], [403, 'permission_denied']);
    });
  });

  describe('404, 405 and 415', () => {
    it('a model that no provider serves is a 404 that names it', async () => {
      const refused = await proxy.send(chatBody('nobody-has-it'));
      const { code, param, message } = chatError(refused);
      assert.deepEqual([refused.status, code, param], [404, 'model_not_found', 'model']);
      assert.ok(message.includes('nobody-has-it'));
    });

    it('unknown paths and methods below /v1/ answer in the same shape', async () => {
      assert.deepEqual(chatError(await proxy.send('', { path: '/v1/unknown', method: 'GET' })).code, 'not_found');
      assert.equal((await proxy.send('{}', { path: '/v1/' })).status, 404);
      const refused = await proxy.send('', { method: 'GET' });
      assert.deepEqual([refused.status, refused.headers['allow']], [405, 'OPTIONS, POST']);
      assert.equal(chatError(refused).code, 'method_not_allowed');
      const form = await proxy.send('a=b', { headers: { 'content-type': 'application/x-www-form-urlencoded' } });
      assert.deepEqual([form.status, chatError(form).code], [415, 'unsupported_media_type']);
    });
  });

  describe('statuses of the provider', () => {
    it('a 429 passes through with its Retry-After and its bytes', async () => {
      const bytes = Buffer.from(
        '{"error": {"message":"slow down","type":"requests","param":null,"code":"rate_limit"}}\n',
      );
      proxy.upstream.on('limited', answer(429, bytes, { 'retry-after': '7', 'retry-after-ms': '6500' }));
      const raw = await proxy.send(chatBody('limited'));
      assert.deepEqual([raw.status, raw.headers['retry-after'], raw.headers['retry-after-ms']], [429, '7', '6500']);
      assert.deepEqual(raw.body, bytes);
      const thrown: unknown = await proxy.openai.chat.completions
        .create({ model: 'limited', messages: [] })
        .catch((error: unknown) => error);
      assert.ok(thrown instanceof OpenAI.RateLimitError);
      assert.deepEqual([thrown.code, thrown.type], ['rate_limit', 'requests']);
    });

    it('a 401 passes through, for a stream too', async () => {
      const bytes = Buffer.from(
        '{"error":{"message":"Incorrect API key provided: sk-****6789","code":"invalid_api_key"}}',
      );
      proxy.upstream.on('refused', answer(401, bytes));
      for (const stream of [true, false]) {
        const raw = await proxy.send(chatBody('refused', { stream }));
        assert.deepEqual([raw.status, raw.body], [401, bytes]);
      }
      await assert.rejects(
        proxy.openai.chat.completions.create({ model: 'refused', messages: [], stream: true }),
        OpenAI.AuthenticationError,
      );
    });

    it('any other status is forwarded with its body', async () => {
      for (const [status, body] of [
        [400, '{"error":{"message":"bad"}}'],
        [402, ''],
        [404, '<html>no</html>'],
        [503, 'down for maintenance'],
        [529, '{}'],
        [201, '{"made":1}'],
      ] as const) {
        proxy.upstream.on('odd', answer(status, body, { 'content-type': 'text/x-odd' }));
        const raw = await proxy.send(chatBody('odd'));
        assert.deepEqual([raw.status, raw.body.toString()], [status, body]);
        assert.match(String(raw.headers['content-type']), /^text\/x-odd/);
      }
    });

    it('an error that quotes the key of the platform keeps its status, but not its body', async () => {
      const quoted = Buffer.from(`{"error":{"message":"wrong key ${proxy.upstream.platformKey}"}}`);
      for (const [body, headers] of [
        [quoted, {}],
        [gzipSync(quoted), { 'content-encoding': 'gzip' }],
        [quoted, { 'content-encoding': 'unheard-of' }],
      ] as const) {
        proxy.upstream.on('leaky', answer(401, body, headers));
        const raw = await proxy.send(chatBody('leaky'));
        assert.deepEqual([raw.status, chatError(raw).code], [401, 'upstream_error']);
        assert.ok(!raw.body.includes(proxy.upstream.platformKey));
      }
    });
  });

  describe('500', () => {
    it('a provider that is down', async () => {
      await expectFault('down', 'upstream_error');
      const thrown = await proxy.openai.chat.completions
        .create({ model: 'down', messages: [] })
        .catch((error: unknown) => error);
      assert.ok(thrown instanceof OpenAI.InternalServerError);
    });

    it('a provider that hangs up before, or in the middle of, its answer', async () => {
      proxy.upstream.on('half', (_request, response) => void response.socket?.destroy());
      await expectFault('half', 'upstream_error');
      proxy.upstream.on('half', (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
        response.write('{"id":', () => response.socket?.destroy());
      });
      await expectFault('half', 'upstream_error');
      proxy.upstream.on('half', (_request, response) => void response.socket?.end('no HTTP at all\r\n\r\n'));
      await expectFault('half', 'upstream_error');
    });

    it('a redirect, which would send the key elsewhere', async () => {
      proxy.upstream.on('moved', answer(307, '', { location: 'http://127.0.0.1:1/elsewhere' }));
      await expectFault('moved', 'upstream_error');
    });

    it('a provider that exceeds the time limit, before its answer or during it', async () => {
      const impatient = await startChatProxy(['slow'], { CHAT_TIMEOUT_SECONDS: '1' });
      try {
        const { upstream } = impatient;
        const startedAt = performance.now();
        upstream.on('slow', () => undefined);
        await expectFault('slow', 'upstream_timeout', impatient);
        assert.ok(performance.now() - startedAt >= 900);
        await eventually(() => upstream.requestsFor('slow')[0]?.aborted);
        upstream.on('slow', (_request, response) => {
          response.writeHead(200, { 'content-type': 'application/json' });
          const drip = setInterval(() => response.write(' '), 100);
          response.once('close', () => clearInterval(drip));
        });
        await expectFault('slow', 'upstream_timeout', impatient);
      } finally {
        await impatient.stop();
      }
    });
  });
});
