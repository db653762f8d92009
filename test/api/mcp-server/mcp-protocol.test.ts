// Tests what the MCP specification requires of a server, and requests of hostile clients (docs/use/mcp.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { drawing, linkInRow, node as nodeOf, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import {
  createAccount,
  giveRole,
  openSession,
  restrictedTo,
  revokeAccess,
  removeKey,
  type Account,
} from '../accounts.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';
import {
  connectBare,
  INITIALIZE,
  messagesIn,
  offer,
  postBare,
  runOf,
  type BareClient,
  type CallToolResult,
} from './mcp-clients.js';

describe('the protocol of /mcp', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let project: number;
  let bare: BareClient;
  let tool: { id: number; name: string };

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    project = await account.api.createProject();
    bare = await connectBare(stack.apiUrl, account.apiKey);
    tool = await offer(account.api, project, echo());
  });

  const echo = (): object => drawing(linkInRow([trigger(), nodeOf('output', { value: '{{ input }}' })]));
  const key = (): Record<string, string> => ({ authorization: `Bearer ${account.apiKey}` });
  const post = (message: unknown, headers: Record<string, string> = key()) => postBare(stack.apiUrl, message, headers);
  const runsOf = (id: number): Promise<{ id: string; input: string }[]> =>
    queryDatabase(stack, 'SELECT id, input::text FROM runs WHERE workflow_id = $1', [id]);

  it('initialize agrees on a version, with a session that each further request names', async () => {
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '1999-01-01']) {
      const { status, body, headers } = await post({
        ...INITIALIZE,
        params: { ...INITIALIZE.params, protocolVersion: version },
      });
      assert.equal(status, 200);
      const { protocolVersion, capabilities, serverInfo } = body.result!;
      assert.equal(protocolVersion, version === '1999-01-01' ? '2025-11-25' : version);
      assert.deepEqual((capabilities as { tools: unknown }).tools, {});
      assert.equal((serverInfo as { name: string }).name, 'workflow-automation-service');
      assert.match(headers.get('mcp-session-id') ?? '', /^[\w-]{60,400}$/);
      assert.match(headers.get('content-type') ?? '', /^application\/json/);
    }
    assert.deepEqual((await bare.request('p', 'ping')).body, { jsonrpc: '2.0', id: 'p', result: {} });
    for (const params of [{}, { protocolVersion: 1 }, { ...INITIALIZE.params, clientInfo: 'me' }]) {
      assert.equal((await post({ ...INITIALIZE, params })).body.error?.code, -32602, JSON.stringify(params));
    }
  });

  it('a session belongs to its key: without one 400, of another key or made up 404', async () => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    assert.deepEqual([(await post(list)).status, (await post(list)).body.code], [400, 'session_missing']);
    const [stranger, restricted] = [await createAccount(stack), await restrictedTo(stack, project, account)];
    const changed = `${bare.session.slice(0, -2)}${bare.session.endsWith('AA') ? 'BB' : 'AA'}`;
    const foreign = [stranger, restricted].map((who) => ({
      authorization: `Bearer ${who.apiKey}`,
      'mcp-session-id': bare.session,
    }));
    const madeUp = ['x', changed, randomUUID(), 'A'.repeat(4_000), Buffer.alloc(64).toString('base64url')].map(
      (id) => ({
        ...key(),
        'mcp-session-id': id,
      }),
    );
    for (const headers of [...foreign, ...madeUp]) {
      const { status, body } = await post(list, headers);
      assert.deepEqual([status, body.code], [404, 'session_not_found'], headers['mcp-session-id']);
    }
  });

  it('a session is accepted by another API process, too', async () => {
    const second = await startApiProcess(stack);
    try {
      const { status, body } = await postBare(
        second.apiUrl,
        { jsonrpc: '2.0', id: 1, method: 'tools/list' },
        bare.headers,
      );
      assert.deepEqual([status, Array.isArray(body.result?.['tools'])], [200, true]);
    } finally {
      await second.stop();
    }
  });

  it('takes an API key as bearer token, and nothing else', async () => {
    const { session } = await openSession(stack, account);
    const gone = await createAccount(stack);
    await removeKey(stack, gone);
    const refused: Record<string, string>[] = [
      {},
      { 'x-api-key': account.apiKey },
      { authorization: 'Bearer' },
      { authorization: `Bearer ${session}` },
      { authorization: `Basic ${account.apiKey}` },
      { authorization: `Bearer ${gone.apiKey}` },
    ];
    for (const headers of refused) {
      const { status, headers: answered } = await post(INITIALIZE, headers);
      assert.deepEqual(
        [status, answered.get('www-authenticate')],
        [401, 'Bearer realm="api"'],
        JSON.stringify(headers),
      );
    }
    const revoked = await createAccount(stack);
    await revokeAccess(stack, revoked);
    assert.equal((await post(INITIALIZE, { authorization: `Bearer ${revoked.apiKey}` })).status, 403);
  });

  it('a foreign Origin is a 403, whoever asks; its own and those of CORS_ORIGINS are not', async () => {
    const { hostname, port } = new URL(stack.apiUrl);
    for (const origin of ['https://evil.example', 'null', `http://evil.example:${port}`, `http://${hostname}:1`, '']) {
      for (const credentials of [key(), {}]) {
        const { status, body } = await post(INITIALIZE, { ...credentials, origin });
        assert.deepEqual([status, body.code], [403, 'foreign_origin'], origin);
      }
      const stream = await fetch(`${stack.apiUrl}/mcp`, { headers: { ...key(), origin } });
      assert.equal(stream.status, 403);
    }
    assert.equal((await post(INITIALIZE, { ...key(), origin: new URL(stack.apiUrl).origin })).status, 200);
    const second = await startApiProcess(stack, { CORS_ORIGINS: 'https://inspector.example' });
    try {
      const allowed = await postBare(second.apiUrl, INITIALIZE, { ...key(), origin: 'https://inspector.example' });
      assert.equal(allowed.status, 200);
      assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://inspector.example');
      assert.match(allowed.headers.get('access-control-expose-headers') ?? '', /Mcp-Session-Id/);
      const other = await postBare(second.apiUrl, INITIALIZE, { ...key(), origin: 'https://other.example' });
      assert.equal(other.status, 403);
    } finally {
      await second.stop();
    }
  });

  it('counts against the rate limit of the key, as every request does', async () => {
    const limited = await createAccount(stack, 3);
    const headers = { authorization: `Bearer ${limited.apiKey}` };
    const answers = [];
    for (let count = 0; count < 4; count += 1) answers.push(await post(INITIALIZE, headers));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 429],
    );
    assert.equal(answers[0]!.headers.get('x-ratelimit-remaining'), '2');
    assert.match(answers[3]!.headers.get('retry-after') ?? '', /^\d+$/);
  });

  it('a body that is no message is a 400 with an error of JSON-RPC', async () => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const noMessages = [
      [list, list],
      [],
      {},
      { ...list, jsonrpc: '1.0' },
      { ...list, id: null },
      { ...list, id: 1.5 },
      { ...list, id: 'x'.repeat(129) },
      { ...list, id: {} },
      { ...list, method: 7 },
      { ...list, params: [1] },
      { jsonrpc: '2.0', id: 1 },
    ];
    for (const message of noMessages) {
      const { status, body } = await bare.send(message);
      assert.deepEqual([status, body.error?.code, body.id], [400, -32600, null], JSON.stringify(message));
    }
    for (const text of ['null', '"x"', '7', '']) {
      const { status, body } = await bare.send(text);
      assert.deepEqual([status, body.error?.code, body.id], [400, -32600, null], text);
    }
    for (const text of ['{', `${'['.repeat(5_000)}${']'.repeat(5_000)}`, '{"a":"\\u0000"}']) {
      const { status, body } = await bare.send(text);
      assert.deepEqual([status, body.error?.code, body.id], [400, -32700, null], text.slice(0, 20));
      assert.match(body.error!.message, /^JSON parse error - /);
    }
    assert.equal((await bare.send(list, { 'content-type': 'text/plain' })).status, 415);
    const huge = JSON.stringify({ ...list, params: { x: 'x'.repeat(11 * 1024 * 1024) } });
    assert.equal((await bare.send(huge)).status, 413);
  });

  it('requires that Accept names both media types, and that the version is supported', async () => {
    for (const accept of ['application/json', 'text/event-stream', 'text/html', 'application/json, text/html']) {
      const { status, body } = await bare.send({ jsonrpc: '2.0', id: 1, method: 'ping' }, { accept });
      assert.deepEqual([status, body.code], [406, 'not_acceptable'], accept);
    }
    assert.equal((await bare.send({ jsonrpc: '2.0', id: 1, method: 'ping' }, { accept: '*/*' })).status, 200);
    for (const version of ['1999-01-01', 'x', '2025-11-26']) {
      const { status, body } = await bare.send(
        { jsonrpc: '2.0', id: 1, method: 'ping' },
        { 'mcp-protocol-version': version },
      );
      assert.deepEqual([status, body.code], [400, 'unsupported_version'], version);
    }
  });

  it('GET without Last-Event-ID and DELETE are a 405, and GET with an invalid one is a 400', async () => {
    const get = await fetch(`${stack.apiUrl}/mcp`, { headers: { ...bare.headers, accept: 'text/event-stream' } });
    assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST, OPTIONS']);
    const end = await fetch(`${stack.apiUrl}/mcp`, { method: 'DELETE', headers: bare.headers });
    assert.equal(end.status, 405);
    for (const id of ['x', 'WzEsbnVsbCwwXQ', 'e30', '='.repeat(3_000)]) {
      const headers = { ...bare.headers, accept: 'text/event-stream', 'last-event-id': id };
      assert.equal((await fetch(`${stack.apiUrl}/mcp`, { headers })).status, 400, id.slice(0, 20));
    }
  });

  it('notifications and answers of the client are 202, unknown methods and calls are errors of JSON-RPC', async () => {
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/unheard-of', params: { x: 1 } },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: {} } },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'never sent' } },
      { jsonrpc: '2.0', id: 3, result: {} },
    ]) {
      const { status, text } = await bare.send(message);
      assert.deepEqual([status, text], [202, ''], JSON.stringify(message));
    }
    for (const method of ['resources/list', 'tools/unheard-of', '', 'constructor', 'initialized']) {
      const { status, body } = await bare.request(1, method);
      assert.deepEqual([status, body.error?.code, body.id], [200, -32601, 1], method);
    }
    const { name } = tool;
    for (const params of [
      {},
      { name: 7 },
      { name: 'unknown' },
      { name: '__proto__' },
      { name: `${name}0` },
      { name: `x${'0'.repeat(100)}${tool.id}` },
      { name: 'x_99999999999' },
      { name, arguments: [1] },
      { name, arguments: 'x' },
      { name, _meta: 5 },
      { name, _meta: { progressToken: {} } },
      { name, _meta: { progressToken: 'x'.repeat(129) } },
    ]) {
      const { status, body } = await bare.request('c', 'tools/call', params);
      assert.deepEqual([status, body.error?.code, body.id], [200, -32602, 'c'], JSON.stringify(params).slice(0, 80));
    }
    assert.equal((await runsOf(tool.id)).length, 0);
  });

  it('the same request id in a session is the same call: one run, however often and at once it is sent', async () => {
    const { id, name } = await offer(account.api, project, echo());
    const asked = (requestId: unknown, n: number) => bare.request(requestId, 'tools/call', { name, arguments: { n } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => asked('same', 1)));
    const [run, ...others] = await runsOf(id);
    assert.deepEqual(others, []);
    for (const { text } of answers) {
      const [message] = messagesIn(text.replace(/^data: $/gm, ''));
      assert.equal(runOf(message!['result'] as CallToolResult), run!.id);
    }
    const other = await asked('same', 2);
    assert.deepEqual([other.status, other.body.error?.code], [200, -32600]);
    await asked('another', 1);
    const again = await connectBare(stack.apiUrl, account.apiKey);
    await again.request('same', 'tools/call', { name, arguments: { n: 1 } });
    assert.equal((await runsOf(id)).length, 3, 'another id, and another session');
  });

  it('a repeated request gets its run even if the tool was renamed or is offered no longer', async () => {
    const { id, name } = await offer(account.api, project, echo(), 'Before');
    const member = await createAccount(stack);
    await giveRole(stack, member, project, 'editor');
    const client = await connectBare(stack.apiUrl, member.apiKey);
    const ask = (n: number) => client.request('same', 'tools/call', { name, arguments: { n } });
    const runIn = ({ text }: { text: string }): string =>
      runOf(messagesIn(text.replace(/^data: $/gm, '')).at(-1)!['result'] as CallToolResult);
    const first = runIn(await ask(1));
    await account.api.patch(`/workflows/${id}/`, { body: { title: 'After' } });
    assert.equal(runIn(await ask(1)), first);
    await account.api.patch(`/workflows/${id}/`, { body: { is_tool: false } });
    assert.equal(runIn(await ask(1)), first);
    assert.equal((await ask(2)).body.error?.code, -32600, 'another call');
    const anew = await client.request('new', 'tools/call', { name, arguments: { n: 1 } });
    assert.deepEqual(anew.body.error, { code: -32602, message: `Unknown tool: ${name}` });
    await giveRole(stack, member, project, 'viewer');
    assert.equal((await ask(1)).body.error?.code, -32602, 'a viewer may not run it');
    assert.equal((await runsOf(id)).length, 1);
  });

  it('a name that is no tool is echoed shortened', async () => {
    const { body } = await bare.request('long', 'tools/call', { name: 'x'.repeat(100_000) });
    assert.deepEqual(body.error, { code: -32602, message: `Unknown tool: ${'x'.repeat(100)}` });
  });
});
