import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../../../harness/client/api-client.js';
import { startFakeMcpServer, type FakeMcpServer, writtenResult } from '../../../support/fake-mcp-server.js';
import { agent, drawing, link, trigger, type Drawing, type DrawingNode } from '../../../../harness/drawing/drawing.js';
import { startHttpTarget, type TargetReply } from '../../../../harness/target/http-target.js';
import { sharedStack } from '../../../support/shared-stack.js';
import type { TestStack } from '../../../../harness/stack/stack.js';

interface Warning {
  server_label: string;
  tool_name: string;
  message: string;
}

const NOT_AN_OBJECT = 'The type of its input schema is not "object".';

/** A list as servers really send it: two tools without a schema, one in capitals, and three that cannot be offered. */
const LIST = `[
  {"name":"empty","inputSchema":{}},
  {"name":"absent","description":"Says hello"},
  {"name":"capitals","inputSchema":{"type":"OBJECT","properties":{"n":{"type":"integer","maximum":9223372036854775807}}}},
  {"name":"union","inputSchema":{"anyOf":[{"type":"object"},{"type":"null"}]}},
  {"name":"array","inputSchema":{"type":"array"}},
  {"title":"nameless","inputSchema":{"type":"object"}}
]`;

describe('agents with the tools that servers really offer', function () {
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

  function drawAgent(model_name: string, servers: object[]): { data: Drawing; node: DrawingNode } {
    const start = trigger();
    const node = agent('Go', { model_name }, servers as Record<string, unknown>[]);
    link(start, node);
    return { data: drawing([start, node]), node };
  }

  const warningsOf = async (workflowId: number) => {
    const { body } = await api.get<{ warnings: { node_id: string; code: string; message: string }[] }>(
      `/workflows/${workflowId}/check_workflow/`,
    );
    return body.warnings.filter(({ code }) => code === 'tool_left_out').map(({ message }) => message);
  };

  it('offers each tool that can be offered, and warns of the others in its steps and in check_workflow', async () => {
    const model = 'strange-tools';
    stack.modelProvider.script(model, [{ toolCalls: [{ name: 'absent', arguments: {} }] }, { text: 'done' }]);
    const odd = fake.endpoint({ 'tools/list': writtenResult(`{"tools":${LIST}}`) });
    const right = fake.endpoint();
    const { data, node } = drawAgent(model, [
      { server_label: 'odd', endpoint_url: odd.url, require_approval: 'never' },
      { server_label: 'right', endpoint_url: right.url, require_approval: 'never' },
    ]);
    const run = await api.runToEnd(data);
    assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));

    const [first] = stack.modelProvider.requestsFor(model);
    const offered = first!.body['tools'] as { function: { name: string; parameters: object } }[];
    assert.deepEqual(
      offered.map(({ function: { name, parameters } }) => [name, Object.keys(parameters)]),
      [
        ['empty', ['type', 'properties']],
        ['absent', ['type', 'properties']],
        ['capitals', ['type', 'properties']],
        ['echo', ['type']],
      ],
    );
    assert.match(
      first!.text,
      /"type":"object","properties":\{"n":\{"type":"integer","maximum":9223372036854775807\}\}/,
    );
    assert.equal(odd.requests.filter(({ method }) => method === 'tools/call').length, 1);

    const reasons: [string, string][] = [
      ['union', NOT_AN_OBJECT],
      ['array', NOT_AN_OBJECT],
      ['', 'It has no name.'],
    ];
    const warnings = reasons.map(([tool_name, reason]): Warning => {
      return { server_label: 'odd', tool_name, message: `The tool is left out. ${reason}` };
    });
    const { steps } = run.nodes[node.id]!.result as unknown as { steps: { warnings?: Warning[] }[] };
    assert.deepEqual(
      steps.map((step) => step.warnings),
      [warnings, undefined],
    );
    const path = `/workflows/${run.workflowId}/history/${run.runId}/nodes/${node.id}/steps/`;
    const shown = await api.get<{ items: { warnings?: Warning[] }[] }>(path);
    assert.deepEqual(
      shown.body.items.map((step) => step.warnings),
      [warnings, undefined],
    );
    const expected = reasons.map(([name, reason]) => {
      return `${name === '' ? 'A tool' : `The tool "${name}"`} of the server "odd" is left out of the agent. ${reason}`;
    });
    const asked = odd.requests.length;
    assert.deepEqual(await warningsOf(run.workflowId), expected);
    // An unsaved drawing gets the warning only for servers of the stored drawing, because only their tools were listed.
    const unsaved = async (change: (servers: Record<string, unknown>[]) => unknown) => {
      const sent = structuredClone(data);
      change(sent.nodes[1]!.data['tools'] as Record<string, unknown>[]);
      const { body } = await api.post<{ warnings: { code: string; message: string }[] }>(
        `/workflows/${run.workflowId}/check_workflow/`,
        { body: { drawing: sent } },
      );
      return body.warnings.filter(({ code }) => code === 'tool_left_out').map(({ message }) => message);
    };
    assert.deepEqual(await unsaved(([, server]) => Object.assign(server!, { allowed_tools: [] })), expected);
    assert.deepEqual(await unsaved(([server]) => Object.assign(server!, { endpoint_url: right.url })), []);
    assert.deepEqual(await unsaved((servers) => servers.shift()), []);
    assert.equal(odd.requests.length, asked, 'check_workflow asks nobody');

    // The server is repaired, and the editor asks it for its tools.
    const mended = {
      'tools/list': writtenResult('{"tools":[{"name":"union"},{"name":"late","inputSchema":{"type":"null"}}]}'),
    };
    Object.assign(odd.script, mended);
    const listed = await api.post('/workflows/mcp-tools/', {
      body: { endpoint_url: odd.url, workflow_id: run.workflowId, node_id: node.id },
    });
    assert.deepEqual(listed.body, [{ name: 'union' }, { name: 'late', inputSchema: { type: 'null' } }]);
    assert.deepEqual(await warningsOf(run.workflowId), [
      `The tool "late" of the server "odd" is left out of the agent. ${NOT_AN_OBJECT}`,
    ]);
    // The warnings belong to this version of the workflow: a new version starts without them.
    const { nodes, ...rest } = data;
    const renamed = nodes.map((each) => (each.id === node.id ? { ...each, data: { ...each.data, label: 'B' } } : each));
    const saved = await api.patch(`/workflows/${run.workflowId}/`, { body: { data: { ...rest, nodes: renamed } } });
    assert.equal(saved.status, 200, JSON.stringify(saved.body));
    assert.deepEqual(await warningsOf(run.workflowId), []);
  });

  it('tells the model the name and the address of a link, and structured data that no text holds', async () => {
    const model = 'strange-results';
    const resource = {
      type: 'resource_link',
      name: 'report.csv',
      uri: 'https://files.example.com/1',
      mimeType: 'text/csv',
    };
    const text = (said: string) => ({ type: 'text', text: said });
    const results = [
      { content: [resource] },
      { content: [text('Three rows')], structuredContent: { rows: 3 } },
      { content: [text('{ "rows": 3 }')], structuredContent: { rows: 3 } },
      { content: [], structuredContent: { code: 'no_such_row' }, isError: true },
      { content: [{ type: 'hologram' }, { type: 'resource_link', name: 'nowhere' }] },
    ];
    const endpoint = fake.endpoint({ 'tools/call': ({ params }) => results[(params['arguments'] as { n: number }).n] });
    const toolCalls = results.map((_, n) => ({ name: 'echo', arguments: { n } }));
    stack.modelProvider.script(model, [{ toolCalls }, { text: 'done' }]);
    const { data, node } = drawAgent(model, [{ endpoint_url: endpoint.url, require_approval: 'never' }]);
    const run = await api.runToEnd(data);
    assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
    const told = stack.modelProvider.requestsFor(model)[1]!.messages.filter(({ role }) => role === 'tool');
    assert.deepEqual(
      told.map(({ content }) => content),
      [
        '[resource_link "report.csv": https://files.example.com/1]',
        'Three rows\n{"rows":3}',
        '{ "rows": 3 }',
        '{"code":"no_such_row"}',
        '[hologram, resource_link omitted]',
      ],
    );
    const { steps } = run.nodes[node.id]!.result as unknown as { steps: { tool_calls: { outcome: string }[] }[] };
    assert.deepEqual(
      steps[0]!.tool_calls.map(({ outcome }) => outcome),
      ['result', 'result', 'result', 'tool_error', 'result'],
    );
  });

  it('lists the tools of a server that is away four times, or as often as its retry says, and fails then', async () => {
    for (const [retry, attempts] of [
      [{ delay: 0 }, 4],
      [{ delay: 0, max_attempts: 2 }, 2],
    ] as const) {
      const server = fake.endpoint({ initialize: (_request, response) => void response.destroy() });
      const { data, node } = drawAgent(`never-asked-${attempts}`, [{ endpoint_url: server.url, timeout: 10 }]);
      node.data['retry'] = retry;
      const run = await api.runToEnd(data);
      assert.equal(run.nodes[node.id]!.error?.code, 'mcp_unreachable', JSON.stringify(run.nodes[node.id]));
      assert.equal(server.methods().filter((method) => method === 'initialize').length, attempts);
      assert.equal(stack.modelProvider.requestsFor(`never-asked-${attempts}`).length, 0);
    }
  });

  it('attempts a call four times whose connection gets no tokens now, and tells the model that it was not made', async () => {
    const target = await startHttpTarget();
    try {
      const token: TargetReply = { body: { access_token: 'first', token_type: 'bearer', expires_in: 3_600 } };
      target.on('/token', [token, { status: 503 }]);
      const server = fake.endpoint({ 'tools/call': (_request, response) => void response.writeHead(401).end() });
      const project = await api.createProject();
      const { status, body } = await api.post<{ id: number }>(`/projects/${project}/connections/`, {
        body: {
          name: 'tools',
          kind: 'oauth2_client_credentials',
          origins: [fake.origin],
          settings: { token_url: `${target.url}/token`, client_id: 'us' },
          secrets: { client_secret: 'secret' },
        },
      });
      assert.equal(status, 201, JSON.stringify(body));
      const model = 'no-tokens-for-a-call';
      stack.modelProvider.script(model, [{ toolCalls: [{ name: 'echo', arguments: {} }] }, { text: 'done' }]);
      const tools = { endpoint_url: server.url, require_approval: 'never', timeout: 10, connection: body.id };
      const { data, node } = drawAgent(model, [tools]);
      node.data['retry'] = { delay: 0 };
      const started = await api.run(await api.createWorkflow(project, data));
      const run = await api.pollToEnd(started.data.id);
      assert.equal(run.data.status, 'succeed', JSON.stringify(run.data.data?.[node.id]));
      const [, second] = stack.modelProvider.requestsFor(model);
      const { messages } = second!.body as { messages: { content: string }[] };
      assert.equal(
        messages.at(-1)!.content,
        'The call failed (The provider answered with status 503.); it was not made.',
      );
      assert.equal(target.requestsTo('/token').length, 5, 'one for the list of tools, and one in each attempt');
    } finally {
      await target.close();
    }
  });

  it('attempts a call that never leaves four times, and tells the model then', async () => {
    /** The server forgets the session in which its tools were listed, and refuses the next `refusals` sessions. */
    const run = async (refusals: number) => {
      const model = `unsent-calls-${refusals}`;
      stack.modelProvider.script(model, [{ toolCalls: [{ name: 'echo', arguments: { n: 1 } }] }, { text: 'done' }]);
      let isForgotten = false;
      let refused = 0;
      const server = fake.endpoint({
        initialize(_request, response) {
          if (isForgotten && refused < refusals) {
            refused += 1;
            return void response.writeHead(503).end();
          }
          response.setHeader('mcp-session-id', `session-${isForgotten}`);
          return { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'f', version: '1' } };
        },
        'tools/call'({ params }, response) {
          if (isForgotten) return { content: [{ type: 'text', text: JSON.stringify(params['arguments']) }] };
          isForgotten = true;
          return void response.writeHead(404).end();
        },
      });
      const { data, node } = drawAgent(model, [{ endpoint_url: server.url, require_approval: 'never', timeout: 10 }]);
      node.data['retry'] = { delay: 0 };
      const workflowId = await api.createWorkflow(await api.createProject(), data);
      const started = await api.run(workflowId);
      assert.equal((await api.pollToEnd(started.data.id)).data.status, 'succeed');
      const [, second] = stack.modelProvider.requestsFor(model);
      const { messages } = second!.body as { messages: { role: string; content: string }[] };
      return { methods: server.methods(), refused, told: messages.at(-1)!.content };
    };
    const counted = ({ methods }: { methods: string[] }, method: string) =>
      methods.filter((made) => made === method).length;

    const late = await run(3);
    assert.equal(late.told, '{"n":1}');
    assert.deepEqual([counted(late, 'initialize'), counted(late, 'tools/call'), late.refused], [5, 2, 3]);
    const never = await run(1_000);
    assert.match(never.told, /^The call failed \(.*\); it was not made\.$/);
    assert.deepEqual([counted(never, 'initialize'), counted(never, 'tools/call'), never.refused], [5, 1, 4]);
  });
});
