import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { startFakeMcpServer, type FakeMcpEndpoint, type FakeMcpServer } from '../support/fake-mcp-server.js';
import { drawing, link, mcp, trigger } from '../../harness/drawing/drawing.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';

function countOf(endpoint: FakeMcpEndpoint, method: string): number {
  return endpoint.methods().filter((each) => each === method).length;
}

describe('MCP calls and dying workers', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let fake: FakeMcpServer;

  before(async () => {
    stack = await startStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    fake = await startFakeMcpServer();
  });
  after(async () => {
    await fake.close();
    await stack.stop();
  });

  /** Kills the worker once the server has received `method`. Returns the node's end. */
  async function runAndKillAt(endpoint: FakeMcpEndpoint, method: string, data: Record<string, unknown> = {}) {
    const [start, node] = [trigger(), mcp(endpoint.url, 'echo', {}, data)];
    link(start, node);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([start, node]));
    const runId = (await api.run(workflowId)).data.id;
    await eventually(() => endpoint.methods().includes(method));
    const pid = stack.stack.pids.worker!;
    process.kill(pid, 'SIGKILL');
    const end = await api.pollToEnd(runId, { timeoutMs: 60_000 });
    await eventually(() => stack.stack.pids.worker !== undefined && stack.stack.pids.worker !== pid);
    return end.data.data![node.id]!;
  }

  /** Never answers the first request of this method, and answers the others correctly. */
  function hangsOnce(method: string): FakeMcpEndpoint {
    let hangs = 1;
    const good =
      method === 'initialize'
        ? { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'fake', version: '1' } }
        : { content: [{ type: 'text', text: 'the second one' }] };
    return fake.endpoint({ [method]: () => (hangs-- > 0 ? undefined : good) });
  }

  it('a call that was in flight is not repeated: outcome_unknown', async () => {
    const endpoint = hangsOnce('tools/call');
    const entry = await runAndKillAt(endpoint, 'tools/call');
    assert.equal(entry.error!.code, 'outcome_unknown');
    assert.equal(countOf(endpoint, 'tools/call'), 1);
  });

  it('a call that was in flight is repeated where the node says that it may be', async () => {
    const endpoint = hangsOnce('tools/call');
    const entry = await runAndKillAt(endpoint, 'tools/call', { settings: { retry_unsafe: true } });
    assert.equal(entry.result!.content, 'the second one');
    assert.equal(countOf(endpoint, 'tools/call'), 2);
  });

  it('a worker that dies while it connects has called nothing: the next one connects and calls once', async () => {
    const endpoint = hangsOnce('initialize');
    const entry = await runAndKillAt(endpoint, 'initialize', { timeout: 30 });
    assert.equal(entry.status, 'succeed', JSON.stringify(entry));
    assert.equal(countOf(endpoint, 'initialize'), 2);
    assert.equal(countOf(endpoint, 'tools/call'), 1);
  });
});
