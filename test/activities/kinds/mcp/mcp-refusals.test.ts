import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../../../harness/client/api-client.js';
import { startFakeMcpServer, type FakeMcpServer } from '../../../support/fake-mcp-server.js';
import { agent, drawing, http, link, linkInRow, mcp, trigger } from '../../../../harness/drawing/drawing.js';
import { sharedStack } from '../../../support/shared-stack.js';

describe('MCP node, refused before anything is sent', function () {
  this.timeout(120_000);
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

  it('addresses with a user name and password are a 422 on their field, and the sentence names connections', async () => {
    const tools = [{ type: 'mcp', server_label: 's', endpoint_url: 'https://user:p%40ss@host/mcp' }];
    const nodes = [
      http('http://user:p%40ss@host/'),
      http('http://user:p%40ss@{{ input.host }}/{{ input.path }}'),
      mcp('https://user:p%40ss@host/mcp', 'echo'),
      agent('hello', { model_name: 'm' }, tools),
    ];
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(linkInRow([trigger(), ...nodes])));
    const envelope = await api.run(workflowId);
    assert.equal(envelope.status, 422);
    const fields = ['url', 'url', 'endpoint_url', 'tools.0.endpoint_url'];
    for (const [index, { id }] of nodes.entries()) {
      const errors = envelope.data.data![id]!.result as unknown as Record<string, string>[];
      const sentence = 'Input should be an address without a user name and password: these belong in a connection';
      assert.deepEqual(
        errors.filter((error) => Object.keys(error)[0] === fields[index]),
        [{ [fields[index]!]: sentence }],
      );
    }
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
