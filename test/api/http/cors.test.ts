import assert from 'node:assert/strict';
import type { TestStack } from '../../../harness/stack/stack.js';
import type { Account } from '../accounts.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';
import { chatBody, startChatProxy, type ChatProxy } from '../chat-proxy.js';

const OURS = 'https://app.example.com';
const OTHER_OF_OURS = 'http://localhost:5173';
const FOREIGN = [
  'https://evil.example.com',
  'https://app.example.com.evil.example',
  'http://app.example.com',
  'https://app.example.com:8443',
  'https://APP.example.com',
  'null',
  '*',
];

const CORS = /^access-control-/;

describe('calls from a browser', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let proxy: ChatProxy;

  before(async () => {
    proxy = await startChatProxy(['streamed'], { CORS_ORIGINS: `${OURS}, ${OTHER_OF_OURS}` });
    ({ stack, account } = proxy);
  });
  after(() => proxy.stop());

  const ask = (path: string, headers: Record<string, string>, init: RequestInit = {}): Promise<Response> =>
    fetch(`${proxy.process.apiUrl}${path}`, { ...init, headers });
  const preflight = (origin: string, path: string, method: string, headers = ''): Promise<Response> =>
    ask(
      path,
      { origin, 'access-control-request-method': method, 'access-control-request-headers': headers },
      { method: 'OPTIONS' },
    );
  const corsOf = ({ headers }: Response): string[] => [...headers.keys()].filter((name) => CORS.test(name));
  const listOf = (response: Response, name: string): string[] =>
    (response.headers.get(name) ?? '').split(',').map((word) => word.trim().toLowerCase());

  for (const origin of [OURS, OTHER_OF_OURS]) {
    it(`a preflight from ${origin} is told every method and header of the interface`, async () => {
      for (const path of ['/api/v1/projects/', '/api/v1/workflows/1/', '/v1/chat/completions', '/api/v1/nowhere/']) {
        const answer = await preflight(origin, path, 'PATCH', 'x-api-key');
        assert.deepEqual([answer.status, await answer.text()], [204, '']);
        assert.equal(answer.headers.get('access-control-allow-origin'), origin);
        assert.equal(answer.headers.get('access-control-allow-credentials'), null);
        assert.match(answer.headers.get('vary') ?? '', /\bOrigin\b/);
        assert.deepEqual(listOf(answer, 'access-control-allow-methods').toSorted(), [
          'delete',
          'get',
          'patch',
          'post',
          'put',
        ]);
        const allowed = listOf(answer, 'access-control-allow-headers');
        const needed = ['If-None-Match', 'If-Match', 'Prefer', 'Idempotency-Key', 'X-Api-Key', 'Authorization'];
        for (const name of [...needed, 'Last-Event-ID', 'Content-Type', 'X-Project-Id', 'X-Request-Id']) {
          assert.ok(allowed.includes(name.toLowerCase()), name);
        }
        assert.ok(allowed.includes('*'), 'headers of client libraries');
      }
    });

    it(`answers to ${origin}, refusals too, can be read with their headers, and no cookie is asked for`, async () => {
      const requests: [path: string, headers: Record<string, string>, status: number][] = [
        ['/api/v1/projects/', { 'x-api-key': account.apiKey }, 200],
        ['/api/v1/projects/', {}, 401],
        ['/api/v1/projects/0/', { 'x-api-key': account.apiKey }, 404],
        ['/api/v1/nowhere/', {}, 404],
        ['/v1/models', { authorization: `Bearer ${account.apiKey}` }, 200],
        ['/api/v1/languages/', {}, 200],
      ];
      for (const [path, headers, status] of requests) {
        const answer = await ask(path, { ...headers, origin });
        assert.equal(answer.status, status, path);
        assert.equal(answer.headers.get('access-control-allow-origin'), origin);
        assert.equal(answer.headers.get('access-control-allow-credentials'), null);
        assert.equal(answer.headers.get('set-cookie'), null);
        assert.match(answer.headers.get('vary') ?? '', /\bOrigin\b/);
        const exposed = listOf(answer, 'access-control-expose-headers');
        const limits = [
          'X-RateLimit-Limit',
          'X-RateLimit-Remaining',
          'X-RateLimit-Reset',
          'RateLimit',
          'RateLimit-Policy',
        ];
        for (const name of ['X-Request-Id', 'ETag', 'Retry-After', ...limits]) {
          assert.ok(exposed.includes(name.toLowerCase()), name);
        }
      }
    });
  }

  it('another origin gets no CORS header, on a preflight and on an answer', async () => {
    for (const origin of FOREIGN) {
      const answers = [
        await preflight(origin, '/api/v1/projects/', 'GET', 'x-api-key'),
        await ask('/api/v1/projects/', { origin, 'x-api-key': account.apiKey }),
        await ask('/api/v1/projects/', { origin }),
      ];
      for (const answer of answers) {
        assert.deepEqual(corsOf(answer), [], origin);
        assert.match(answer.headers.get('vary') ?? '', /\bOrigin\b/, 'a cache keeps answers to origins apart');
      }
    }
  });

  it('a request without an origin, and an OPTIONS that is no preflight, are answered as without CORS', async () => {
    assert.deepEqual(corsOf(await ask('/api/v1/languages/', {})), []);
    const options = await ask('/api/v1/projects/', { origin: OURS }, { method: 'OPTIONS' });
    assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS, POST']);
  });

  it('a streamed answer can be read, too, by our origins and not by those of the provider', async () => {
    proxy.upstream.on('streamed', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'access-control-allow-origin': '*' });
      response.end('data: [DONE]\n\n');
    });
    const headers = { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' };
    const stream = { method: 'POST', body: chatBody('streamed', { stream: true }) };
    const answer = await ask('/v1/chat/completions', { ...headers, origin: OURS }, stream);
    assert.deepEqual([answer.status, await answer.text()], [200, 'data: [DONE]\n\n']);
    assert.equal(answer.headers.get('access-control-allow-origin'), OURS);
    const foreign = await ask('/v1/chat/completions', { ...headers, origin: FOREIGN[0]! }, stream);
    assert.deepEqual([foreign.status, corsOf(foreign)], [200, []]);
    await foreign.text();
  });

  it('without CORS_ORIGINS no origin gets a CORS header', async () => {
    for (const origin of [OURS, ...FOREIGN]) {
      const answer = await fetch(`${stack.apiUrl}/api/v1/languages/`, { headers: { origin } });
      assert.deepEqual([answer.status, corsOf(answer), answer.headers.get('vary')], [200, [], null]);
    }
  });

  it('a wrong list fails the start with one sentence', async () => {
    await assert.rejects(startApiProcess(stack, { CORS_ORIGINS: 'https://app.example.com/' }), (error: Error) => {
      const [sentence = '', ...more] = error.message
        .replace(/^.* did not start: /, '')
        .trim()
        .split('\n');
      assert.deepEqual(more, []);
      return /^CORS_ORIGINS: must be comma-separated origins, .* without a path\.$/.test(sentence);
    });
  });
});
