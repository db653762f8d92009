// Tries attacks by paths, headers and browsers on this service. Similar products have suffered them
// (docs/evidence/conformance/weaknesses.tsv).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { routes } from '../../api/app.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { createAccount, type Account } from './accounts.js';

interface RawAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

describe('attacks by paths, headers and browsers', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
  });

  /** Sends the path unchanged, because fetch would normalize it. */
  async function askRaw(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<RawAnswer> {
    const { hostname, port } = new URL(stack.apiUrl);
    const asking = request({ hostname, port, path, method, headers, agent: false }).end();
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) };
  }

  describe('without credentials', () => {
    const closed = routes.filter(({ auth }) => auth !== 'open' && auth !== 'optional');
    const spellings: [what: string, spell: (path: string) => string][] = [
      ['in capitals', (path) => path.toUpperCase()],
      ['with one capital', (path) => path.replace('/v1', '/V1')],
      ['with a double slash', (path) => `/${path}`],
      ['with a double slash inside', (path) => path.replace('/v1/', '/v1//')],
      ['with an encoded slash', (path) => path.replace('/v1/', '/v1%2f')],
      ['with an encoded letter', (path) => path.replace('/v1/', '/%761/')],
      ['with a step aside and back', (path) => path.replace('/v1/', '/v1/x/../')],
      ['with an encoded step', (path) => path.replace('/v1/', '/v1/%2e%2e/v1/')],
      ['from an open path', (path) => `/docs/..${path}`],
      ['from an open path, encoded', (path) => `/docs/..%2f${path.slice(1)}`],
      ['from the health check', (path) => `/healthz/..;${path}`],
      ['with a session in it', (path) => path.replace(/\/?$/, ';jsessionid=1')],
      ['with a matrix parameter', (path) => path.replace('/v1/', '/v1;a=b/')],
      ['with a dot at the end', (path) => path.replace(/\/?$/, '.')],
      ['with an ending', (path) => path.replace(/\/?$/, '.json')],
      ['with a space', (path) => path.replace(/\/?$/, '%20')],
      ['with a NUL', (path) => path.replace(/\/?$/, '%00')],
      ['with backslashes', (path) => path.replaceAll('/', '\\').replace('\\', '/')],
      ['with a fragment', (path) => `${path}#/healthz`],
      ['with a query', (path) => `${path}?path=/healthz&_method=GET`],
      ['with a host', (path) => `http://localhost${path}`],
    ];
    for (const [what, spell] of spellings) {
      it(`no route is open under its path ${what}`, async () => {
        for (const { method, path } of closed) {
          const { status } = await askRaw(spell(path.replaceAll(/:\w+/g, '1')), {}, method);
          assert.ok([400, 401, 404, 405].includes(status), `${method} ${path}: ${status}`);
        }
      });
    }

    it('no header opens a route: another address, another method, an inner caller, a proxy`s word for it', async () => {
      const headers = {
        'x-original-url': '/healthz',
        'x-rewrite-url': '/healthz',
        'x-http-method-override': 'OPTIONS',
        'x-request-from': 'internal',
        'x-internal': 'true',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-host': 'localhost',
        'x-forwarded-user': 'admin',
        'x-real-ip': '127.0.0.1',
        'x-user-id': String(account.userId),
        'x-middleware-subrequest': 'middleware',
        forwarded: 'for=127.0.0.1;host=localhost',
        cookie: `session=${account.apiKey}; api_key=${account.apiKey}; token=${account.apiKey}`,
        authorization: `Basic ${Buffer.from(`admin:${account.apiKey}`).toString('base64')}`,
      };
      for (const { method, path } of closed) {
        const { status } = await askRaw(path.replaceAll(/:\w+/g, '1'), headers, method);
        assert.equal(status, 401, `${method} ${path}`);
      }
      const query = `api_key=${account.apiKey}&key=${account.apiKey}&token=${account.apiKey}&access_token=${account.apiKey}`;
      assert.equal((await askRaw(`/api/v1/projects/?${query}`)).status, 401);
    });
  });

  describe('from a browser', () => {
    it('no answer lets another origin read it or send credentials, also not before it asks', async () => {
      for (const origin of ['https://evil.example', 'null', 'http://localhost', stack.apiUrl]) {
        for (const method of ['GET', 'OPTIONS', 'POST']) {
          const headers = {
            origin,
            'x-api-key': account.apiKey,
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'x-api-key',
          };
          for (const path of ['/api/v1/projects/', '/v1/chat/completions', '/docs/', '/nowhere']) {
            const answer = await askRaw(path, headers, method);
            const names = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
            assert.deepEqual(names, [], `${method} ${path} from ${origin}`);
          }
        }
      }
    });

    it('every answer, also to broken requests, forbids caching, framing and guessing of its media type', async () => {
      const key = { 'x-api-key': account.apiKey };
      const answers = [
        await askRaw('/api/v1/projects/', key),
        await askRaw('/api/v1/projects/'),
        await askRaw('/api/v1/projects/2147483647/', key),
        await askRaw('/nowhere/<script>alert(1)</script>'),
        await askRaw('/api/v1/projects/?page=<script>', key),
        await askRaw('/api/v1/projects/', key, 'PUT'),
        await askRaw('/v1/chat/completions', {}, 'POST'),
        await askRaw('/metrics'),
        await askRaw(`/api/v1/projects/?${'x'.repeat(20_000)}`),
      ];
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 401, 404, 404, 400, 405, 401, 200, 431],
      );
      for (const { status, headers, body } of answers) {
        assert.equal(headers['x-content-type-options'], 'nosniff', String(status));
        assert.equal(headers['cache-control'], 'no-store', String(status));
        assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/, String(status));
        assert.doesNotMatch(headers['content-type'] ?? '', /html/, String(status));
        if (status >= 400) assert.doesNotThrow(() => JSON.parse(body), body);
        assert.equal(headers['set-cookie'], undefined);
        assert.equal(headers['x-powered-by'], undefined);
      }
    });

    it('no answer repeats the host name that a request sends in its headers or path', async () => {
      const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-api-key': account.apiKey };
      for (const path of ['/api/v1/projects/', '/api/v1/projects', '/docs', '/nowhere', '//evil.example/%2f..']) {
        const answer = await askRaw(path, headers);
        assert.ok(!(JSON.stringify(answer.headers) + answer.body.slice(0, 5_000)).includes('evil.example'), path);
        assert.ok(answer.status < 300 || answer.status >= 400, `${path} redirects`);
      }
    });
  });
});
