// Workflows called by MCP clients (docs/use/mcp.md).
import assert from 'node:assert/strict';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { GET_RUN } from '../../../api/mcp-server/call-result.js';
import { eventually } from '../../../harness/timing/eventually.js';
import {
  agent,
  condition,
  drawing,
  http,
  linkInRow,
  node as nodeOf,
  trigger,
} from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, type Account } from '../accounts.js';
import {
  call,
  connectBare,
  connectOfficial,
  connectOther,
  messagesIn,
  offer,
  runOf,
  textOf,
  type OfficialClient,
} from './mcp-clients.js';

const TOPIC = { id: 'topic', title: 'Topic', type: 'text', input_requirements: true };

describe('calls of workflows as MCP tools', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let project: number;
  let target: HttpTarget;
  let official: OfficialClient;

  before(async () => {
    stack = await sharedStack();
    [account, target] = await Promise.all([createAccount(stack), startHttpTarget()]);
    project = await account.api.createProject();
    official = await connectOfficial(stack.apiUrl, account.apiKey);
  });
  after(async () => {
    await official.client.close();
    await target.close();
  });

  /** Returns a drawing whose output is its input. */
  const echo = (fields: object[] = [TOPIC]): object =>
    drawing(linkInRow([trigger(fields as Record<string, unknown>[]), nodeOf('output', { value: '{{ input }}' })]));
  const offered = (data: object = echo(), title?: string) => offer(account.api, project, data, title);
  const runsOf = async (workflowId: number): Promise<number> => {
    const rows = await queryDatabase<{ count: string }>(stack, 'SELECT count(*) FROM runs WHERE workflow_id = $1', [
      workflowId,
    ]);
    return Number(rows[0]!.count);
  };

  it('the official client lists the tool, calls it, and gets the run and its output, as text and as an object', async () => {
    const { id, name } = await offered(echo(), 'Say it');
    const { tools } = await official.client.listTools();
    assert.deepEqual(tools.find((tool) => tool.name === name)?.inputSchema, {
      type: 'object',
      properties: { topic: { type: 'string', description: 'Topic' } },
      required: ['topic'],
    });
    const result = await call(official, name, { topic: 'cats', more: [1] });
    assert.notEqual(result.isError, true, JSON.stringify(result));
    assert.deepEqual(result.structuredContent, { topic: 'cats', more: [1] });
    assert.deepEqual(JSON.parse(textOf(result)), { topic: 'cats', more: [1] });
    const run = await account.api.history(id, runOf(result));
    assert.equal(run.status, 'Succeeded');
  });

  it('a client that shares no code with the official SDK does the same', async () => {
    const { name } = await offered();
    const other = await connectOther(stack.apiUrl, account.apiKey);
    try {
      const tools = await other.tools();
      const tool = tools[name];
      assert.ok(tool, Object.keys(tools).join(', '));
      const result = await tool.execute({ topic: 'dogs' }, { messages: [], toolCallId: 'one' });
      assert.deepEqual((result as { structuredContent: unknown }).structuredContent, { topic: 'dogs' });
      const refused = (await tool.execute({}, { messages: [], toolCallId: 'two' })) as { isError?: boolean };
      assert.equal(refused.isError, true);
    } finally {
      await other.close();
    }
  });

  it('an agent of our own finds the tool at /mcp and calls it; its run is one of the workflow', async () => {
    const { id, name } = await offered(echo(), 'Asked by an agent');
    const model = `mcp-agent-${id}`;
    stack.modelProvider.script(model, [
      { toolCalls: [{ name, arguments: { topic: 'owls' } }] },
      { text: 'The tool said owls.' },
    ]);
    const endpoint = {
      endpoint_url: `${stack.apiUrl}/mcp`,
      headers: { Authorization: `Bearer ${account.apiKey}` },
      require_approval: 'never',
    };
    const asks = agent('What about owls?', { model_name: model }, [endpoint]);
    const { status, nodes } = await account.api.runToEnd(drawing(linkInRow([trigger(), asks])));
    assert.equal(status, 'succeed', JSON.stringify(nodes));
    assert.equal(nodes[asks.id]?.result?.content, 'The tool said owls.');
    const [, second] = stack.modelProvider.requestsFor(model);
    assert.match(JSON.stringify(second), /owls/);
    assert.equal(await runsOf(id), 1);
  });

  it('without an output node the content of the last node is the result; numbers keep every digit', async () => {
    const last = nodeOf('set', { value: 'about {{ input.n }}' });
    const { name } = await offered(drawing(linkInRow([trigger(), last])));
    assert.equal(textOf(await call(official, name, { n: 7 })), 'about 7');
    const { name: exact } = await offered(echo([]));
    const bare = await connectBare(stack.apiUrl, account.apiKey);
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${exact}","arguments":{"n":12345678901234567890,"__proto__":{"a":1}}}}`;
    const { text } = await bare.send(message);
    assert.match(text, /"structuredContent":\{"n":12345678901234567890,"__proto__":\{"a":1\}\}/);
  });

  it('a run whose results have expired is an error that says so', async () => {
    const { name } = await offered();
    const runId = runOf(await call(official, name, { topic: 'cats' }));
    const stored = await call(official, GET_RUN, { run_id: runId });
    assert.deepEqual([stored.isError ?? false, stored.structuredContent], [false, { topic: 'cats' }]);
    await queryDatabase(stack, 'UPDATE runs SET results_expired_at = now() WHERE id = $1', [runId]);
    const expired = await call(official, GET_RUN, { run_id: runId });
    assert.deepEqual([expired.isError, textOf(expired)], [true, 'The results of this run have expired.']);
    assert.equal(runOf(expired), runId);
  });

  it('an input that the trigger refuses is a result that names the fields, and nothing is kept of it', async () => {
    const { id, name } = await offered();
    const result = await call(official, name, {});
    assert.equal(result.isError, true);
    assert.match(textOf(result), /^The workflow does not take this input\.\ntopic: Field required$/);
    assert.equal(await runsOf(id), 0);
    const broken = await offered({ nodes: [], edges: [], start_node: 'none' });
    const answer = await call(official, broken.name, {});
    assert.deepEqual([answer.isError, textOf(answer)], [true, 'The workflow cannot run as it is drawn.']);
  });

  it('a failed run is a result with the failed node’s message, in which secrets are masked', async () => {
    const secret = 'a-secret-of-the-run';
    const field = { id: 'token', type: 'text', is_secret: true, default_value: secret };
    const fails = http(`${target.url}/status/404?{{ input.token }}`);
    target.on('/status/404', { status: 404, body: `no ${secret}` });
    const { name } = await offered(drawing(linkInRow([trigger([field]), fails])));
    const { tools } = await official.client.listTools();
    assert.deepEqual(tools.find((tool) => tool.name === name)?.inputSchema, { type: 'object', properties: {} });
    const result = await call(official, name);
    assert.equal(result.isError, true);
    assert.match(textOf(result), /^The run failed: http_status: /);
    assert.equal(JSON.stringify(result).includes(secret), false);
    const { name: shows } = await offered(
      drawing(linkInRow([trigger([field]), nodeOf('output', { value: { is: '{{ input.token }}' } })])),
    );
    assert.deepEqual((await call(official, shows)).structuredContent, { is: '********' });
  });

  it('an output that is too large is an error that says where it is', async () => {
    const big = http(`${target.url}/bytes/1200000`);
    const { id, name } = await offered(drawing(linkInRow([trigger(), big])));
    const result = await call(official, name);
    assert.deepEqual([result.isError, textOf(result).includes(`workflow_result/?id=${runOf(result)}`)], [true, true]);
    assert.equal((await account.api.history(id, runOf(result))).status, 'Succeeded');
  });

  it('progress is told while it runs, node by node with their labels, and rises', async () => {
    const steps = [
      nodeOf('set', { value: '1', label: 'First step' }),
      condition('1', '==', '1', { label: 'Second step' }),
    ];
    const slow = http(`${target.url}/hold/progress`, { label: 'Slow step' });
    const { name } = await offered(drawing(linkInRow([trigger([], { label: 'Begin' }), ...steps, slow])));
    const told: { progress: number; total?: number | undefined; message?: string | undefined }[] = [];
    // The run ends only after the third report.
    const onprogress = (progress: (typeof told)[number]): void => {
      if (told.push(progress) === 3) target.release('/hold/progress');
    };
    const result = await call(official, name, {}, { onprogress });
    assert.notEqual(result.isError, true, JSON.stringify(result));
    assert.deepEqual(
      told.map(({ progress, total, message }) => [progress, total, message]),
      ['Begin', 'First step', 'Second step', 'Slow step'].map((label, index) => [index + 1, 4, label]),
    );
  });

  it('a client that asks for no progress gets none', async () => {
    const { name } = await offered();
    const bare = await connectBare(stack.apiUrl, account.apiKey);
    const { text, headers } = await bare.request(1, 'tools/call', { name, arguments: { topic: 'x' } });
    assert.match(headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.deepEqual(
      messagesIn(text).map(({ id }) => id),
      [1],
    );
  });

  it('cancel cancels the run of that call in that session, and of no other', async () => {
    const { id, name } = await offered(drawing(linkInRow([trigger(), nodeOf('wait', { mode: 'callback' })])));
    const openRuns = (): Promise<{ id: string; status: string }[]> =>
      queryDatabase(stack, 'SELECT id, status FROM runs WHERE workflow_id = $1 ORDER BY created_at', [id]);
    const controller = new AbortController();
    const cancelled = call(official, name, {}, { signal: controller.signal }).catch((error: unknown) => error);
    await eventually(async () => (await openRuns()).length === 1);
    const second = await connectOfficial(stack.apiUrl, account.apiKey);
    const stays = call(second, name).catch((error: unknown) => error);
    await eventually(async () => (await openRuns()).length === 2);
    controller.abort('enough');
    await cancelled;
    const first = await eventually(async () => {
      const runs = await openRuns();
      return runs[0]?.status === 'Cancelled' && runs;
    });
    assert.equal(first[1]?.status, 'In Progress');
    // A lost connection cancels nothing.
    await second.client.close();
    assert.ok((await stays) instanceof McpError);
    const [, other] = await openRuns();
    assert.equal(other?.status, 'In Progress');
    const path = `/workflows/${id}/history/${other.id}/cancel/`;
    assert.equal((await account.api.post(path)).status, 200);
  });

  it('a run that somebody else cancels is a result that says so', async () => {
    const { id, name } = await offered(drawing(linkInRow([trigger(), nodeOf('wait', { mode: 'callback' })])));
    const answer = call(official, name);
    const [run] = await eventually(async () => {
      const rows = await queryDatabase<{ id: string }>(stack, 'SELECT id FROM runs WHERE workflow_id = $1', [id]);
      return rows.length > 0 && rows;
    });
    await account.api.post(`/workflows/${id}/history/${run!.id}/cancel/`);
    const result = await answer;
    assert.deepEqual([result.isError, textOf(result)], [true, 'The run was cancelled.']);
  });
});
