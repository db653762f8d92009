// Tests end to end that no feature sends requests to a private address that a user gives.
// test/outgoing/blocked-addresses.test.ts tests all spellings of such addresses.
import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { startFakeMcpServer, type FakeMcpServer } from '../../support/fake-mcp-server.js';
import { agent, chain, drawing, http, link, mcp, trigger, type DrawingNode } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { startStack, type TestStack } from '../../../harness/stack/stack.js';
import { ADDRESSES, DISGUISED_URLS, UNUSABLE_URLS } from '../../outgoing/private-addresses.js';
import type { Detail, FieldErrors } from '../bodies.js';
import { deliveriesOf, startRun } from '../webhook-receiver.js';

describe('with ALLOW_PRIVATE_NETWORK=false', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let fake: FakeMcpServer;
  let target: HttpTarget;
  /** Private addresses: an open port by number and by host name, a closed port, and one in another network. */
  let addresses: string[];

  before(async () => {
    stack = await startStack({ env: { ALLOW_PRIVATE_NETWORK: 'false' } });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    fake = await startFakeMcpServer();
    target = await startHttpTarget();
    const closed = await startHttpTarget();
    await closed.close();
    addresses = [target.url, target.url.replace('127.0.0.1', 'localhost'), closed.url, 'http://10.1.2.3/'];
  });
  after(async () => {
    await Promise.all([fake.close(), target.close()]);
    await stack.stop();
  });

  async function errorOf(node: DrawingNode, input: object = {}) {
    const start = trigger();
    link(start, node);
    const run = await api.runToEnd(drawing([start, node]), input);
    return run.nodes[node.id]!.error!;
  }

  it('private addresses are refused by mcp-tools and by the node, and nothing reaches them', async () => {
    const endpoint = fake.endpoint();
    const urls = [
      endpoint.url,
      endpoint.url.replace('127.0.0.1', 'localhost'),
      'http://169.254.169.254/mcp',
      'http://[::1]/',
    ];
    for (const endpoint_url of urls) {
      for (const transport of ['auto', 'sse', 'streamable_http']) {
        const answer = await api.post<Detail>('/workflows/mcp-tools/', { body: { endpoint_url, transport } });
        assert.equal(answer.status, 400);
        assert.equal(answer.body.code, 'blocked_address');
      }
      assert.equal((await errorOf(mcp(endpoint_url, 'echo'))).code, 'blocked_address');
    }
    assert.equal(endpoint.requests.length, 0);
  });

  it('HTTP nodes, MCP nodes and agents fail with the same words whatever the port, and say no address', async () => {
    const errors = [];
    for (const url of addresses) {
      errors.push(await errorOf(http(url)), await errorOf(http('{{ input.url }}', { method: 'POST' }), { url }));
      errors.push(await errorOf(mcp(url, 'echo')));
      errors.push(await errorOf(agent('Go', { model_name: 'never-asked' }, [{ endpoint_url: url }])));
    }
    for (const error of errors) assert.deepEqual(error, errors[0]);
    assert.deepEqual(errors[0], { code: 'blocked_address', message: 'The address is not allowed: it is not public.' });
    assert.deepEqual([target.requests, stack.modelProvider.requestsFor('never-asked')], [[], []]);
  });

  it('mcp-tools answers the same whatever the port', async () => {
    for (const endpoint_url of addresses) {
      const { status, body } = await api.post<Detail>('/workflows/mcp-tools/', { body: { endpoint_url } });
      const detail = 'The address is not allowed: it is not public.';
      assert.deepEqual([status, body], [400, { detail, code: 'blocked_address' }]);
    }
  });

  it('no service is fetched from a private address, or goes to one', async () => {
    const path = `/projects/${await api.createProject()}/services/`;
    const documentAt = (url: string, of: object = {}) => ({
      openapi: '3.0.0',
      info: { title: 'Inside', version: '1' },
      servers: [{ url }],
      paths: { '/a': { get: { responses: {} }, post: { responses: {}, ...of } } },
    });
    const hosts = Object.values(ADDRESSES)
      .flat()
      .map((host) => (host.includes(':') ? `[${host}]` : host));
    const urls = hosts.map((host) => `https://${host}/`);
    const disguised = DISGUISED_URLS.map((url) => url.replace(/^http:/, 'https:'));
    for (const url of [...urls, ...disguised]) {
      const inner = await api.post<FieldErrors>(path, { body: { openapi: documentAt(url) } });
      assert.deepEqual([inner.status, Object.keys(inner.body)], [400, ['openapi']], url);
      const replaced = { openapi: documentAt('https://example.com'), server_url: url };
      const sent = await api.post<FieldErrors>(path, { body: replaced });
      assert.deepEqual([sent.status, Object.keys(sent.body)], [400, ['server_url']], url);
    }
    const secure = addresses.map((url) => url.replace(/^http:/, 'https:'));
    for (const url of [...secure, 'https://[::1]/openapi.json', 'https://2130706433/', 'https://169.254.169.254/']) {
      const fetched = await api.post<FieldErrors>(path, { body: { openapi: url } });
      assert.deepEqual(fetched.body, { openapi: ['The address is not allowed: it is not public.'] }, url);
    }
    const plain = await api.post<FieldErrors>(path, { body: { openapi: documentAt('http://example.com') } });
    assert.match(plain.body['openapi']![0]!, /^servers: .* is not https/);
    const one = documentAt('https://example.com', { servers: [{ url: 'https://10.0.0.1' }] });
    const made = await api.post<{ action_count: number; warnings: { operation: string; message: string }[] }>(path, {
      body: { openapi: one },
    });
    assert.deepEqual([made.status, made.body.action_count], [201, 1]);
    assert.match(made.body.warnings[0]!.message, /not public/);
    assert.deepEqual(target.requests, []);
  });

  it('a stored webhook address that is private is refused at the attempt, and the log says only that', async () => {
    const seen = new Set<string>();
    for (const url of addresses) {
      const project = await api.createProject();
      assert.equal((await api.post(`/projects/${project}/webhook-secret/`)).status, 201);
      const set = 'UPDATE projects SET webhook_url = $2, is_webhook_enabled = true WHERE id = $1';
      await queryDatabase(stack, set, [project, `${url}/hook`]);
      await startRun(api, project, chain(1));
      const [first] = await eventually(async () => {
        const deliveries = await deliveriesOf(api, project);
        return typeof deliveries[0]?.error === 'string' && deliveries;
      });
      const { status, attempts, response_status, error } = first!;
      seen.add(JSON.stringify({ status, attempts, response_status, error }));
    }
    const refused = { status: 'pending', attempts: 1, response_status: null, error: 'blocked_address' };
    assert.deepEqual([...seen], [JSON.stringify(refused)]);
    assert.deepEqual(target.requests, []);
  });

  it('no spelling of a private address is taken as a webhook', async () => {
    const project = await api.createProject();
    const hosts = Object.values(ADDRESSES).flat();
    const urls = hosts.map((host) => `http://${host.includes(':') ? `[${host}]` : host}:8080/hook`);
    for (const webhook_url of [...urls, ...DISGUISED_URLS, ...UNUSABLE_URLS]) {
      const { status, body } = await api.patch<FieldErrors>(`/projects/${project}/`, { body: { webhook_url } });
      assert.deepEqual([status, Object.keys(body)], [400, ['webhook_url']], webhook_url);
    }
  });
});

