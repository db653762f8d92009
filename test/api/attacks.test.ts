// Attacks that products of this kind have suffered (docs/security.md), tried on this one.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { routes } from '../../api/routes/registry.js';
import type { ApiClient } from '../support/api-client.js';
import { agent, chain, drawing, http, link, mcp, resultOf, trigger } from '../support/graphs.js';
import { startHttpTarget } from '../support/http-target.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../support/stack.js';
import { createAccount, type Account } from './accounts.js';
import type { Page, Project, Workflow } from './bodies.js';

interface RawAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

describe('attacks', function () {
  this.timeout(90_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    ({ api } = account);
  });

  /** With the path as it is written here: fetch would tidy it up. */
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

    it('every answer, errors and broken requests too, stays out of caches and frames and is taken for what it is', async () => {
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

    it('the name of a host that a request gives itself comes back in no answer', async () => {
      const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-api-key': account.apiKey };
      for (const path of ['/api/v1/projects/', '/api/v1/projects', '/docs', '/nowhere', '//evil.example/%2f..']) {
        const answer = await askRaw(path, headers);
        assert.ok(!(JSON.stringify(answer.headers) + answer.body.slice(0, 5_000)).includes('evil.example'), path);
        assert.ok(answer.status < 300 || answer.status >= 400, `${path} redirects`);
      }
    });
  });

  describe('in a body', () => {
    it('a field that is the service`s is no field of a change', async () => {
      const ours = {
        id: 987_654,
        author: 987_654,
        created_at: '2000-01-01T00:00:00Z',
        can_edit: false,
        owner: 1,
        user_id: 1,
        role: 'owner',
      };
      const { body: project } = await api.post<Project>('/projects/', {
        body: { ...ours, name: 'p', total_spent: {} },
      });
      assert.notEqual(project.id, ours.id);
      const money = { total_spent: { USD: '-100' }, attached_provider_keys: [{ id: 1 }], webhook_secret: 'whsec_x' };
      const changed = await api.patch<Project>(`/projects/${project.id}/`, { body: { ...ours, ...money } });
      assert.deepEqual(changed.body, { ...project, updated_at: changed.body.updated_at });

      const stranger = await createAccount(stack);
      const foreign = await stranger.api.createProject();
      const state = { is_published: true, slug: 'taken', copied_from: 1, sort_id: 99, secrets: {}, is_archived: true };
      const fields = { project: project.id, title: 'w', data: {} };
      const { body: made } = await api.post<Workflow>('/workflows/', { body: { ...ours, ...state, ...fields } });
      assert.deepEqual(
        [made.author, made['is_published'], made['slug'], made['copied_from'], made.project],
        [account.userId, false, null, null, project.id],
      );
      const moved = { ...ours, ...state, project: foreign, project_id: foreign, workspaceId: foreign };
      const { body: after } = await api.patch<Workflow>(`/workflows/${made.id}/`, { body: moved });
      assert.deepEqual(after, { ...made, updated_at: after['updated_at'] });
      assert.equal((await stranger.api.get<Page<Workflow>>(`/workflows/?project=${foreign}`)).body.total, 0);
    });

    it('keys that name a prototype change no object but their own', async () => {
      const evil = '{"is_webhook_enabled":true,"can_edit":true,"api_access":true,"polluted":"yes"}';
      const keys = `"__proto__":${evil},"constructor":{"prototype":${evil}},"prototype":${evil}`;
      const project = await api.post<Project>('/projects/', { text: `{"name":"p",${keys}}` });
      assert.deepEqual([project.status, project.body.is_webhook_enabled], [201, false]);
      const made = await api.post<Workflow>('/workflows/', {
        text: `{"project":${project.body.id},"title":"w","data":{"nodes":[{${keys}}],${keys}},${keys}}`,
      });
      assert.equal(made.status, 201);
      const start = trigger();
      const runnable = await api.createWorkflow(project.body.id, drawing([start]));
      const started = await api.post<{ data: { id: string } }>(`/workflows/${runnable}/run/`, { text: `{${keys}}` });
      assert.equal((await api.pollToEnd(started.body.data.id)).data.status, 'succeed');
      const { body: fresh } = await api.post<Project>('/projects/', { body: { name: 'fresh' } });
      assert.equal(fresh.is_webhook_enabled, false);
      assert.ok(!JSON.stringify(fresh).includes('polluted'));
      assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    });

    it('a file that a body claims to have uploaded is text like any other, and no file is read', async () => {
      const files = {
        upload: { filepath: '/etc/passwd', path: 'file:///etc/passwd', originalFilename: 'x', mimetype: 'x' },
      };
      const target = await startHttpTarget();
      try {
        const [start, node] = [trigger(), http(`${target.url}/echo`, { method: 'POST', body: '{{ input.files }}' })];
        link(start, node);
        const run = await api.runToEnd(drawing([start, node]), { files });
        assert.equal(run.status, 'succeed');
        assert.deepEqual(JSON.parse(target.requestsTo('/echo')[0]!.body), files);
        const reads = [
          'file:///etc/passwd',
          'FILE:/etc/passwd',
          '/etc/passwd',
          'netdoc:///etc/passwd',
          'jar:file:///x!/',
        ];
        for (const url of reads) {
          const [first, read] = [trigger(), http('{{ input.url }}')];
          link(first, read);
          assert.equal(
            (await api.runToEnd(drawing([first, read]), { url })).nodes[read.id]!.error!.code,
            'invalid_url',
            url,
          );
        }
      } finally {
        await target.close();
      }
    });

    it('an MCP server is an address and never a command to start', async () => {
      const command = {
        command: 'touch',
        args: ['/tmp/canary'],
        env: { A: 'b' },
        mcpServerConfig: '{"command":"touch"}',
      };
      for (const transport of ['stdio', 'STDIO', 'command', 'websocket', '', ['stdio'], { type: 'stdio' }]) {
        const body = { endpoint_url: 'http://127.0.0.1:9/', transport, ...command };
        const tools = await api.post<Record<string, unknown>>('/workflows/mcp-tools/', { body });
        assert.deepEqual([tools.status, Object.keys(tools.body)], [400, ['transport']], JSON.stringify(transport));
        for (const node of [
          mcp('http://127.0.0.1:9/', 'x', {}, { transport, ...command }),
          agent('Go', {}, [{ endpoint_url: 'http://127.0.0.1:9/', transport, ...command }]),
        ]) {
          const start = trigger();
          link(start, node);
          const workflow = await api.createWorkflow(await api.createProject(), drawing([start, node]));
          assert.equal((await api.run(workflow)).status, 422, JSON.stringify(transport));
        }
      }
      for (const endpoint_url of ['npx -y evil', 'stdio:npx', 'file:///bin/sh', 'node:child_process']) {
        const tools = await api.post('/workflows/mcp-tools/', { body: { endpoint_url, ...command } });
        assert.equal(tools.status, 400, endpoint_url);
      }
    });
  });

  describe('in a parameter', () => {
    const injections = [
      "' OR 1=1 --",
      "'; DROP TABLE projects; --",
      '1) OR (1=1',
      '"; --',
      '\\',
      '%27',
      '${7*7}',
      '{{7*7}}',
    ];

    it('SQL is text: a filter finds nothing more by it, an ordering is a word of a list', async () => {
      const project = await api.createProject('plain');
      await api.createWorkflow(project, chain(1), 'plain');
      for (const injection of injections) {
        const value = encodeURIComponent(injection);
        for (const path of [
          `/projects/?name__icontains=${value}`,
          `/workflows/?title=${value}`,
          `/all-workflows/?search=${value}`,
          `/workflows/marketplace/?search=${value}`,
        ]) {
          const { status, body } = await api.get<Page<unknown>>(path);
          assert.deepEqual([status, body.total], [200, 0], path);
        }
        for (const path of [
          `/all-workflows/?ordering=${value}`,
          `/workflows/marketplace/?ordering=${value}`,
          `/workflows/?project=${value}`,
          `/all-workflows/?categories=${value}`,
          `/projects/?page=${value}`,
          `/workflows/workflow_result/?id=${value}`,
        ]) {
          assert.equal((await api.get(path)).status, 400, path);
        }
        assert.equal((await api.get(`/projects/${value}/`)).status, 404);
        assert.equal((await api.get(`/workflows/marketplace/${value}/`)).status, 404);
      }
      assert.equal((await api.get(`/projects/${project}/`)).status, 200);
    });
  });

  describe('in a graph', () => {
    it('an expression is looked up and never evaluated, wherever it stands', async () => {
      const target = await startHttpTarget();
      try {
        const code =
          "{{ input.constructor.constructor('return process.env')() }}{{ $jmespath }}{{ process.env.SECRETS_KEY }}";
        const start = trigger();
        const first = http(`${target.url}/echo`, {
          method: 'POST',
          body: { code },
          headers: { 'x-code': `[${code}]` },
        });
        const second = http(`${target.url}/second`, {
          method: 'POST',
          body: { code: resultOf(first, 'constructor.name') },
        });
        link(start, first);
        link(first, second);
        const run = await api.runToEnd(drawing([start, first, second]), { a: '{{ process.env.SECRETS_KEY }}' });
        assert.equal(run.status, 'succeed');
        const [echoed] = target.requestsTo('/echo');
        assert.deepEqual([JSON.parse(echoed!.body), echoed!.headers['x-code']], [{ code: '' }, '[]']);
        assert.deepEqual(JSON.parse(target.requestsTo('/second')[0]!.body), { code: '' });
      } finally {
        await target.close();
      }
    });
  });
});
