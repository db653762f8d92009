import assert from 'node:assert/strict';
import v8 from 'node:v8';
import vm from 'node:vm';
import { createMcpClient } from '../../outgoing/mcp-client.js';
import type { McpClient, McpServer } from '../../outgoing/mcp-types.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  sendJson,
  sseScript,
  startFakeMcpServer,
  type FakeMcpServer,
  type McpHandler,
  writtenResult,
} from '../support/fake-mcp-server.js';
import { startRawServer } from '../support/raw-server.js';
import { failing, listTools, MIB, NEVER, toServer } from './mcp.js';

const html: McpHandler = (_request, response) =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc') as () => void;

const tool = (name: string) => ({ name, inputSchema: { type: 'object' }, 'x-odd': { deep: [1] } });

describe('MCP client', function () {
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

  const list = (endpointUrl: string, given?: Partial<McpServer>) => listTools(client, endpointUrl, given);

  describe('connecting', () => {
    it('falls back to SSE only with auto, and only on a 4xx', async () => {
      const sse = fake.endpoint(sseScript());
      assert.equal((await list(sse.url)).length, 1);
      await assert.rejects(
        list(sse.url, { transport: 'streamable_http' }),
        failing('mcp_protocol', /status 404/, true),
      );
      const down = fake.endpoint({ '*': (_request, response) => void response.writeHead(503).end() });
      await assert.rejects(list(down.url), failing('mcp_unreachable', /status 503/, true));
      assert.deepEqual(down.methods(), ['initialize']);
      const neither = fake.endpoint({ '*': (_request, response) => void response.writeHead(405).end() });
      await assert.rejects(list(neither.url), failing('mcp_protocol', /status 405/, true));
      assert.deepEqual(neither.methods(), ['initialize', 'GET']);
    });

    it('says with auto that an SSE stream broke during initialize', async () => {
      const restarts = fake.endpoint(sseScript({ initialize: (_request, stream) => void stream.end() }));
      await assert.rejects(list(restarts.url), failing('mcp_unreachable', /before it had answered/, true));
      assert.deepEqual(restarts.methods(), ['initialize', 'GET', 'initialize']);
    });

    it('tells refused credentials from the rest', async () => {
      for (const status of [401, 403]) {
        const closed = fake.endpoint({ '*': (_request, response) => void response.writeHead(status).end() });
        await assert.rejects(list(closed.url), failing('mcp_unauthorized', /credentials/, true));
      }
    });

    it('says when nobody listens, when the name does not exist and when the URL is none', async () => {
      const gone = await startFakeMcpServer();
      await gone.close();
      await assert.rejects(list(`${gone.origin}/x`), failing('mcp_unreachable', /ECONNREFUSED/, true));
      await assert.rejects(
        list(`${gone.origin}/x`, { transport: 'sse' }),
        failing('mcp_unreachable', /ECONNREFUSED/, true),
      );
      await assert.rejects(
        list('http://no-such-host.invalid/'),
        failing('mcp_unreachable', /ENOTFOUND|EAI_AGAIN/, true),
      );
      for (const url of ['', 'nonsense', 'file:///etc/passwd', 'http://user:pass@127.0.0.1/']) {
        await assert.rejects(list(url), failing('invalid_url', /URL/, true));
      }
    });

    it('refuses private addresses, named or resolved, over both transports', async () => {
      const guarded = createMcpClient({ allowPrivateNetwork: false });
      const { url } = fake.endpoint();
      for (const endpointUrl of [
        url,
        url.replace('127.0.0.1', 'localhost'),
        'http://[::ffff:10.0.0.1]/',
        'http://169.254.169.254/',
      ]) {
        for (const transport of ['auto', 'sse', 'streamable_http'] as const) {
          await assert.rejects(
            guarded.connect(toServer(endpointUrl, { transport }), NEVER),
            failing('blocked_address', /not public/, true),
          );
        }
      }
      await guarded.close();
    });

    it('gives up after its time, and at once when it is told to', async () => {
      const silent = fake.endpoint({ '*': () => undefined });
      for (const transport of ['auto', 'sse', 'streamable_http'] as const) {
        await assert.rejects(list(silent.url, { timeoutMs: 200, transport }), failing('timeout', /0\.2 seconds/, true));
        const stop = AbortSignal.timeout(100);
        await assert.rejects(client.connect(toServer(silent.url, { transport }), stop), { name: 'TimeoutError' });
      }
      await eventually(() => silent.requests.every(({ aborted }) => aborted));
    });

    it('frees what a refused server sent before its time is over', async () => {
      const refused = fake.endpoint({
        '*': (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(`data: ${'x'.repeat(2 * MIB)}`);
        },
      });
      const held = (): number => {
        collectGarbage();
        return process.memoryUsage().arrayBuffers;
      };
      const before = held();
      for (let connects = 0; connects < 40; connects++) {
        await assert.rejects(
          list(refused.url, { timeoutMs: 600_000 }),
          failing('response_too_large', /larger than allowed/, true),
        );
      }
      await eventually(() => held() < before + 8 * MIB);
    });

    it('refuses what is no MCP server: HTML, other JSON, an unknown protocol version', async () => {
      for (const transport of ['auto', 'sse', 'streamable_http'] as const) {
        await assert.rejects(
          list(fake.endpoint({ '*': html }).url, { transport }),
          failing('mcp_protocol', /event stream/, true),
        );
      }
      const json = fake.endpoint({ initialize: (_request, response) => sendJson(response, { hello: 'world' }) });
      await assert.rejects(list(json.url), failing('mcp_protocol', /does not follow the protocol/, true));
      const cut = fake.endpoint({
        initialize: (_request, response) =>
          void response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":'),
      });
      await assert.rejects(list(cut.url), failing('mcp_protocol', /not JSON/, true));
      const version = fake.endpoint({
        initialize: () => ({
          protocolVersion: '1999-01-01',
          capabilities: {},
          serverInfo: { name: 'x', version: '1' },
        }),
      });
      await assert.rejects(list(version.url), failing('mcp_protocol', /does not follow/, true));
    });

    it('follows redirects that keep the method, inside the origin, and sends nothing to another one', async () => {
      const other = await startFakeMcpServer();
      const stranger = other.endpoint();
      const here = fake.endpoint();
      const inside = fake.endpoint({
        '*': (_request, response) => void response.writeHead(307, { location: here.url }).end(),
      });
      assert.equal((await list(inside.url)).length, 1);
      const asGet = fake.endpoint({
        '*': (_request, response) => void response.writeHead(302, { location: here.url }).end(),
      });
      await assert.rejects(list(asGet.url, { transport: 'streamable_http' }), failing('mcp_protocol', /status 302/));
      for (const status of [301, 302, 303]) {
        const sse = fake.endpoint(sseScript());
        const GET: McpHandler = (_request, response) => void response.writeHead(status, { location: sse.url }).end();
        assert.equal((await list(fake.endpoint({ GET }).url, { transport: 'sse' })).length, 1);
      }
      const outside = fake.endpoint({
        '*': (_request, response) => void response.writeHead(307, { location: stranger.url }).end(),
      });
      for (const transport of ['auto', 'sse'] as const) {
        const headers = { authorization: 'Bearer canary-77' };
        await assert.rejects(
          list(outside.url, { transport, headers }),
          failing('mcp_protocol', /another origin/, true),
        );
      }
      const elsewhere = fake.endpoint({
        '*': (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(`event: endpoint\ndata: ${stranger.url}\n\n`);
        },
      });
      await assert.rejects(list(elsewhere.url, { transport: 'sse' }), failing('mcp_protocol', /./, true));
      assert.equal(stranger.requests.length, 0);
      await other.close();
    });

    it('follows redirects to addresses in UTF-8, and none that name nothing', async () => {
      const paths: string[] = [];
      const server = await startRawServer((socket, request) => {
        const path = request.split(' ')[1]!;
        paths.push(path);
        const location = { '/utf8': Buffer.from('/köln').toString('latin1'), '/nowhere': '' }[path];
        const head = location === undefined ? '404 Not Found' : `307 Temporary Redirect\r\nLocation: ${location}`;
        socket.end(`HTTP/1.1 ${head}\r\nContent-Length: 0\r\n\r\n`, 'latin1');
      });
      const from = (path: string) => list(`${server.url}${path}`, { transport: 'streamable_http' });
      await assert.rejects(from('/utf8'), failing('mcp_protocol', /status 404/));
      await assert.rejects(from('/nowhere'), failing('mcp_protocol', /status 307/));
      assert.deepEqual(paths, ['/utf8', '/k%C3%B6ln', '/nowhere']);
      await server.close();
    });

    it('sends headers without the line ends around them', async () => {
      const endpoint = fake.endpoint();
      await list(endpoint.url, { headers: { authorization: ' Bearer canary-79\r\n' } });
      assert.equal(endpoint.requests[0]!.headers.authorization, 'Bearer canary-79');
    });

    it('sends the headers on every request, over both transports, but none that the protocol sets itself', async () => {
      const headers = {
        Authorization: 'Bearer canary-78',
        'X-Team': 'red',
        'Content-Type': 'text/plain',
        Host: 'evil.test',
      };
      for (const script of [{}, sseScript()]) {
        const endpoint = fake.endpoint(script);
        await list(endpoint.url, { headers });
        assert.ok(endpoint.requests.length > 3);
        for (const request of endpoint.requests) {
          assert.equal(request.headers.authorization, 'Bearer canary-78');
          assert.equal(request.headers['x-team'], 'red');
          assert.notEqual(request.headers['content-type'], 'text/plain');
          assert.equal(request.headers.host, new URL(endpoint.url).host);
        }
      }
      await assert.rejects(
        list(fake.endpoint().url, { headers: { a: 'b\r\nc: d' } }),
        failing('invalid_value', /header "a" holds a line end/, true),
      );
      await assert.rejects(
        list(fake.endpoint().url, { headers: { a: 'b\u0001' } }),
        failing('mcp_protocol', /header/, true),
      );
      const trimmed = fake.endpoint();
      await list(trimmed.url, { headers: { authorization: '\t Bearer of a file\r\n' } });
      assert.equal(trimmed.requests[0]!.headers.authorization, 'Bearer of a file');
    });

    it('names host, port and reason where no connection comes about, and no header in them', async () => {
      const gone = await startFakeMcpServer();
      await gone.close();
      const { host, port } = new URL(gone.origin);
      const unreachable = new RegExp(`The MCP server at ${host} could not be reached: ECONNREFUSED`);
      await assert.rejects(list(`${gone.origin}/secret-path`), failing('mcp_unreachable', unreachable, true));
      await assert.rejects(list(`${gone.origin}/x`, { headers: { 'x-key': '127.0.0.1' } }), ({ message }: Error) => {
        assert.equal(message, `The MCP server at ********:${port} could not be reached: ECONNREFUSED.`);
        return true;
      });
      const silent = fake.endpoint({ '*': () => undefined });
      const late = new RegExp(`at ${new URL(fake.origin).host} within 0.2 seconds`);
      await assert.rejects(list(silent.url, { timeoutMs: 200 }), failing('timeout', late, true));
    });
  });

  describe('listing tools', () => {
    it('joins all pages and keeps what it does not know', async () => {
      const endpoint = fake.endpoint({
        'tools/list': ({ params }) => {
          if (params['cursor'] === undefined) return { tools: [tool('a'), tool('b')], nextCursor: 'two' };
          return params['cursor'] === 'two' ? { tools: [], nextCursor: 'three' } : { tools: [tool('c')] };
        },
      });
      assert.deepEqual(await list(endpoint.url), ['a', 'b', 'c'].map(tool));
    });

    it('ends with a server that repeats its cursor, never stops, or gives too much', async () => {
      const repeats = fake.endpoint({ 'tools/list': () => ({ tools: [], nextCursor: 'again' }) });
      await assert.rejects(list(repeats.url), failing('mcp_protocol', /same page/));
      assert.equal(repeats.requests.filter(({ method }) => method === 'tools/list').length, 2);
      let page = 0;
      const endless = fake.endpoint({ 'tools/list': () => ({ tools: [], nextCursor: String(page++) }) });
      await assert.rejects(list(endless.url), failing('mcp_protocol', /100 pages/));
      const many = Array.from({ length: 10_001 }, (_, index) => ({
        name: `t${index}`,
        inputSchema: { type: 'object' },
      }));
      await assert.rejects(
        list(fake.endpoint({ 'tools/list': () => ({ tools: many }) }).url),
        failing('mcp_protocol', /10000 tools/),
      );
      const large = { name: 'x'.repeat(6 * MIB), inputSchema: { type: 'object' } };
      const heavy = fake.endpoint({ 'tools/list': () => ({ tools: [large], nextCursor: String(page++) }) });
      await assert.rejects(list(heavy.url), failing('response_too_large', /10 MiB/));
    });

    it('refuses tools that are nested deeper than anything could be written again', async () => {
      const deep = `${'['.repeat(1e5)}${']'.repeat(1e5)}`;
      const deepTool = `{"name":"a","inputSchema":{"type":"object","x":${deep}}}`;
      const endpoint = fake.endpoint({ 'tools/list': writtenResult(`{"tools":[${deepTool}]}`) });
      await assert.rejects(list(endpoint.url), failing('mcp_protocol', /nested deeper/));
    });

    it('refuses tools that are none, and says when a server has no tools at all', async () => {
      for (const tools of [undefined, 'x', ['a', null], [{ inputSchema: { type: 'object' } }]]) {
        const endpoint = fake.endpoint({ 'tools/list': () => ({ tools }) });
        await assert.rejects(list(endpoint.url), failing('mcp_protocol', /does not follow/));
      }
      const strange = [{ name: 'a' }, { name: 'b', inputSchema: { anyOf: [] } }, { title: 'c' }, 7];
      assert.deepEqual(await list(fake.endpoint({ 'tools/list': () => ({ tools: strange }) }).url), strange);
      const none = fake.endpoint({
        'tools/list': ({ id }, response) =>
          sendJson(response, { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }),
      });
      await assert.rejects(list(none.url), failing('mcp_protocol', /error -32601: Method not found/));
    });
  });
});
