import assert from 'node:assert/strict';
import { createApiClient, type ApiClient, type NodeEntry } from '../../../../harness/client/api-client.js';
import { startEverythingServer, type EverythingServer } from '../../../support/everything-server.js';
import { eventually } from '../../../../harness/timing/eventually.js';
import { startForgetfulServer } from '../../../support/forgetful-mcp-server.js';
import {
  openEvents,
  sendJson,
  startFakeMcpServer,
  type FakeMcpServer,
  type McpScript,
  writtenResult,
} from '../../../support/fake-mcp-server.js';
import {
  drawing,
  http,
  link,
  linkInRow,
  mcp,
  node as drawnNode,
  resultOf,
  trigger,
} from '../../../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../../../harness/target/http-target.js';
import { queryDatabase, transactionsOf } from '../../../support/inspect.js';
import { sharedStack } from '../../../support/shared-stack.js';
import type { TestStack } from '../../../../harness/stack/stack.js';
import { createFileClient, type FileValue } from '../../../support/upload.js';

const sized = (text: string): McpScript => ({ 'tools/call': () => ({ content: [{ type: 'text', text }] }) });

describe('MCP node', function () {
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

  async function runNode(
    url: string,
    tool: string,
    args: Record<string, unknown> = {},
    data: Record<string, unknown> = {},
    input: unknown = {},
  ): Promise<NodeEntry> {
    const [start, node] = [trigger(), mcp(url, tool, args, data)];
    link(start, node);
    const run = await api.runToEnd(drawing([start, node]), input);
    assert.equal(run.status, run.nodes[node.id]!.status);
    return run.nodes[node.id]!;
  }

  async function runScripted(script: McpScript, data: Record<string, unknown> = {}) {
    const endpoint = fake.endpoint(script);
    const entry = await runNode(endpoint.url, 'echo', {}, data);
    const calls = endpoint.requests.filter(({ method }) => method === 'tools/call');
    return { entry, endpoint, calls };
  }

  it('makes sounds and resources files, joins the texts of resources, and hands on what is neither', async () => {
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const reference = { type: 'resource_link', uri: 'file:///a', name: 'a' };
    const content = [
      { type: 'audio', mimeType: 'audio/x-wav', data: base64('sound') },
      {
        type: 'resource',
        resource: { uri: 'docs://x/..%2Fsecret%20report.pdf?x', blob: base64('%PDF-'), mimeType: 'a/b' },
      },
      { type: 'resource', resource: { uri: 'docs://x/t', text: 'of a resource' } },
      { type: 'text', text: 'said' },
      { type: 'image', data: 7 },
      reference,
    ];
    const { entry } = await runScripted({ 'tools/call': () => ({ content }) });
    const { content: said, attachments, files: made } = entry.result as Record<string, unknown>;
    assert.deepEqual([said, attachments], ['of a resource\nsaid', [{ type: 'image', data: 7 }, reference]]);
    const files = made as FileValue[];
    assert.deepEqual(
      files.map(({ name, type, size }) => [name, type, size]),
      [
        ['echo-1.wav', 'audio/x-wav', 5],
        ['secret report.pdf', 'a/b', 5],
      ],
    );
    assert.equal(String((await createFileClient(stack).bytesOf(files[1]!.file_id))[1]), '%PDF-');
    const alone = await runScripted({ 'tools/call': () => ({ content: content.slice(0, 2) }) });
    assert.equal(alone.entry.result!.content, 'echo-1.wav\nsecret report.pdf');
    const failed = await runScripted({ 'tools/call': () => ({ content, isError: true }) });
    assert.equal(failed.entry.error!.code, 'tool_error');
  });

  for (const transport of ['streamableHttp', 'sse'] as const) {
    describe(`against the reference server over ${transport}`, () => {
      let everything: EverythingServer;
      before(async () => (everything = await startEverythingServer(transport)));
      after(() => everything.close());

      it('gives text, and fills variables into arguments with their JSON type', async () => {
        const text = await runNode(everything.url, 'echo', { message: 'Hi {{ input.who }}' }, {}, { who: 'Ada' });
        assert.deepEqual(text.result, {
          content: 'Echo: Hi Ada',
          structured_content: null,
          is_error: false,
          attachments: [],
        });
        const sum = await runNode(everything.url, 'get-sum', { a: '{{ input.a }}', b: 2 }, {}, { a: 40 });
        assert.match(sum.result!.content, /42/);
      });

      it('gives structured content, for later nodes too', async () => {
        const [start, weather, echo] = [
          trigger(),
          mcp(everything.url, 'get-structured-content', { location: 'Chicago' }),
          mcp(everything.url, 'echo', {}),
        ];
        echo.data['arguments'] = { message: `${resultOf(weather, 'structured_content.humidity')}%` };
        link(start, weather);
        link(weather, echo);
        const { nodes } = await api.runToEnd(drawing([start, weather, echo]));
        const { structured_content, content } = nodes[weather.id]!.result!;
        assert.deepEqual(structured_content, { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 });
        assert.deepEqual(JSON.parse(content), structured_content);
        assert.equal(nodes[echo.id]!.result!.content, 'Echo: 82%');
      });

      it('joins the text around an image, and makes the image a file of the run', async () => {
        const { result } = await runNode(everything.url, 'get-tiny-image');
        assert.equal(result!.content, "Here's the image you requested:\nThe image above is the MCP logo.");
        assert.deepEqual(result!['attachments'], []);
        const [image, ...more] = result!['files'] as FileValue[];
        assert.deepEqual([image!.name, image!.type, more.length], ['get-tiny-image-1.png', 'image/png', 0]);
        const [, bytes] = await createFileClient(stack).bytesOf(image!.file_id);
        assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
        assert.equal(bytes.length, image!.size);
      });

      it("an error of the tool fails the node with the tool's words, or is a result where the node says so", async () => {
        const failed = await runNode(everything.url, 'get-sum', { a: 'x', b: 1 });
        assert.equal(failed.error!.code, 'tool_error');
        assert.match(failed.error!.message, /The tool reported an error: .*number/s);
        const settings = { fail_on_error: false };
        const entry = await runNode(everything.url, 'get-sum', { a: 'x', b: 1 }, { settings });
        assert.equal(entry.status, 'succeed');
        assert.equal(entry.result!['is_error'], true);
        assert.match(entry.result!.content, /number/);
      });
    });
  }

  it('is one transaction that costs nothing, and its call is closed in the ledger', async () => {
    const [start, node] = [trigger(), mcp(fake.endpoint().url, 'echo')];
    link(start, node);
    const { runId } = await api.runToEnd(drawing([start, node]));
    const paid = (await transactionsOf(stack, runId)).find(({ node_id }) => node_id === node.id);
    assert.deepEqual(
      { ...paid, amount_usd: Number(paid!.amount_usd) },
      { path: '', node_id: node.id, operation: 'mcp', status: 'Succeeded', amount_usd: 0, is_estimated: false },
    );
    const calls = await queryDatabase(stack, 'SELECT state FROM provider_calls WHERE run_id = $1', [runId]);
    assert.deepEqual(calls, [{ state: 'applied' }]);
  });

  it('connects once for the nodes of a run that follow each other, and closes the session after it', async () => {
    const endpoint = fake.endpoint();
    const nodes = [1, 2, 3].map((n) => mcp(endpoint.url, 'echo', { n }));
    const run = await api.runToEnd(drawing(linkInRow([trigger(), ...nodes])));
    assert.deepEqual(
      nodes.map(({ id }) => run.nodes[id]!.result!.content),
      ['{"n":1}', '{"n":2}', '{"n":3}'],
    );
    assert.equal(endpoint.methods().filter((method) => method === 'initialize').length, 1);
    await eventually(() => endpoint.methods().includes('DELETE'));
    assert.equal(endpoint.requests.at(-1)!.headers['mcp-session-id'], 'session-1');
  });

  it('connects anew when the server has forgotten the session between two nodes', async () => {
    let forgets = 1;
    const endpoint = fake.endpoint({
      'tools/call': ({ params, id }, response) => {
        if ((params['arguments'] as { n: number }).n === 2 && forgets-- > 0) return void response.writeHead(404).end();
        return sendJson(response, { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'ok' }] } });
      },
    });
    const [start, one, two] = [trigger(), mcp(endpoint.url, 'echo', { n: 1 }), mcp(endpoint.url, 'echo', { n: 2 })];
    link(start, one);
    link(one, two);
    const run = await api.runToEnd(drawing([start, one, two]));
    assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
    assert.equal(endpoint.methods().filter((method) => method === 'initialize').length, 2);
  });

  it('goes on in a new session whenever the server has lost one, as often as `retry` allows, and repeats nothing', async () => {
    // The first three sessions end at their second call, and the next two before they are open.
    const forgetful = await startForgetfulServer(({ method, session, call }) => {
      return session <= 3 ? call > 1 : session <= 5 && method === 'notifications/initialized';
    });
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    const each = drawnNode('for_each', { items: JSON.stringify(numbers), concurrency: 5 });
    const call = mcp(forgetful.url, 'note', { n: `{{ ${each.id}.item }}` });
    each.data['body_node'] = call.id;
    const start = trigger();
    link(start, each);
    const run = await api.runToEnd(drawing([start, each, call]));
    assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
    assert.deepEqual(
      forgetful.carriedOut.toSorted((a, b) => a - b),
      numbers,
    );
    await forgetful.close();

    const lost = await startForgetfulServer(({ method }) => method === 'tools/call');
    const entry = await runNode(lost.url, 'note', { n: 1 }, { retry: { max_attempts: 2, delay: 0 } });
    assert.deepEqual([entry.status, entry.error?.code], ['failed', 'mcp_protocol']);
    assert.match(entry.error!.message, /no longer knows the session/);
    assert.deepEqual([lost.sessions(), lost.carriedOut], [6, []]);
    await lost.close();
  });

  it('keeps every digit of structured content on its way into other nodes', async () => {
    const structured = '{"id":9007199254740993,"price":0.12345678901234567890}';
    const endpoint = fake.endpoint({
      'tools/call': (request, response) => {
        const isFirst = (request.params['arguments'] as { of?: unknown }).of === undefined;
        const result = `{"content":[],"structuredContent":${isFirst ? structured : '{}'}}`;
        return writtenResult(result)(request, response);
      },
    });
    const first = mcp(endpoint.url, 'echo');
    const second = mcp(endpoint.url, 'echo', { of: resultOf(first, 'structured_content') });
    const run = await api.runToEnd(drawing(linkInRow([trigger(), first, second])));
    assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
    assert.match(
      endpoint.bodies.findLast((body) => body.includes('tools/call'))!,
      new RegExp(`"of":${structured}`),
    );
  });

  it('quotes the structured data and the links of an error that has no text', async () => {
    const content = [{ type: 'resource_link', name: 'log', uri: 'file:///log' }];
    const { entry } = await runScripted({
      'tools/call': () => ({ content, structuredContent: { code: 'no_such_row' }, isError: true }),
    });
    const said = '[resource_link "log": file:///log]\n{"code":"no_such_row"}';
    assert.deepEqual(entry.error, { code: 'tool_error', message: `The tool reported an error: ${said}` });
  });

  it('tries to connect four times at most, and calls once it is there', async () => {
    let refusals = 2;
    const late = await runScripted({
      '*': ({ method, id }, response) => {
        if (refusals-- > 0) return void response.writeHead(503).end();
        if (id === undefined) return void response.writeHead(202).end();
        const result =
          method === 'initialize'
            ? { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'f', version: '1' } }
            : { content: [{ type: 'text', text: 'at last' }] };
        return sendJson(response, { jsonrpc: '2.0', id, result });
      },
    });
    assert.equal(late.entry.result!.content, 'at last');
    assert.equal(late.calls.length, 1);
    const never = await runScripted({ '*': (_request, response) => void response.writeHead(503).end() });
    assert.equal(never.entry.error!.code, 'mcp_unreachable');
    assert.deepEqual(
      never.endpoint.methods(),
      Array.from({ length: 4 }, () => 'initialize'),
    );
    const gone = await startFakeMcpServer();
    await gone.close();
    const entry = await runNode(`${gone.origin}/mcp`, 'echo');
    assert.equal(entry.error!.code, 'mcp_unreachable');
    assert.match(entry.error!.message, /ECONNREFUSED/);
  });

  it('fails at once on refused credentials, on what is no MCP server and on an unknown tool', async () => {
    const answers: [string, McpScript][] = [
      ['mcp_unauthorized', { '*': (_request, response) => void response.writeHead(401).end() }],
      [
        'mcp_protocol',
        { '*': (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>') },
      ],
      [
        'mcp_tool_not_found',
        {
          'tools/call': ({ id }, response) =>
            sendJson(response, { jsonrpc: '2.0', id, error: { code: -32602, message: 'Unknown tool: echo' } }),
        },
      ],
    ];
    for (const [code, script] of answers) {
      const { entry, endpoint } = await runScripted(script);
      assert.equal(entry.error!.code, code);
      const first = endpoint.methods().filter((method) => method === 'initialize');
      assert.equal(first.length, 1);
    }
  });

  it('does not repeat a call whose fate is unknown', async () => {
    const fates: [string, McpScript[string]][] = [
      ['mcp_unreachable', (_request, response) => void response.socket?.resetAndDestroy()],
      ['mcp_unreachable', (_request, response) => void response.writeHead(500).end()],
      [
        'mcp_unreachable',
        (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
      ],
      ['timeout', () => undefined],
      ['mcp_protocol', (_request, response) => openEvents(response).event('garbage')],
    ];
    for (const [code, handler] of fates) {
      const { entry, calls } = await runScripted({ 'tools/call': handler }, { settings: { timeout: 1 } });
      assert.equal(entry.error!.code, code);
      assert.equal(calls.length, 1);
    }
  });

  it('repeats such a call where the node says that it may', async () => {
    let broken = 2;
    const { entry, calls } = await runScripted(
      {
        'tools/call': ({ id }, response) => {
          if (broken-- > 0) return void response.socket?.resetAndDestroy();
          return sendJson(response, { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } });
        },
      },
      { settings: { retry_unsafe: true } },
    );
    assert.equal(entry.result!.content, 'done');
    assert.equal(calls.length, 3);
  });

  it('fails with response_too_large above 10 MiB, and takes NUL as U+FFFD', async () => {
    assert.equal((await runScripted(sized('x'.repeat(10 * 1024 * 1024)))).entry.error!.code, 'response_too_large');
    assert.equal((await runScripted(sized('a\0b'))).entry.result!.content, 'a\uFFFDb');
  });

  it('a cancelled run tells the server, hangs up and settles the node as cancelled', async () => {
    const endpoint = fake.endpoint({ 'tools/call': (_request, response) => void openEvents(response) });
    const [start, node] = [trigger(), mcp(endpoint.url, 'echo')];
    link(start, node);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([start, node]));
    const runId = (await api.run(workflowId)).data.id;
    const call = await eventually(() => endpoint.requests.find(({ method }) => method === 'tools/call'));
    await api.post(`/workflows/${workflowId}/history/${runId}/cancel/`);
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.data![node.id]!.error!.code, 'cancelled');
    await eventually(() => call.aborted && endpoint.methods().includes('DELETE'));
    const told = endpoint.requests.find(({ method }) => method === 'notifications/cancelled');
    assert.equal(told!.params['requestId'], call.id);
  });

  it('later nodes read its fields', async () => {
    const target = await startHttpTarget();
    const [start, tool] = [trigger(), mcp(fake.endpoint().url, 'echo', { a: [1, { b: 2 }] })];
    const next = http(`${target.url}/next`, {
      method: 'POST',
      body: { got: resultOf(tool, 'a[1].b'), error: resultOf(tool, 'is_error') },
    });
    link(start, tool);
    link(tool, next);
    await api.runToEnd(drawing([start, tool, next]));
    assert.deepEqual(JSON.parse(target.requestsTo('/next')[0]!.body), { got: 2, error: false });
    await target.close();
  });
});
