// Tries attacks on this service that similar products have suffered (docs/evidence/conformance/weaknesses.tsv).
import assert from 'node:assert/strict';
import type { ApiClient } from '../../harness/client/api-client.js';
import { agent, chain, drawing, http, link, mcp, resultOf, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { createAccount, type Account } from './accounts.js';
import type { Page, Project, Workflow } from './bodies.js';

describe('attacks', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    ({ api } = account);
  });

  describe('in a body', () => {
    it('a body cannot set a field that only the service may set', async () => {
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
        const typed = '{{ $jmespath }}{{ process.env.SECRETS_KEY }}';
        assert.deepEqual([JSON.parse(echoed!.body), echoed!.headers['x-code']], [{ code: typed }, `[${typed}]`]);
        assert.deepEqual(JSON.parse(target.requestsTo('/second')[0]!.body), { code: '' });
      } finally {
        await target.close();
      }
    });
  });
});
