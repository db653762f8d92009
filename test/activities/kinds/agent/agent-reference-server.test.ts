import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../../../harness/client/api-client.js';
import { startEverythingServer, type EverythingServer } from '../../../support/everything-server.js';
import { agent, drawing, link, trigger } from '../../../../harness/drawing/drawing.js';
import { sharedStack } from '../../../support/shared-stack.js';
import type { TestStack } from '../../../../harness/stack/stack.js';

const TRANSPORTS = { streamableHttp: 'streamable_http', sse: 'sse' } as const;

describe('agent node', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
  });

  for (const [served, transport] of Object.entries(TRANSPORTS)) {
    describe(`with the tools of the reference server over ${served}`, () => {
      let everything: EverythingServer;
      before(async () => (everything = await startEverythingServer(served as keyof typeof TRANSPORTS)));
      after(() => everything.close());

      it('hands text, structured content, errors and the text around an image to the model', async () => {
        const model_name = `reference-${served}`;
        stack.modelProvider.script(model_name, [
          {
            toolCalls: [
              { name: 'echo', arguments: { message: 'hello' } },
              { name: 'get-structured-content', arguments: { location: 'Chicago' } },
              { name: 'get-sum', arguments: { a: 'x', b: 1 } },
              { name: 'get-tiny-image', arguments: {} },
            ],
          },
          { text: 'seen' },
        ]);
        const server = { endpoint_url: everything.url, transport, require_approval: 'never' };
        const [start, node] = [trigger(), agent('look', { model_name }, [server])];
        link(start, node);
        const run = await api.runToEnd(drawing([start, node]));
        assert.equal(run.nodes[node.id]!.result!.content, 'seen', JSON.stringify(run.nodes));
        const [first, second] = stack.modelProvider.requestsFor(model_name);
        const offered = (first!.body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name);
        for (const name of ['echo', 'get-sum', 'get-tiny-image']) assert.ok(offered.includes(name), name);
        const told = second!.messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
        assert.equal(told[0], 'Echo: hello');
        assert.deepEqual(JSON.parse(told[1]!), { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 });
        assert.match(told[2]!, /number/);
        assert.match(told[3]!, /image you requested[^]*Files: \[\{"file_id":"[^"]+","name":"get-tiny-image-1.png"/);
        const [{ tool_calls }] = run.nodes[node.id]!.result!['steps'] as [{ tool_calls: { outcome: string }[] }];
        assert.deepEqual(
          tool_calls.map(({ outcome }) => outcome),
          ['result', 'result', 'tool_error', 'result'],
        );
      });
    });
  }
});
