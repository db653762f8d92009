import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { startEverythingServer, type EverythingServer } from '../../support/everything-server.js';
import { eventually } from '../../../harness/timing/eventually.js';
import {
  sendJson,
  sseScript,
  startFakeMcpServer,
  type FakeMcpServer,
  writtenResult,
} from '../../support/fake-mcp-server.js';
import { drawing, link, mcp, node, trigger, type DrawingNode } from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole } from '../accounts.js';
import type { Detail, FieldErrors, Workflow } from '../bodies.js';

interface Tool {
  name: string;
  inputSchema: object;
  description?: string;
}

const MASK = '********';
const tool = (name: string) => ({ name, title: 'T', inputSchema: { type: 'object' }, 'x-unknown': [{ a: 1 }] });
const PATH = '/workflows/mcp-tools/';

describe('POST /workflows/mcp-tools/', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let project: number;
  let fake: FakeMcpServer;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    project = await api.createProject();
    fake = await startFakeMcpServer();
  });
  after(() => fake.close());

  const ask = <T = Tool[]>(body: unknown, by: ApiClient = api) => by.post<T>(PATH, { body });

  async function store(start: DrawingNode, ...nodes: DrawingNode[]): Promise<number> {
    link(start, nodes);
    const created = await api.post<Workflow>('/workflows/', {
      body: { project, title: 'tools', data: drawing([start, ...nodes]) },
    });
    assert.equal(created.status, 201);
    return created.body.id;
  }

  async function fieldErrors(body: unknown): Promise<FieldErrors> {
    const answer = await ask<FieldErrors>(body);
    assert.equal(answer.status, 400, JSON.stringify(answer.body));
    return answer.body;
  }

  describe('200', () => {
    for (const transport of ['streamableHttp', 'sse'] as const) {
      it(`lists the reference server's tools over ${transport}, with that transport and with auto`, async () => {
        const everything: EverythingServer = await startEverythingServer(transport);
        try {
          const named = transport === 'sse' ? 'sse' : 'streamable_http';
          for (const body of [{}, { transport: 'auto' }, { transport: named, timeout: 30 }]) {
            const { status, body: tools } = await ask({ endpoint_url: everything.url, ...body });
            assert.equal(status, 200, JSON.stringify(tools));
            assert.ok(Array.isArray(tools));
            assert.ok(tools.some(({ name, inputSchema }) => name === 'echo' && 'properties' in inputSchema));
          }
        } finally {
          await everything.close();
        }
      });
    }

    it('gives a bare array of the tools as the server gives them, all pages joined', async () => {
      const { url } = fake.endpoint({
        'tools/list': ({ params }) =>
          params['cursor'] === undefined ? { tools: [tool('a')], nextCursor: 'b' } : { tools: [tool('b')] },
      });
      assert.deepEqual((await ask({ endpoint_url: url })).body, [tool('a'), tool('b')]);
      const none = fake.endpoint({ 'tools/list': () => ({ tools: [] }) });
      assert.deepEqual((await ask({ endpoint_url: none.url })).body, []);
    });

    it('gives tools as the server gives them however odd they are, opens one new session, and keeps every digit', async () => {
      const odd = '[{"name":"a","inputSchema":{"maximum":9223372036854775807}},{"name":"b"}]';
      let lost = 0;
      const endpoint = fake.endpoint({
        'tools/list': (request, response) => {
          if (lost++ < 1) response.writeHead(404).end();
          else writtenResult(`{"tools":${odd}}`)(request, response);
        },
      });
      const answer = await fetch(`${stack.apiUrl}/api/v1${PATH}`, {
        method: 'POST',
        headers: { 'x-api-key': stack.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ endpoint_url: endpoint.url }),
      });
      assert.equal(await answer.text(), odd);
      assert.equal(endpoint.methods().filter((method) => method === 'initialize').length, 2);
      const gone = fake.endpoint({ 'tools/list': (_request, response) => void response.writeHead(404).end() });
      const refused = await ask<Detail>({ endpoint_url: gone.url, headers: { 'x-token': ' trimmed\r\n' } });
      assert.deepEqual([refused.status, refused.body.code], [400, 'mcp_protocol']);
      assert.equal(gone.methods().filter((method) => method === 'initialize').length, 2);
      assert.equal(gone.requests[0]!.headers['x-token'], 'trimmed');
    });

    it('sends the given headers, takes null for what is optional, and closes the session', async () => {
      const endpoint = fake.endpoint();
      const nothing = { transport: null, timeout: null, workflow_id: null, node_id: null };
      const { status } = await ask({ endpoint_url: endpoint.url, headers: { 'X-Team': 'red', 'x-n': 1 }, ...nothing });
      assert.equal(status, 200);
      assert.equal(endpoint.requests[0]!.headers['x-team'], 'red');
      assert.equal(endpoint.requests[0]!.headers['x-n'], '1');
      await eventually(() => endpoint.methods().includes('DELETE'));
      assert.equal((await ask({ endpoint_url: fake.endpoint().url, headers: null })).status, 200);
    });

    it('sends the stored headers of the node, with given ones over them, and never shows them', async () => {
      const endpoint = fake.endpoint({
        'tools/list': ({ headers }) => ({
          tools: [
            {
              name: 'echo',
              inputSchema: { type: 'object' },
              description: `for ${headers.authorization}, canary-55 ${headers['x-plain'] as string}`,
            },
          ],
        }),
      });
      const headers = { Authorization: 'Bearer canary-55', 'x-plain': 'seen', 'x-var': '{{ input.a }}' };
      const target = mcp(endpoint.url, 'echo', {}, { headers });
      const workflow_id = await store(trigger(), target);
      const stored = { endpoint_url: endpoint.url, workflow_id, node_id: target.id };
      const { status, body } = await ask(stored);
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(body, [
        { name: 'echo', inputSchema: { type: 'object' }, description: `for ${MASK}, ${MASK} seen` },
      ]);
      const sent = () => endpoint.requests.findLast(({ method }) => method === 'tools/list')!.headers;
      assert.equal(sent().authorization, 'Bearer canary-55');
      assert.equal('x-var' in sent(), false, 'a variable has no value outside a run');
      await ask({ ...stored, headers: { AUTHORIZATION: MASK, 'x-plain': 'other', 'x-more': 'm' } });
      assert.deepEqual([sent().authorization, sent()['x-plain'], sent()['x-more']], ['Bearer canary-55', 'other', 'm']);
      await ask({ ...stored, headers: { authorization: 'Bearer mine' } });
      assert.equal(sent().authorization, 'Bearer mine');
      await ask({ ...stored, endpoint_url: `${endpoint.url}/other/path` });
      assert.equal(sent().authorization, 'Bearer canary-55', 'the origin is what counts');
    });

    it('finds the stored headers of an agent by the server', async () => {
      const [one, two] = [fake.endpoint(), fake.endpoint()];
      const tools = [one, two].map(({ url }, index) => ({
        type: 'mcp',
        server_label: `s${index}`,
        endpoint_url: url,
        headers: { 'x-api-key': `canary-agent-${index}` },
      }));
      const agent = { ...node('mcp', { tools }), type: 'agent-node' };
      const workflow_id = await store(trigger(), agent);
      assert.equal((await ask({ endpoint_url: two.url, workflow_id, node_id: agent.id })).status, 200);
      assert.equal(two.requests[0]!.headers['x-api-key'], 'canary-agent-1');
    });

    it('is open to a viewer of the workflow', async () => {
      const endpoint = fake.endpoint();
      const target = mcp(endpoint.url, 'echo', {}, { headers: { authorization: 'canary-56' } });
      const workflow_id = await store(trigger(), target);
      const viewer = await createAccount(stack);
      await giveRole(stack, viewer, project, 'viewer');
      const { status } = await ask({ endpoint_url: endpoint.url, workflow_id, node_id: target.id }, viewer.api);
      assert.equal(status, 200);
    });
  });

  describe('400', () => {
    it('for a list of ten kilobytes that unpacks to millions of values, also for several at once', async () => {
      const list = (id: unknown): Buffer =>
        gzipSync(`{"jsonrpc":"2.0","id":${String(id)},"result":{"tools":[${'{},'.repeat(3_000_000)}{}]}}`);
      const endpoint = fake.endpoint({
        'tools/list': ({ id }, response) => {
          response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(list(id));
        },
      });
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => ask<Detail>({ endpoint_url: endpoint.url, timeout: 30 })),
      );
      for (const { status, body } of answers) assert.deepEqual([status, body.code], [400, 'response_too_large']);
    });

    it('******** in a header for which nothing is stored, credential or not, and nothing is sent', async () => {
      const endpoint = fake.endpoint();
      const { status, body } = await ask({ endpoint_url: endpoint.url, headers: { 'x-plain': MASK } });
      assert.deepEqual([status, Object.keys(body)], [400, ['headers']]);
      assert.deepEqual(endpoint.requests, []);
    });

    it('workflow_id without node_id, or the reverse', async () => {
      const { url } = fake.endpoint();
      for (const half of [{ workflow_id: 1 }, { node_id: 'x' }, { workflow_id: 1, node_id: null }]) {
        assert.deepEqual(await fieldErrors({ endpoint_url: url, ...half }), {
          non_field_errors: ['workflow_id and node_id must be sent together.'],
        });
      }
    });

    it('each wrong field by its name, and nothing is sent', async () => {
      const endpoint = fake.endpoint();
      const { url } = endpoint;
      assert.deepEqual(await fieldErrors({}), { endpoint_url: ['This field is required.'] });
      const wrong: [string, unknown][] = [
        ['endpoint_url', ''],
        ['endpoint_url', 7],
        ['endpoint_url', null],
        ['endpoint_url', 'not a url'],
        ['endpoint_url', 'file:///etc/passwd'],
        ['transport', 'websocket'],
        ['transport', 3],
        ['headers', []],
        ['headers', 'a: b'],
        ['headers', { a: { b: 1 } }],
        ['headers', { 'a b': 'c' }],
        ['headers', { a: 'b\r\nc: d' }],
        ['headers', { a: 'x'.repeat(70_000) }],
        ['timeout', 0.09],
        ['timeout', 30.1],
        ['timeout', '10'],
        ['workflow_id', 'x'],
        ['workflow_id', 1.5],
        ['node_id', 5],
        ['node_id', ''],
      ];
      for (const [field, value] of wrong) {
        const errors = await fieldErrors({ endpoint_url: url, workflow_id: 1, node_id: 'n', [field]: value });
        assert.deepEqual(Object.keys(errors), [field], `${field}: ${String(value)}`);
      }
      assert.equal(endpoint.requests.length, 0);
      assert.equal((await ask({ endpoint_url: url, timeout: 30 })).status, 200);
      const silent = fake.endpoint({ '*': () => undefined });
      const shortest = await ask<Detail>({ endpoint_url: silent.url, timeout: 0.1 });
      assert.equal(shortest.body.code, 'timeout', 'the shortest is accepted, and is over');
    });

    it('a workflow that the caller cannot see looks like one that does not exist', async () => {
      const target = mcp(fake.endpoint().url, 'echo', {}, { headers: { authorization: 'canary-57' } });
      const workflow_id = await store(trigger(), target);
      const stranger = await createAccount(stack);
      for (const id of [workflow_id, 2_000_000_000, 0, -1, 3_000_000_000]) {
        const body = { endpoint_url: target.data['endpoint_url'], workflow_id: id, node_id: target.id };
        const answer = await ask<FieldErrors>(body, stranger.api);
        assert.equal(answer.status, 400);
        assert.deepEqual(answer.body, { workflow_id: [`Invalid pk "${id}" - object does not exist.`] });
      }
    });

    it('a node that is not there or has no MCP server', async () => {
      const start = trigger();
      const workflow_id = await store(start, mcp(fake.endpoint().url, 'echo'));
      for (const node_id of ['00000000-0000-4000-8000-000000000000', start.id]) {
        const errors = await fieldErrors({ endpoint_url: fake.endpoint().url, workflow_id, node_id });
        assert.deepEqual(Object.keys(errors), ['node_id']);
      }
    });

    it('another endpoint_url than the one that the headers are stored with, and nothing is sent there', async () => {
      const elsewhere = await startFakeMcpServer();
      const stranger = elsewhere.endpoint();
      const target = mcp(fake.endpoint().url, 'echo', {}, { headers: { authorization: 'Bearer canary-58' } });
      const workflow_id = await store(trigger(), target);
      const here = new URL(String(target.data['endpoint_url']));
      for (const endpoint_url of [
        stranger.url,
        `http://localhost:${here.port}${here.pathname}`,
        'https://example.com/',
      ]) {
        const errors = await fieldErrors({
          endpoint_url,
          workflow_id,
          node_id: target.id,
          headers: { authorization: MASK },
        });
        assert.deepEqual(Object.keys(errors), ['endpoint_url']);
      }
      assert.equal(stranger.requests.length, 0);
      await elsewhere.close();
    });

    it('says which: not reached, time-out, refused credentials, broken protocol', async () => {
      const gone = await startFakeMcpServer();
      await gone.close();
      const silent = fake.endpoint({ '*': () => undefined });
      const closed = fake.endpoint({ '*': (_request, response) => void response.writeHead(401).end() });
      const html = fake.endpoint({
        '*': (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      });
      const again = fake.endpoint({ 'tools/list': () => ({ tools: [], nextCursor: 'again' }) });
      const refused = fake.endpoint({
        'tools/list': ({ id, headers }, response) =>
          sendJson(response, { jsonrpc: '2.0', id, error: { code: -32000, message: `no: ${headers.authorization}` } }),
      });
      const cases: [url: string, code: string, detail: RegExp, timeout?: number][] = [
        [`${gone.origin}/x`, 'mcp_unreachable', /could not be reached: ECONNREFUSED/],
        [silent.url, 'timeout', /within 0\.5 seconds/, 0.5],
        [closed.url, 'mcp_unauthorized', /credentials \(status 401\)/],
        [html.url, 'mcp_protocol', /neither JSON nor an event stream/],
        [again.url, 'mcp_protocol', /same page/],
        [refused.url, 'mcp_protocol', /error -32000: no: \*{8}\.?$/],
        ['http://user:pass@127.0.0.1/', 'invalid_url', /user name/],
      ];
      for (const [endpoint_url, code, detail, timeout = 30] of cases) {
        const answer = await ask<Detail>({
          endpoint_url,
          timeout,
          headers: { authorization: 'Bearer canary-59' },
        });
        assert.equal(answer.status, 400);
        assert.equal(answer.body.code, code);
        assert.match(answer.body.detail, detail);
      }
    });
  });

  it('401 without credentials', async () => {
    const response = await fetch(`${stack.apiUrl}/api/v1${PATH}`, { method: 'POST' });
    assert.equal(response.status, 401);
  });

  it('leaves no stored header in the logs', async () => {
    const endpoint = fake.endpoint(
      sseScript({ 'tools/list': ({ headers }) => ({ tools: String(headers.authorization) }) }),
    );
    const target = mcp(endpoint.url, 'echo', {}, { headers: { authorization: 'Bearer canary-60' } });
    const workflow_id = await store(trigger(), target);
    const answer = await ask<Detail>({ endpoint_url: endpoint.url, workflow_id, node_id: target.id });
    assert.equal(answer.status, 400);
    assert.equal(JSON.stringify(answer.body).includes('canary'), false);
    assert.equal(stack.logs().includes('canary-60'), false);
  });
});
