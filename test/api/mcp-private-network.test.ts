import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../support/api-client.js';
import { startFakeMcpServer, type FakeMcpServer } from '../support/fake-mcp-server.js';
import { drawing, link, mcp, trigger } from '../support/graphs.js';
import { startStack, type TestStack } from '../support/stack.js';
import type { Detail } from './bodies.js';

describe('MCP with ALLOW_PRIVATE_NETWORK=false', function () {
  this.timeout(60_000);
  let stack: TestStack;
  let api: ApiClient;
  let fake: FakeMcpServer;

  before(async () => {
    stack = await startStack({ env: { ALLOW_PRIVATE_NETWORK: 'false' } });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    fake = await startFakeMcpServer();
  });
  after(async () => {
    await fake.close();
    await stack.stop();
  });

  it('private addresses are refused by mcp-tools and by the node, and nothing reaches them', async () => {
    const endpoint = fake.endpoint();
    const addresses = [
      endpoint.url,
      endpoint.url.replace('127.0.0.1', 'localhost'),
      'http://169.254.169.254/mcp',
      'http://[::1]/',
    ];
    for (const endpoint_url of addresses) {
      for (const transport of ['auto', 'sse', 'streamable_http']) {
        const answer = await api.post<Detail>('/workflows/mcp-tools/', { body: { endpoint_url, transport } });
        assert.equal(answer.status, 400);
        assert.equal(answer.body.code, 'blocked_address');
      }
      const [start, node] = [trigger(), mcp(endpoint_url, 'echo')];
      link(start, node);
      const run = await api.runToEnd(drawing([start, node]));
      assert.equal(run.nodes[node.id]!.error!.code, 'blocked_address');
    }
    assert.equal(endpoint.requests.length, 0);
  });
});
