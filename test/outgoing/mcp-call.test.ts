import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { createMcpClient } from '../../outgoing/mcp-client.js';
import type { McpError, McpErrorCode } from '../../outgoing/mcp-error.js';
import type { McpClient } from '../../outgoing/mcp-types.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  openEvents,
  sendJson,
  sseScript,
  startFakeMcpServer,
  type FakeMcpServer,
  type McpHandler,
} from '../support/fake-mcp-server.js';
import { callTool, failing, MIB, NEVER, toServer, type Call } from './mcp.js';

const answer = (id: unknown, text = 'done') => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } });

/** Ends the stream at once, and asks the client to reconnect without delay (`retry: 0`). */
const endsAtOnce: McpHandler = (_request, response) => {
  openEvents(response);
  response.end('id: e1\nretry: 0\ndata:\n\n');
};

function failingWith(fake: FakeMcpServer, code: number, message: string): string {
  const handler: McpHandler = ({ id }, response) =>
    sendJson(response, { jsonrpc: '2.0', id, error: { code, message } });
  return fake.endpoint({ 'tools/call': handler }).url;
}

describe('MCP tool calls', function () {
  this.timeout(120_000);
  let client: McpClient;
  let fake: FakeMcpServer;

  before(async () => {
    client = createMcpClient({ allowPrivateNetwork: true });
    fake = await startFakeMcpServer();
  });
  after(async () => {
    await client.close();
    await fake.close();
  });

  const call = (endpointUrl: string, given: Call = {}) => callTool(client, endpointUrl, { args: { a: 1 }, ...given });

  it('tells an unknown tool and other errors of the protocol from results', async () => {
    await assert.rejects(
      call(failingWith(fake, -32602, 'Unknown tool: echo')),
      failing('mcp_tool_not_found', /Unknown tool: echo/, false),
    );
    await assert.rejects(
      call(failingWith(fake, -32602, 'Invalid arguments')),
      failing('mcp_protocol', /error -32602: Invalid arguments/),
    );
    await assert.rejects(
      call(failingWith(fake, -32000, 'Connection lost to the backend')),
      failing('mcp_protocol', /-32000/),
    );
  });

  it('never waits for an answer that cannot come', async () => {
    const broken: [McpErrorCode, RegExp, McpHandler][] = [
      ['mcp_unreachable', /broke/, (_request, response) => void response.socket?.resetAndDestroy()],
      [
        'mcp_unreachable',
        /before it had answered/,
        (_request, response) => {
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': 500 });
          response.write('{"jsonrpc"', () => response.socket?.resetAndDestroy());
        },
      ],
      [
        'mcp_unreachable',
        /before it had answered/,
        (_request, response) => {
          openEvents(response);
          response.write('data: {"json', () => response.socket?.resetAndDestroy());
        },
      ],
      [
        'mcp_unreachable',
        /before it had answered/,
        (_request, response) => {
          openEvents(response);
          response.end();
        },
      ],
      ['mcp_protocol', /not made/, (_request, response) => sendJson(response, answer(4711))],
      ['mcp_protocol', /not made/, (_request, response) => openEvents(response).event(answer('other'))],
      ['mcp_protocol', /without a response/, (_request, response) => sendJson(response, [])],
      ['mcp_protocol', /without a response/, (_request, response) => void response.writeHead(202).end()],
      ['mcp_protocol', /not JSON/, (_request, response) => openEvents(response).event('{"half')],
      ['mcp_protocol', /does not follow/, (_request, response) => openEvents(response).event({ jsonrpc: '1.0' })],
      [
        'mcp_protocol',
        /does not follow/,
        ({ id }, response) => sendJson(response, { ...answer(id), result: { content: 'text' } }),
      ],
      [
        'mcp_protocol',
        /neither JSON/,
        (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      ],
      ['mcp_unreachable', /status 500/, (_request, response) => void response.writeHead(500).end()],
    ];
    for (const [code, message, handler] of broken) {
      const { url } = fake.endpoint({ 'tools/call': handler });
      const startedAt = performance.now();
      await assert.rejects(call(url), failing(code, message, false), String(handler));
      assert.ok(performance.now() - startedAt < 25_000, String(handler));
    }
  });

  it('does the same over SSE, where the stream is the only way back', async () => {
    const broken: [McpErrorCode, RegExp, McpHandler][] = [
      ['mcp_unreachable', /before it had answered/, (_request, stream) => void stream.end()],
      ['mcp_unreachable', /before it had answered/, (_request, stream) => void stream.socket?.resetAndDestroy()],
      ['mcp_protocol', /not made/, (_request, stream) => void stream.write(`data: ${JSON.stringify(answer(99))}\n\n`)],
      ['mcp_protocol', /not JSON/, (_request, stream) => void stream.write('data: <html>\n\n')],
      ['response_too_large', /10 MiB/, (_request, stream) => void stream.write(`data: ${'x'.repeat(11 * MIB)}`)],
    ];
    for (const [code, message, handler] of broken) {
      const { url } = fake.endpoint(sseScript({ 'tools/call': handler }));
      const startedAt = performance.now();
      await assert.rejects(call(url, { server: { transport: 'sse' } }), failing(code, message, false), String(handler));
      assert.ok(performance.now() - startedAt < 25_000, String(handler));
    }
  });

  it('knows that a call never left when nobody listens any more', async () => {
    const dying = await startFakeMcpServer();
    const session = await client.connect(toServer(dying.endpoint().url), NEVER);
    await dying.close();
    const options = { timeoutMs: 5_000, signal: NEVER };
    await assert.rejects(session.callTool('echo', {}, options), failing('mcp_unreachable', /ECONNREFUSED/, true));
    await session.close();
    await assert.rejects(session.callTool('echo', {}, options), failing('mcp_unreachable', /closed/, true));
  });

  it('knows that a call was not read when the server has forgotten the session', async () => {
    for (const [status, text] of [
      [404, ''],
      [400, 'Bad Request: No valid session ID provided'],
    ] as const) {
      const { url } = fake.endpoint({
        'tools/call': (_request, response) => void response.writeHead(status).end(text),
      });
      await assert.rejects(call(url), failing('mcp_protocol', /no longer knows the session/, true));
    }
    const refused = fake.endpoint({
      'tools/call': (_request, response) => void response.writeHead(400).end('bad arguments'),
    });
    await assert.rejects(call(refused.url), failing('mcp_protocol', /status 400/, false));
  });

  it('does not take a call for unsent that the server had taken before it lost the session, or was gone', async () => {
    for (const status of [404, 401]) {
      const { url } = fake.endpoint({
        'tools/call': endsAtOnce,
        GET: (_request, response) => void response.writeHead(status).end(),
      });
      await assert.rejects(call(url), (error: McpError) => {
        assert.deepEqual(
          [error.isBeforeSend, error.isUnauthorized, error.isSessionLost],
          [false, false, status === 404],
        );
        return true;
      });
    }
    const dying = await startFakeMcpServer();
    const endpoint = dying.endpoint({
      'tools/call': (_request, response) => {
        openEvents(response);
        response.end('id: e1\nretry: 0\ndata:\n\n', () => void dying.close());
      },
    });
    await assert.rejects(call(endpoint.url, { timeoutMs: 20_000 }), failing('mcp_unreachable', /ECONNREFUSED/, false));
  });

  it('knows a lost session by the answer 404 to anything after the first message, with or without a session id', async () => {
    const gone: McpHandler = (_request, response) => void response.writeHead(404).end();
    const initialize: McpHandler = () => ({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'no ids', version: '1' },
    });
    for (const script of [
      { 'notifications/initialized': gone },
      { initialize, 'notifications/initialized': gone },
      { initialize, 'tools/call': gone },
    ]) {
      const endpoint = fake.endpoint(script);
      await assert.rejects(call(endpoint.url), (error: McpError) => error.isSessionLost && error.isBeforeSend);
      assert.ok(!endpoint.methods().includes('GET'), 'another transport was tried');
    }
    const never = fake.endpoint({ initialize: gone });
    await assert.rejects(call(never.url), (error: McpError) => !error.isSessionLost);
  });

  it('gives up after the time of the call and tells the server', async () => {
    for (const script of [{ 'tools/call': () => undefined }, sseScript({ 'tools/call': () => undefined })]) {
      const endpoint = fake.endpoint(script);
      await assert.rejects(call(endpoint.url, { timeoutMs: 2_500 }), failing('timeout', /2\.5 seconds/, false));
      const called = endpoint.requests.find(({ method }) => method === 'tools/call');
      const told = endpoint.requests.find(({ method }) => method === 'notifications/cancelled');
      assert.equal(told?.params['requestId'], called?.id);
    }
  });

  it('hangs up when it is cancelled', async () => {
    const endpoint = fake.endpoint({ 'tools/call': (_request, response) => void openEvents(response) });
    const session = await client.connect(toServer(endpoint.url), NEVER);
    const stop = new AbortController();
    const called = session.callTool('echo', {}, { timeoutMs: 30_000, signal: stop.signal });
    const request = await eventually(() => endpoint.requests.find(({ method }) => method === 'tools/call'));
    stop.abort(new Error('cancelled by the test'));
    await assert.rejects(called, /cancelled by the test/);
    await eventually(() => request.aborted);
    assert.ok(endpoint.methods().includes('notifications/cancelled'));
    await session.close();
    assert.equal(endpoint.methods().at(-1), 'DELETE');
  });

  it('takes the rest of an answer whose stream broke, where the server offers that', async () => {
    const endpoint = fake.endpoint({
      'tools/call': (_request, response) => {
        openEvents(response).event(
          { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } },
          'e1',
        );
        response.end();
      },
      GET: ({ headers }, response) =>
        openEvents(response).event(answer(1, `after ${String(headers['last-event-id'])}`), 'e2'),
    });
    assert.equal((await call(endpoint.url)).content, 'after e1');
  });

  it('asks again after the last known event, where a resumed stream ended without a new one', async () => {
    const asked: unknown[] = [];
    const endpoint = fake.endpoint({
      'tools/call': endsAtOnce,
      GET: ({ headers }, response) => {
        asked.push(headers['last-event-id']);
        const { event } = openEvents(response);
        if (asked.length < 3) response.end(': keep-alive\n\n');
        else event(answer(1), 'e2');
      },
    });
    assert.equal((await call(endpoint.url, { timeoutMs: 20_000 })).content, 'done');
    assert.deepEqual(asked, ['e1', 'e1', 'e1']);
  });

  it('does not ask for ever for the rest of an answer', async () => {
    const gone = fake.endpoint({
      'tools/call': endsAtOnce,
      GET: (_request, response) => void response.writeHead(500).end(),
    });
    await assert.rejects(call(gone.url, { timeoutMs: 10_000 }), failing('mcp_unreachable', /status 500/, false));
    assert.equal(gone.requests.filter(({ method }) => method === 'GET').length, 2);
    for (const status of [200, 204]) {
      const empty = fake.endpoint({
        'tools/call': endsAtOnce,
        GET: (_request, response) => void response.writeHead(status).end(),
      });
      await assert.rejects(call(empty.url, { timeoutMs: 10_000 }), failing('mcp_protocol', /event stream/, false));
      assert.equal(empty.requests.filter(({ method }) => method === 'GET').length, 2);
    }
    const endsWithoutId: McpHandler = (_request, response) => {
      openEvents(response);
      response.end(': keep-alive\n\n');
    };
    for (const GET of [endsAtOnce, endsWithoutId]) {
      const busy = fake.endpoint({ 'tools/call': endsAtOnce, GET });
      await assert.rejects(call(busy.url, { timeoutMs: 2_500 }), failing('timeout', /2\.5 seconds/, false));
      assert.ok(busy.requests.filter(({ method }) => method === 'GET').length <= 3);
    }
  });

  it('bounds a message at 10 MiB, whole or in pieces, and a stream in its messages', async () => {
    const full = 'x'.repeat(10 * MIB - 200);
    const fits = fake.endpoint({ 'tools/call': ({ id }, response) => openEvents(response).event(answer(id, full)) });
    assert.equal((await call(fits.url, { timeoutMs: 30_000 })).content.length, full.length);
    const large: McpHandler[] = [
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync(Buffer.alloc(30 * MIB, ' ')));
      },
      ({ id }, response) => sendJson(response, answer(id, 'x'.repeat(10 * MIB))),
      ({ id }, response) => openEvents(response).event(answer(id, 'x'.repeat(10 * MIB)), 'with-an-id'),
      (_request, response) => {
        const { event } = openEvents(response);
        for (let count = 0; count < 10_100; count += 1)
          event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: count } });
      },
    ];
    for (const handler of large) {
      const { url } = fake.endpoint({ 'tools/call': handler });
      await assert.rejects(
        call(url, { timeoutMs: 30_000 }),
        failing('response_too_large', /10 MiB|does not stop/, false),
      );
    }
  });

  it('does not let a server keep it busy with requests of its own', async () => {
    const endpoint = fake.endpoint({
      'tools/call': (_request, response) => {
        const { event } = openEvents(response);
        for (let id = 0; id < 500; id += 1) event({ jsonrpc: '2.0', id, method: 'ping' });
      },
    });
    await assert.rejects(call(endpoint.url), failing('mcp_protocol', /too many requests/, false));
    assert.ok(endpoint.requests.length < 150);
  });

  it('reads at most 64 KiB of the answer 400 to learn whether the session is lost, and hangs up', async () => {
    let sent = 0;
    const endless: McpHandler = (_request, response) => {
      response.writeHead(400, { 'content-type': 'text/plain' });
      const write = (): void => {
        while (!response.destroyed && response.write('x'.repeat(16 * 1024))) sent += 16 * 1024;
      };
      response.on('drain', write);
      write();
    };
    const endpoint = fake.endpoint({ 'tools/call': endless });
    await assert.rejects(call(endpoint.url), failing('mcp_protocol', /status 400/, false));
    const request = endpoint.requests.find(({ method }) => method === 'tools/call')!;
    await eventually(() => request.aborted);
    // Bytes in the socket buffers of both ends count as sent, too.
    assert.ok(sent < 16 * MIB, `${sent} bytes`);
    const late = fake.endpoint({
      'tools/call': (_request, response) =>
        void response.writeHead(400).end(`${'x'.repeat(64 * 1024)} no valid session ID`),
    });
    await assert.rejects(call(late.url), failing('mcp_protocol', /status 400/, false));
  });

  it('ends a session whose server answers neither the end nor a cancelled call', async () => {
    const silent: McpHandler = () => undefined;
    const endpoint = fake.endpoint({
      'tools/call': silent,
      'notifications/cancelled': silent,
      DELETE: silent,
    });
    const session = await client.connect(toServer(endpoint.url), NEVER);
    const stop = new AbortController();
    const called = session.callTool('echo', {}, { timeoutMs: 600_000, signal: stop.signal });
    const request = await eventually(() => endpoint.requests.find(({ method }) => method === 'tools/call'));
    stop.abort(new Error('cancelled by the test'));
    await assert.rejects(called, /cancelled by the test/);
    await eventually(() => request.aborted);
    await session.close();
    assert.deepEqual(endpoint.methods().slice(-2), ['notifications/cancelled', 'DELETE']);
  });

  it('never says a header, even when the server quotes it', async () => {
    const headers = { authorization: 'Bearer canary-79', 'x-plain': 'canary-80' };
    const endpoint = fake.endpoint({
      'tools/call': (request, response) => {
        const message = `bad: ${request.headers.authorization}; token canary-79, ${String(request.headers['x-plain'])}`;
        sendJson(response, { jsonrpc: '2.0', id: request.id, error: { code: -32603, message } });
      },
    });
    await assert.rejects(
      call(endpoint.url, { server: { headers } }),
      failing('mcp_protocol', /bad: \*{8}; token \*{8}, \*{8}$/),
    );
  });
});