describe('with BLOCKED_ADDRESSES', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let target: HttpTarget;

  before(async () => {
    // The model provider of the stack listens on 127.0.0.1, which is not blocked.
    stack = await startStack({ env: { BLOCKED_ADDRESSES: '127.0.0.2,10.1.0.0/16', ALLOW_PRIVATE_NETWORK: 'true' } });
    target = await startHttpTarget();
  });
  after(async () => {
    await target.close();
    await stack.stop();
  });

  it('API and worker refuse the listed addresses, and reach private ones that are not listed', async () => {
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    const outcome = async (node: DrawingNode): Promise<string> => {
      const { status, nodes } = await api.runToEnd(chain(2, () => node));
      return status === 'succeed' ? status : nodes[node.id]!.error!.code;
    };
    assert.equal(await outcome(http(target.url)), 'succeed');
    const project = await api.createProject();
    for (const host of ['127.0.0.2', '[::ffff:127.0.0.2]', '10.1.2.3', '168.63.129.16']) {
      const url = `http://${host}:${new URL(target.url).port}/`;
      assert.equal(await outcome(http(url)), 'blocked_address', url);
      assert.equal(await outcome(mcp(url, 'echo')), 'blocked_address', url);
      const tools = await api.post<Detail>('/workflows/mcp-tools/', { body: { endpoint_url: url } });
      assert.deepEqual([tools.status, tools.body.code], [400, 'blocked_address'], url);
      const set = await api.patch<FieldErrors>(`/projects/${project}/`, { body: { webhook_url: url } });
      assert.deepEqual([set.status, set.body], [400, { webhook_url: ['The address is not public.'] }], url);
    }
    assert.equal(target.requests.length, 1);
  });
});
