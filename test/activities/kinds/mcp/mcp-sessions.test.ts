import assert from 'node:assert/strict';
import { createMcpSessions, type McpSessions } from '../../../../activities/kinds/mcp/mcp-sessions.js';
import { createMcpClient, McpError } from '../../../../outgoing/mcp-client.js';
import type { McpClient, McpServer, McpSession } from '../../../../outgoing/mcp-types.js';
import { eventually } from '../../../../harness/timing/eventually.js';
import { startForgetfulServer } from '../../../support/forgetful-mcp-server.js';
import { startFakeMcpServer, type FakeMcpEndpoint, type FakeMcpServer } from '../../../support/fake-mcp-server.js';

const NEVER = new AbortController().signal;
const call = (session: McpSession) =>
  session.callTool('echo', {}, { timeoutMs: 5_000, signal: new AbortController().signal });

function toServer(endpoint: FakeMcpEndpoint, given: Partial<McpServer> = {}): McpServer {
  return { endpointUrl: endpoint.url, transport: 'streamable_http', headers: {}, timeoutMs: 5_000, ...given };
}

function countOf(endpoint: FakeMcpEndpoint, method: string): number {
  return endpoint.methods().filter((each) => each === method).length;
}

describe('MCP sessions of runs', function () {
  this.timeout(120_000);
  let client: McpClient;
  let sessions: McpSessions;
  let fake: FakeMcpServer;

  before(async () => {
    client = createMcpClient({ allowPrivateNetwork: true });
    sessions = createMcpSessions(client);
    fake = await startFakeMcpServer();
  });
  after(async () => {
    await client.close();
    await fake.close();
  });

  it('nodes of one run share a session, side by side and one after the other', async () => {
    const endpoint = fake.endpoint();
    const server = toServer(endpoint);
    const use = () => sessions.use('run', server, new AbortController().signal, call);
    await Promise.all(Array.from({ length: 20 }, use));
    await sessions.use('run', server, NEVER, call);
    assert.equal(countOf(endpoint, 'initialize'), 1);
    assert.equal(countOf(endpoint, 'tools/call'), 21);
  });

  it('other runs, headers and transports have sessions of their own', async () => {
    const endpoint = fake.endpoint();
    await sessions.use('one', toServer(endpoint), NEVER, call);
    await sessions.use('two', toServer(endpoint), NEVER, call);
    await sessions.use('one', toServer(endpoint, { headers: { authorization: 'other' } }), NEVER, call);
    await sessions.use('one', toServer(endpoint, { transport: 'auto' }), NEVER, call);
    assert.equal(countOf(endpoint, 'initialize'), 4);
  });

  it('a session is closed on the server some seconds after its last use', async () => {
    const endpoint = fake.endpoint();
    await sessions.use('run', toServer(endpoint), NEVER, call);
    assert.equal(countOf(endpoint, 'DELETE'), 0);
    await eventually(() => countOf(endpoint, 'DELETE') === 1);
  });

  it('a session on which something failed serves no other node and is closed', async () => {
    const endpoint = fake.endpoint({ 'tools/call': (_request, response) => void response.socket?.resetAndDestroy() });
    const server = toServer(endpoint);
    for (let node = 0; node < 2; node += 1) await assert.rejects(sessions.use('run', server, NEVER, call), McpError);
    assert.equal(countOf(endpoint, 'initialize'), 2);
    await eventually(() => countOf(endpoint, 'DELETE') === 2);
  });

  it('a use runs again only where the kept session was gone before anything was sent', async () => {
    const endpoint = fake.endpoint();
    const server = toServer(endpoint);
    const acts = async (error: McpError): Promise<number> => {
      let count = 0;
      const act = () => {
        count += 1;
        return Promise.reject(error);
      };
      await assert.rejects(sessions.use('again', server, NEVER, act), error);
      return count;
    };
    const unsent = new McpError('mcp_unreachable', 'x', true);
    assert.equal(await acts(unsent), 1, 'the session was new');
    await sessions.use('again', server, NEVER, call);
    assert.equal(await acts(unsent), 2);
    await sessions.use('again', server, NEVER, call);
    assert.equal(await acts(new McpError('mcp_unreachable', 'x', false)), 1);
  });

  it('a use continues in a new session when the server forgets one, three times at most, and repeats nothing', async () => {
    // Every session ends at its second call, so one session never serves all callers that share it.
    const forgetful = await startForgetfulServer(({ call: nth }) => nth > 1);
    const server = { endpointUrl: forgetful.url, transport: 'auto' as const, headers: {}, timeoutMs: 5_000 };
    const noted = (n: number) => (session: McpSession) =>
      session.callTool('note', { n }, { timeoutMs: 5_000, signal: new AbortController().signal });
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    const results = await Promise.all(
      numbers.map((n) => sessions.use('run', server, new AbortController().signal, noted(n))),
    );
    assert.deepEqual(
      results.map(({ content }) => content),
      numbers.map((n) => `noted ${n}`),
    );
    assert.deepEqual(
      forgetful.carriedOut.toSorted((a, b) => a - b),
      numbers,
    );
    await forgetful.close();
  });

  it('a session that is lost while it is being opened is opened anew for all who wait for it', async () => {
    const forgetful = await startForgetfulServer(({ method, session }) => {
      return method === 'notifications/initialized' && session <= 2;
    });
    const server = { endpointUrl: forgetful.url, transport: 'auto' as const, headers: {}, timeoutMs: 5_000 };
    const use = (n: number) =>
      sessions.use('run', server, NEVER, (session) =>
        session.callTool('note', { n }, { timeoutMs: 5_000, signal: NEVER }),
      );
    await Promise.all([1, 2, 3, 4, 5].map(use));
    assert.equal(forgetful.carriedOut.length, 5);
    await forgetful.close();
  });

  it('gives up a server that forgets every session after three of them, or when it is told to', async () => {
    const forgetful = await startForgetfulServer(({ method }) => method === 'tools/call');
    const server = { endpointUrl: forgetful.url, transport: 'auto' as const, headers: {}, timeoutMs: 5_000 };
    await assert.rejects(sessions.use('run', server, NEVER, call), (error: McpError) => error.isSessionLost);
    assert.equal(forgetful.sessions(), 3);
    const stop = new AbortController();
    const stopped = sessions.use('other', server, stop.signal, async (session) => {
      try {
        return await call(session);
      } finally {
        // After its second session, `use` pauses before it opens a third one.
        if (forgetful.sessions() === 5) setImmediate(() => stop.abort(new Error('enough')));
      }
    });
    await assert.rejects(stopped, /enough/);
    assert.equal(forgetful.sessions(), 5);
    await forgetful.close();
  });

  it('a caller that gives up while connecting does not disturb others; when all give up, the attempt ends', async () => {
    const waiting: (() => void)[] = [];
    const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'slow', version: '1' } };
    const endpoint = fake.endpoint({ initialize: () => new Promise((resolve) => waiting.push(() => resolve(result))) });
    const stop = new AbortController();
    const impatient = sessions.use('run', toServer(endpoint), stop.signal, call);
    const patient = sessions.use('run', toServer(endpoint), NEVER, call);
    await eventually(() => waiting.length === 1);
    stop.abort(new Error('enough'));
    await assert.rejects(impatient, /enough/);
    waiting[0]!();
    assert.equal((await patient).isError, false);

    const alone = new AbortController();
    const abandoned = sessions.use('other run', toServer(endpoint), alone.signal, call);
    await eventually(() => waiting.length === 2);
    alone.abort(new Error('enough'));
    await assert.rejects(abandoned, /enough/);
    await eventually(() => endpoint.requests.findLast(({ method }) => method === 'initialize')!.aborted);
  });
});
