import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { sendJson, startFakeMcpServer, type FakeMcpServer } from '../support/fake-mcp-server.js';
import { drawing, link, mcp, resultOf, trigger } from '../../harness/drawing/drawing.js';
import { historyOf, tablesWith } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

const MASK = '********';
const TABLES = ['workflows', 'graph_snapshots', 'runs', 'node_results', 'provider_calls', 'billing_transactions'];
const TOKEN = 'canary-mcp-5d02"+/9a';
const API_KEY = 'canary-mcp-key-77e1';

describe('credential headers of MCP nodes', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let fake: FakeMcpServer;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    fake = await startFakeMcpServer();
  });
  after(() => fake.close());

  it('reach the server in every run and are in no answer, row or log and nowhere in the history', async () => {
    const endpoint = fake.endpoint({
      'tools/call': ({ id, headers, params }, response) => {
        const said = `${headers.authorization} / ${headers['x-api-key'] as string} / ${TOKEN}`;
        if (params['name'] === 'fails') {
          return sendJson(response, { jsonrpc: '2.0', id, error: { code: -32000, message: said } });
        }
        return { content: [{ type: 'text', text: said }], structuredContent: { said, key: headers['x-api-key'] } };
      },
    });
    const headers = { Authorization: `Bearer ${TOKEN}`, 'X-Api-Key': API_KEY, 'x-plain': 'shown' };
    const [start, one, two, last] = [
      trigger(),
      mcp(endpoint.url, 'quotes', {}, { headers }),
      mcp(endpoint.url, 'quotes', {}, { headers }),
      mcp(endpoint.url, 'fails', {}, { headers }),
    ];
    two.data['arguments'] = { before: resultOf(one), structured: resultOf(one, 'structured_content') };
    link(start, one);
    link(one, two);
    link(two, last);
    const project = await api.createProject();
    const body = { project, title: 'canary', data: drawing([start, one, two, last]) };
    const created = await api.post<{ id: number; data: { nodes: { data: { headers: object } }[] } }>('/workflows/', {
      body,
    });
    const workflow = created.body.id;
    assert.deepEqual(created.body.data.nodes[1]!.data.headers, {
      Authorization: MASK,
      'X-Api-Key': MASK,
      'x-plain': 'shown',
    });
    // The drawing is saved again as the editor got it: the masks keep the stored values.
    await api.patch(`/workflows/${workflow}/`, { body: { data: created.body.data } });
    const started = await api.run(workflow);
    const runId = started.data.id;
    const end = await api.pollToEnd(runId);

    const calls = endpoint.requests.filter(({ method }) => method === 'tools/call');
    assert.equal(calls.length, 3);
    for (const call of calls) {
      assert.equal(call.headers.authorization, `Bearer ${TOKEN}`);
      assert.equal(call.headers['x-api-key'], API_KEY);
    }
    const nodes = end.data.data!;
    assert.equal(nodes[one.id]!.result!.content, `${MASK} / ${MASK} / ${MASK}`);
    assert.equal(nodes[last.id]!.error!.code, 'mcp_protocol');
    assert.match(nodes[last.id]!.error!.message, /error -32000: \*{8} \/ \*{8} \/ \*{8}$/);
    const passed = calls[1]!.params['arguments'] as { before: string };
    assert.ok(passed.before.includes(TOKEN), 'later nodes get the unmasked result');

    const paths = ['', 'check_workflow/', 'history/', `history/${runId}/`].map(
      (path) => `/workflows/${workflow}/${path}`,
    );
    const answers = await Promise.all(paths.map((path) => api.get(path)));
    const forms = ['canary-mcp-5d02', API_KEY].flatMap((secret) => [
      secret,
      Buffer.from(secret).toString('base64').slice(0, -4),
      Buffer.from(secret).toString('hex'),
    ]);
    assert.deepEqual(await tablesWith(stack, TABLES, forms), []);
    const history = await historyOf(stack, runId);
    const places = { created, started, end, answers, history, logs: stack.logs() };
    for (const [place, content] of Object.entries(places)) {
      const text = JSON.stringify(content);
      for (const form of forms) assert.equal(text.includes(form), false, `${place} holds a credential`);
    }
    assert.equal(
      history
        .map(({ text }) => text)
        .join()
        .includes('shown'),
      false,
      'no headers in the history at all',
    );
  });

  it('a value that comes from a secret input is masked too', async () => {
    const endpoint = fake.endpoint({
      'tools/call': ({ headers, params }) => ({
        content: [{ type: 'text', text: `${headers.authorization} ${JSON.stringify(params['arguments'])}` }],
      }),
    });
    const start = trigger([{ id: 'token', is_secret: true }]);
    const headers = { authorization: 'Bearer {{ input.token }}' };
    const node = mcp(endpoint.url, 'echo', { token: '{{ input.token }}' }, { headers });
    link(start, node);
    const run = await api.runToEnd(drawing([start, node]), { token: 'canary-of-the-run' });
    const call = endpoint.requests.find(({ method }) => method === 'tools/call');
    assert.equal(call!.headers.authorization, 'Bearer canary-of-the-run');
    assert.equal(run.nodes[node.id]!.result!.content, `Bearer ${MASK} {"token":"${MASK}"}`);
  });

  it('422 when the secrets of a drawing are longer than can be searched for', async () => {
    const start = trigger();
    const nodes = [1, 2, 3].map(() =>
      mcp('http://127.0.0.1:1/', 'echo', {}, { headers: { authorization: 'x'.repeat(30_000) } }),
    );
    link(start, nodes);
    const workflow = await api.createWorkflow(await api.createProject(), drawing([start, ...nodes]));
    const envelope = await api.run(workflow);
    assert.equal(envelope.status, 422);
    const message = 'Secrets of a workflow should have at most 65536 characters in total';
    assert.deepEqual(envelope.data.data, {
      [nodes[2]!.id]: { id: nodes[2]!.id, status: 'failed', result: [{ headers: message }] },
    });
  });
});
