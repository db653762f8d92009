import assert from 'node:assert/strict';
import { readSecrets } from '../../../cli/embedded/secrets-file.js';
import { createSecretBox } from '../../../db/core/secret-box.js';
import { startFakeMcpServer, type FakeMcpServer } from '../../support/fake-mcp-server.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, type Account } from '../accounts.js';
import { createConnection, oauthConnection, readConnection } from './sign-in.js';
import { startTokenProvider } from '../../support/token-provider.js';

interface Outcome {
  ok: boolean;
  status: number | null;
  message: string;
  url?: string[];
}

describe('POST /projects/{id}/connections/{connection_id}/test/', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let target: HttpTarget;
  let servers: FakeMcpServer;
  let projectId: number;

  before(async () => {
    stack = await sharedStack();
    [account, target, servers] = await Promise.all([createAccount(stack), startHttpTarget(), startFakeMcpServer()]);
    projectId = await account.api.createProject();
  });
  after(() => Promise.all([target.close(), servers.close()]));

  const make = (name: string, body: object) =>
    createConnection(account, projectId, { name, origins: [target.url], ...body });
  const test = (id: number, body: object = {}) =>
    account.api.post<Outcome>(`/projects/${projectId}/connections/${id}/test/`, { body });

  for (const [kind, body, seen] of [
    ['header', { settings: { name: 'X-Key' }, secrets: { value: 'secret-1' } }, ['secret-1', undefined]],
    ['basic', { settings: { username: 'ada' }, secrets: { password: 'pw' } }, [undefined, 'Basic YWRhOnB3']],
    ['bearer', { secrets: { token: 'secret-2' } }, [undefined, 'Bearer secret-2']],
  ] as const) {
    it(`sends one GET with a credential of the kind ${kind}`, async () => {
      const id = await make(kind, { kind, ...body });
      const { status, body: outcome } = await test(id, { url: `${target.url}/tried-${kind}` });
      assert.equal(status, 200);
      assert.deepEqual([outcome.ok, outcome.status], [true, 200]);
      const [request, ...more] = target.requestsTo(`/tried-${kind}`);
      assert.deepEqual([request!.method, more.length], ['GET', 0]);
      assert.deepEqual([request!.headers['x-key'], request!.headers.authorization], seen);
      assert.equal((await readConnection(account, projectId, id)).status, 'ready');
    });
  }

  it('requests / of the first origin without a url, and adds secrets to queries and paths', async () => {
    const query = await make('query', { kind: 'query', settings: { name: 'key' }, secrets: { value: 'secret-3' } });
    assert.equal((await test(query)).body.ok, true);
    assert.deepEqual(target.requestsTo('/').at(-1)!.query, { key: 'secret-3' });
    const path = await make('path', { kind: 'path', settings: { prefix: '/bot' }, secrets: { value: 'secret-4' } });
    assert.equal((await test(path, { url: `${target.url}/bot/getMe` })).body.ok, true);
    assert.equal(target.requestsTo('/botsecret-4/getMe').length, 1);
  });

  it('requests the prefix of a path connection without a url, and explains a refusal there', async () => {
    const id = await make('prefix', { kind: 'path', settings: { prefix: '/robot' }, secrets: { value: 'secret-8' } });
    const accepted = (await test(id)).body;
    assert.deepEqual(accepted, { ok: true, status: 200, message: 'The server has answered with status 200.' });
    assert.equal(target.requestsTo('/robotsecret-8').length, 1);
    target.on('/robotsecret-8', { status: 404 });
    const refused = (await test(id)).body;
    assert.deepEqual([refused.ok, refused.status], [false, 404]);
    assert.match(refused.message, /status 404\. .*prefix and the value alone.*`url`/);
    assert.doesNotMatch(refused.message, /secret-8/);
    target.on('/robotsecret-8/none', { status: 404 });
    const elsewhere = (await test(id, { url: `${target.url}/robot/none` })).body;
    assert.equal(elsewhere.message, 'The server has answered with status 404.');
  });

  it('answers 400 to a url that is elsewhere, has a user name, or is none; nothing is sent or recorded', async () => {
    const id = await make('elsewhere', { kind: 'bearer', secrets: { token: 'secret-5' } });
    const asked = target.requests.length;
    const withUser = target.url.replace('://', '://user:pw@');
    for (const url of ['https://example.com/', `${target.url}0/`, withUser, 'no url', '']) {
      const { status, body } = await test(id, { url });
      assert.deepEqual([status, Object.keys(body)], [400, ['url']], url);
    }
    assert.equal(target.requests.length, asked);
    assert.deepEqual(await usesOf(id), []);
  });

  it('reports the status of a refusal, and no status without a response', async () => {
    const id = await make('refused', { kind: 'bearer', secrets: { token: 'secret-6' } });
    target.on('/teapot', { status: 418, body: 'secret-6' });
    target.on('/cut', { reset: true });
    const refused = await test(id, { url: `${target.url}/teapot` });
    assert.deepEqual([refused.body.ok, refused.body.status], [false, 418]);
    const cut = await test(id, { url: `${target.url}/cut` });
    assert.deepEqual([cut.status, cut.body.ok, cut.body.status], [200, false, null]);
    assert.ok(!JSON.stringify([refused.body, cut.body]).includes('secret-6'));
    assert.equal((await readConnection(account, projectId, id)).status, 'ready');
  });

  it('reports that somebody has to sign in first', async () => {
    const provider = await startTokenProvider();
    const { body } = await test(await oauthConnection(account, projectId, provider, 'no sign-in'));
    assert.deepEqual([body.ok, body.status], [false, null]);
    assert.match(body.message, /sign in/);
    await provider.close();
  });

  it('requests one token, even if the provider reports a lifetime of 0', async () => {
    const provider = await startTokenProvider();
    provider.saidLifetime = 0;
    const settings = { token_url: `${provider.url}/token`, client_id: 'machine' };
    const secrets = { client_secret: provider.clientSecret };
    const id = await make('short', {
      kind: 'oauth2_client_credentials',
      origins: [provider.url],
      settings,
      secrets,
    });
    assert.deepEqual((await test(id)).body, {
      ok: true,
      status: 200,
      message: 'The server has answered with status 200.',
    });
    assert.equal(provider.clientTokens, 1);
    await provider.close();
  });

  it('lists the tools of an MCP server with its token', async () => {
    const server = servers.endpoint();
    const id = await signedInAt(server.url, 'mcp');
    const { body } = await test(id);
    assert.deepEqual(body, { ok: true, status: 200, message: 'The server has 1 tools.' });
    assert.ok(server.methods().includes('initialize') && server.methods().includes('tools/list'));
    assert.deepEqual(
      [...new Set(server.requests.map(({ headers }) => headers.authorization))],
      ['Bearer token-of-mcp'],
    );
    const refusing = servers.endpoint({ '*': (_request, response) => void response.writeHead(401).end('token-of-no') });
    const refused = await signedInAt(refusing.url, 'no');
    const answer = await test(refused);
    assert.deepEqual([answer.body.ok, answer.body.status], [false, 401]);
    assert.ok(!answer.body.message.includes('token-of-no'));
    assert.equal((await readConnection(account, projectId, refused)).status, 'failing');
  });

  it('is recorded with its user', async () => {
    const id = await make('recorded', { kind: 'bearer', secrets: { token: 'secret-7' } });
    await test(id);
    await test(id);
    const records = await usesOf(id);
    assert.deepEqual(
      records.map(({ via, actor_id: actor, target_name: name }) => [via, actor, name]),
      [
        ['key', account.userId, 'recorded'],
        ['key', account.userId, 'recorded'],
      ],
    );
  });

  const usesOf = (id: number) =>
    queryDatabase<{ via: string; actor_id: number; target_name: string }>(
      stack,
      `SELECT via, actor_id, target_name FROM audit_records
        WHERE action = 'connection.used' AND target_type = 'connection' AND target_id = $1`,
      [String(id)],
    );

  /** Creates a connection with a token, as a sign-in leaves it. */
  async function signedInAt(url: string, name: string): Promise<number> {
    const id = await make(name, { kind: 'mcp_oauth', origins: [servers.origin], settings: { server_url: url } });
    const box = createSecretBox([Buffer.from(readSecrets(stack.dataDir)!.SECRETS_KEY, 'base64')]);
    const tokens = box.seal(JSON.stringify({ accessToken: `token-of-${name}` }), 'connection-tokens', projectId, id);
    await queryDatabase(
      stack,
      `UPDATE connections SET tokens_enc = $2, status = 'ready', tokens_version = tokens_version + 1 WHERE id = $1`,
      [id, tokens],
    );
    return id;
  }
});
