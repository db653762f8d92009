import assert from 'node:assert/strict';
import { createMcpClient } from '../../outgoing/mcp-client.js';
import type { McpClient } from '../../outgoing/mcp-types.js';
import { startEverythingServer, type EverythingServer } from '../support/everything-server.js';
import { eventually } from '../../harness/timing/eventually.js';
import { listTools, NEVER, toServer } from './mcp.js';

describe('MCP client against the reference server', function () {
  this.timeout(120_000);
  let client: McpClient;

  before(() => (client = createMcpClient({ allowPrivateNetwork: true })));
  after(() => client.close());

  for (const [transport, kind] of [
    ['streamableHttp', 'streamable_http'],
    ['sse', 'sse'],
  ] as const) {
    describe(`over ${kind}`, () => {
      let everything: EverythingServer;
      before(async () => (everything = await startEverythingServer(transport)));
      after(() => everything.close());

      for (const chosen of [kind, 'auto'] as const) {
        it(`lists the tools with transport ${chosen}, as the server gives them`, async () => {
          const tools = await listTools(client, everything.url, { transport: chosen });
          const weather = tools.find(({ name }) => name === 'get-structured-content');
          assert.ok(tools.length > 10);
          assert.equal(weather?.inputSchema.type, 'object');
          assert.equal(weather?.outputSchema?.type, 'object');
          assert.equal(weather?.annotations?.readOnlyHint, true);
        });
      }

      it('gives text, structured, image and error results', async () => {
        const session = await client.connect(toServer(everything.url, { transport: kind }), NEVER);
        const options = { timeoutMs: 5_000, signal: NEVER };
        const echo = await session.callTool('echo', { message: 'hi' }, options);
        assert.deepEqual(echo, {
          content: 'Echo: hi',
          structuredContent: undefined,
          isError: false,
          parts: [{ type: 'text', text: 'Echo: hi' }],
        });
        const weather = await session.callTool('get-structured-content', { location: 'Chicago' }, options);
        assert.equal((weather.structuredContent as { temperature: number }).temperature, 36);
        const image = await session.callTool('get-tiny-image', {}, options);
        assert.match(image.content, /^Here's the image you requested:\nThe image above/);
        assert.deepEqual(
          image.parts.map((part) => (part as { type: string }).type),
          ['text', 'image', 'text'],
        );
        const wrong = await session.callTool('get-sum', { a: 'x' }, options);
        assert.equal(wrong.isError, true);
        assert.match(wrong.content, /expected number/i);
        await session.close();
      });

      it('tells the server of a cancelled call and can go on afterwards', async () => {
        const session = await client.connect(toServer(everything.url, { transport: kind }), NEVER);
        const stop = new AbortController();
        const slow = session.callTool(
          'trigger-long-running-operation',
          { duration: 20, steps: 2 },
          { timeoutMs: 30_000, signal: stop.signal },
        );
        const other = session.callTool('echo', { message: 'beside it' }, { timeoutMs: 5_000, signal: NEVER });
        assert.equal((await other).content, 'Echo: beside it');
        stop.abort(new Error('enough'));
        await assert.rejects(slow, /enough/);
        const after = await session.callTool('echo', { message: 'after' }, { timeoutMs: 5_000, signal: NEVER });
        assert.equal(after.content, 'Echo: after');
        await session.close();
      });
    });
  }

  it('ends the session on the server when it is closed', async () => {
    const everything = await startEverythingServer('streamableHttp');
    try {
      await listTools(client, everything.url);
      await eventually(() => everything.output().includes('Received session termination request'));
    } finally {
      await everything.close();
    }
  });
});
