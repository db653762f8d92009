// Lists the tools of MCP servers with the credentials of a stored connection.
import assert from 'node:assert/strict';
import { startFakeMcpServer, type FakeMcpServer } from '../../support/fake-mcp-server.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startTokenProvider } from '../../support/token-provider.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import { createConnection } from '../connections/sign-in.js';

describe('POST /workflows/mcp-tools/ with a connection', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let owner: Account;
  let fake: FakeMcpServer;
  let projectId: number;
  let connection: number;

  before(async () => {
    stack = await sharedStack();
    [owner, fake] = await Promise.all([createAccount(stack), startFakeMcpServer()]);
    projectId = await owner.api.createProject();
    const secrets = { token: 'secret-of-the-server' };
    connection = await createConnection(owner, projectId, {
      name: 'mcp',
      kind: 'bearer',
      origins: [fake.origin],
      secrets,
    });
  });
  after(() => fake.close());

  const ask = async ({ api }: Account, body: object) => {
    const answer = await api.post<{ code?: string; connection?: string[] }>('/workflows/mcp-tools/', { body });
    return { ...answer, text: JSON.stringify(answer.body) };
  };

  it('sends the credential, and hides it in what the server says', async () => {
    const { url, requests } = fake.endpoint({
      'tools/list': ({ headers }) => ({
        tools: [{ name: 'echo', description: headers.authorization, inputSchema: { type: 'object' } }],
      }),
    });
    const { status, text } = await ask(owner, {
      endpoint_url: url,
      connection,
      headers: { authorization: 'Bearer mine' },
    });
    assert.equal(status, 200, text);
    assert.ok(requests.length > 0);
    assert.deepEqual(
      [...new Set(requests.map(({ headers }) => headers.authorization))],
      ['Bearer secret-of-the-server'],
    );
    assert.ok(!text.includes('secret-of-the-server'), text);
    assert.match(text, /\*{8}/);
  });

  it('hides it in what a server that refuses says', async () => {
    const { url } = fake.endpoint({
      initialize: ({ headers }, response) => {
        response.writeHead(500).end(`no: ${headers.authorization}`);
      },
    });
    const { status, text } = await ask(owner, { endpoint_url: url, connection });
    assert.equal(status, 400);
    assert.ok(!text.includes('secret-of-the-server'), text);
  });

  it('is for editors of its project: 403 for a viewer, 400 for whoever does not see it', async () => {
    const { url, methods } = fake.endpoint();
    const lists = () => methods().filter((method) => method === 'tools/list').length;
    const [editor, viewer, stranger] = [
      await createAccount(stack),
      await createAccount(stack),
      await createAccount(stack),
    ];
    await giveRole(stack, editor, projectId, 'editor');
    await giveRole(stack, viewer, projectId, 'viewer');
    const body = { endpoint_url: url, connection };
    assert.equal((await ask(editor, body)).status, 200);
    assert.equal((await ask(viewer, body)).status, 403);
    for (const [who, id] of [
      [stranger, connection],
      [owner, 2_000_000_000],
      [owner, -1],
      [owner, 3e9],
    ] as const) {
      const refused = await ask(who, { ...body, connection: id });
      assert.deepEqual([refused.status, Object.keys(refused.body)], [400, ['connection']], refused.text);
    }
    assert.equal(lists(), 1);
  });

  it('400: a server that is not at one of its origins, which is not asked', async () => {
    const other = await startFakeMcpServer();
    const { url, requests } = other.endpoint();
    const { status, body } = await ask(owner, { endpoint_url: url, connection });
    assert.deepEqual([status, body.code, requests.length], [400, 'connection_origin', 0]);
    await other.close();
  });

  it('400: a connection for which nobody has signed in', async () => {
    const { url, requests } = fake.endpoint();
    const waiting = await createConnection(owner, projectId, {
      name: 'not signed in',
      kind: 'mcp_oauth',
      origins: [fake.origin],
      settings: { server_url: url },
    });
    const { status, body } = await ask(owner, { endpoint_url: url, connection: waiting });
    assert.deepEqual([status, body.code, requests.length], [400, 'needs_authorization', 0]);
  });

  it('renews a token that the server refuses, once, and asks again', async () => {
    const provider = await startTokenProvider();
    const { url } = fake.endpoint({
      'tools/list': ({ headers }, response) => {
        if (provider.isValid(String(headers.authorization).replace(/^Bearer /, ''))) return { tools: [] };
        response.writeHead(401).end();
        return undefined;
      },
    });
    const { token_url: tokenUrl, client_id: clientId, scopes } = provider.settings;
    const renewed = await createConnection(owner, projectId, {
      name: 'renewed',
      kind: 'oauth2_client_credentials',
      origins: [fake.origin],
      settings: { token_url: tokenUrl, client_id: clientId, scopes },
      secrets: { client_secret: provider.clientSecret },
    });
    assert.equal((await ask(owner, { endpoint_url: url, connection: renewed })).status, 200);
    provider.expireTokens();
    assert.equal((await ask(owner, { endpoint_url: url, connection: renewed })).status, 200);
    assert.equal(provider.clientTokens, 2);
    await provider.close();
  });
});
