import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../../support/api-client.js';
import { startFakeMcpServer, type FakeMcpServer } from '../../../support/fake-mcp-server.js';
import { drawing, link, mcp, trigger } from '../../../support/graphs.js';
import { sharedStack } from '../../../support/shared-stack.js';

describe('MCP node, refused before anything is sent', function () {
  this.timeout(60_000);
  let api: ApiClient;
  let fake: FakeMcpServer;

  before(async () => {
    const stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    fake = await startFakeMcpServer();
  });
  after(() => fake.close());

  it('422 names every wrong field', async () => {
    const node = mcp('not a url', '', [] as never, {
      transport: 'pigeon',
      headers: { a: {} },
      timeout: 31,
      settings: { timeout: 601, fail_on_error: 'yes', retry_unsafe: 1 },
    });
    const start = trigger();
    link(start, node);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([start, node]));
    const envelope = await api.run(workflowId);
    assert.equal(envelope.status, 422);
    const errors = envelope.data.data![node.id]!.result as unknown as Record<string, string>[];
    assert.deepEqual(Object.assign({}, ...errors), {
      endpoint_url: 'Input should be a valid http or https URL',
      transport: "Input should be 'auto', 'sse' or 'streamable_http'",
      'headers.a': 'Input should be a valid string, number or boolean',
      timeout: 'Input should be less than or equal to 30',
      tool_name: 'String should have at least 1 character',
      arguments: 'Input should be a valid dictionary',
      'settings.timeout': 'Input should be less than or equal to 600',
      'settings.fail_on_error': 'Input should be a valid boolean',
      'settings.retry_unsafe': 'Input should be a valid boolean',
    });
  });

  it('a header that becomes wrong when its variable is filled in fails the node, and nothing is sent', async () => {
    const endpoint = fake.endpoint();
    const headers = { 'x-a': '{{ input.h }}' };
    const [start, node] = [trigger(), mcp(endpoint.url, 'echo', {}, { headers })];
    link(start, node);
    const run = await api.runToEnd(drawing([start, node]), { h: 'a\r\nx-b: c' });
    assert.equal(run.nodes[node.id]!.error!.code, 'invalid_value');
    assert.equal(endpoint.requests.length, 0);
  });
});
