import assert from 'node:assert/strict';
import { createAccount, sessionOf, type Account } from '../api/accounts.js';
import { createConnection, readConnection } from '../api/connections/sign-in.js';
import { eventually } from '../../harness/timing/eventually.js';
import { agent, drawing, http, linkInRow, mcp, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { startMcpAuthServer, type McpAuthServer } from '../support/mcp-auth-server.js';
import { startOpenidProvider, type OpenidProvider } from '../support/openid-provider.js';
import { walkProviderPages } from '../support/provider-pages.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

describe('connections to real providers', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let projectId: number;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    projectId = await account.api.createProject();
  });

  /** Goes through the provider's pages as a person does. Returns the address at which the browser ends. */
  async function signIn(id: number): Promise<URL> {
    const session = await sessionOf(stack, account);
    const begun = await session.post<{ url: string }>(`/projects/${projectId}/connections/${id}/authorize/`);
    assert.equal(begun.status, 200, JSON.stringify(begun.body));
    const [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';');
    const back = await walkProviderPages(begun.body.url, { login: 'ada', password: 'any' });
    const end = await fetch(`${stack.apiUrl}${back.pathname}${back.search}`, {
      redirect: 'manual',
      headers: { cookie },
    });
    assert.equal(end.status, 303);
    return new URL(end.headers.get('location') ?? '');
  }

  async function signedIn(id: number): Promise<number> {
    assert.equal((await signIn(id)).searchParams.get('error'), null);
    assert.equal((await readConnection(account, projectId, id)).status, 'ready');
    return id;
  }

  async function run(...nodes: DrawingNode[]) {
    const begin = trigger();
    linkInRow([begin, ...nodes]);
    const workflowId = await account.api.createWorkflow(projectId, drawing([begin, ...nodes]));
    const started = await account.api.run(workflowId);
    assert.equal(started.status, 201, JSON.stringify(started));
    return (await account.api.pollToEnd(started.data.id, { timeoutMs: 60_000 })).data;
  }

  async function runSideBySide(calls: DrawingNode[]): Promise<void> {
    const begin = trigger([], { next_nodes: calls.map(({ id }) => id) });
    const workflowId = await account.api.createWorkflow(projectId, drawing([begin, ...calls]));
    const { data } = await account.api.run(workflowId);
    const end = await account.api.pollToEnd(data.id, { timeoutMs: 60_000 });
    assert.equal(end.data.status, 'succeed', JSON.stringify(end.data).slice(0, 2_000));
  }

  describe('of OpenID', () => {
    let openid: OpenidProvider;

    before(async () => {
      openid = await startOpenidProvider(`${stack.apiUrl}/api/v1/connections/callback/`);
    });
    after(() => openid.close());
    beforeEach(() => {
      openid.granted.length = openid.refusedGrants.length = openid.accepted.length = openid.refused = 0;
      openid.lifetimeSeconds = 3_600;
    });

    const connect = (
      name: string,
      clientId = openid.clientId,
      secrets: object = { client_secret: openid.clientSecret },
    ) =>
      createConnection(account, projectId, {
        name,
        kind: 'oauth2',
        origins: [openid.url],
        settings: {
          authorize_url: `${openid.url}/auth`,
          token_url: `${openid.url}/token`,
          client_id: clientId,
          scopes: ['openid', 'email', 'offline_access'],
          authorize_params: { prompt: 'consent' },
        },
        secrets,
      });

    it('are signed in for with PKCE, tell the account, and renew what the provider rotates, again and again', async () => {
      const id = await signedIn(await connect('rotated'));
      assert.equal((await readConnection(account, projectId, id)).account, 'ada@example.com');
      for (const round of [1, 2, 3]) {
        await openid.expireTokens();
        const call = http(`${openid.url}/api/round/${round}`, { connection: id });
        const { status, data } = await run(call);
        assert.equal(status, 'succeed');
        assert.match(JSON.stringify(data![call.id]!.result), /Bearer \*{8}/);
      }
      assert.deepEqual(openid.granted, ['authorization_code', ...Array<string>(3).fill('refresh_token')]);
      assert.deepEqual(openid.accepted, ['/api/round/1', '/api/round/2', '/api/round/3']);
    });

    it('of a public client, without a secret', async () => {
      const id = await signedIn(await connect('public', 'public', {}));
      await openid.expireTokens();
      assert.equal((await run(http(`${openid.url}/api/public`, { connection: id }))).status, 'succeed');
    });

    it('ask once for new tokens when 50 nodes are refused, and once when 50 nodes see that theirs have expired', async () => {
      const id = await signedIn(await connect('refused at once'));
      await openid.expireTokens();
      await runSideBySide(Array.from({ length: 50 }, (_, at) => http(`${openid.url}/api/a/${at}`, { connection: id })));
      assert.deepEqual(openid.granted, ['authorization_code', 'refresh_token']);
      assert.equal(new Set(openid.accepted).size, 50);
      openid.lifetimeSeconds = 1;
      const short = await signedIn(await connect('expired at once'));
      openid.lifetimeSeconds = 3_600;
      [openid.accepted, openid.granted].forEach((list) => (list.length = 0));
      openid.refused = 0;
      const { expires_at: expires } = await readConnection(account, projectId, short);
      await eventually(() => Date.parse(expires!) < Date.now());
      await runSideBySide(
        Array.from({ length: 50 }, (_, at) => http(`${openid.url}/api/b/${at}`, { connection: short })),
      );
      assert.deepEqual([openid.granted, openid.refusedGrants, openid.refused], [['refresh_token'], [], 0]);
      assert.equal(new Set(openid.accepted).size, 50);
      assert.equal(openid.accepted.length, 50);
    });

    for (const [way, clientId] of [
      ['post', 'workflow service'],
      ['basic', 'by basic'],
    ] as const) {
      it(`take client credentials, sent by ${way}`, async () => {
        const id = await createConnection(account, projectId, {
          name: `machine by ${way}`,
          kind: 'oauth2_client_credentials',
          origins: [openid.url],
          settings: { token_url: `${openid.url}/token`, client_id: clientId, scopes: ['all'], client_auth: way },
          secrets: { client_secret: openid.clientSecret },
        });
        assert.equal((await run(http(`${openid.url}/api/machine`, { connection: id }))).status, 'succeed');
        assert.deepEqual(openid.granted, ['client_credentials']);
      });
    }
  });

  describe('of MCP servers', () => {
    let server: McpAuthServer;

    before(async () => {
      server = await startMcpAuthServer();
    });
    after(() => server.close());

    const connect = (name: string, url = server.url) =>
      createConnection(account, projectId, {
        name,
        kind: 'mcp_oauth',
        origins: [new URL(url).origin],
        settings: { server_url: url },
      });

    it('are found, registered at and signed in for, and serve nodes, agents and the list of tools', async () => {
      const id = await signedIn(await connect('mcp'));
      assert.equal(server.clients.length, 1);
      assert.deepEqual([...new Set(server.resources)], [server.url]);
      const [call, helper] = [
        mcp(server.url, 'note', { text: 'by the node' }, { connection: id }),
        agent('Note it', { model_name: 'notes-by-mcp' }, [
          { endpoint_url: server.url, connection: id, require_approval: 'never' },
        ]),
      ];
      stack.modelProvider.script('notes-by-mcp', [
        { toolCalls: [{ name: 'note', arguments: { text: 'by the agent' } }] },
        { text: 'done' },
      ]);
      const { status, data } = await run(call, helper);
      assert.equal(status, 'succeed', JSON.stringify(data));
      assert.deepEqual(server.calls, ['by the node', 'by the agent']);
      assert.match(data![call.id]!.result!.content, /noted: by the node by \*{8}$/);
      const told = JSON.stringify(stack.modelProvider.requestsFor('notes-by-mcp').at(-1)!.messages);
      assert.ok(told.includes('noted: by the agent by ********'), told);
      const body = { endpoint_url: server.url, connection: id };
      const listed = await account.api.post<{ name: string }[]>('/workflows/mcp-tools/', { body });
      assert.deepEqual(
        listed.body.map(({ name }) => name),
        ['note', 'fail'],
        JSON.stringify(listed.body),
      );
      const tried = await account.api.post<{ ok: boolean }>(`/projects/${projectId}/connections/${id}/test/`, {
        body: {},
      });
      assert.equal(tried.body.ok, true, JSON.stringify(tried.body));
    });

    it('ask once for new tokens when 50 nodes are refused', async () => {
      const id = await signedIn(await connect('mcp at once'));
      server.calls.length = 0;
      const before = server.refreshes;
      server.expireTokens();
      await runSideBySide(
        Array.from({ length: 50 }, (_, at) => mcp(server.url, 'note', { text: `${at}` }, { connection: id })),
      );
      assert.equal(server.refreshes - before, 1);
      assert.equal(server.calls.length, 50);
      assert.equal(new Set(server.calls).size, 50);
    });

    it('are asked for new tokens with the secret that was entered last', async () => {
      const redirectUri = `${stack.apiUrl}/api/v1/connections/callback/`;
      server.addClient({ id: 'known', secret: 'first secret', redirectUri });
      const connection = await createConnection(account, projectId, {
        name: 'mcp with a secret',
        kind: 'mcp_oauth',
        origins: [server.origin],
        settings: { server_url: server.url, client_id: 'known' },
        secrets: { client_secret: 'first secret' },
      });
      const id = await signedIn(connection);
      server.addClient({ id: 'known', secret: 'second secret', redirectUri });
      const body = { secrets: { client_secret: 'second secret' } };
      const changed = await account.api.patch(`/projects/${projectId}/connections/${id}/`, { body });
      assert.equal(changed.status, 200, JSON.stringify(changed.body));
      server.expireTokens();
      const { status, data } = await run(mcp(server.url, 'note', { text: 'new secret' }, { connection: id }));
      assert.equal(status, 'succeed', JSON.stringify(data));
    });

    it('wait where the grant was revoked, and call once when somebody has signed in again', async () => {
      const id = await signedIn(await connect('mcp revoked'));
      server.calls.length = 0;
      server.revoke();
      const ending = run(
        mcp(server.url, 'note', { text: 'after' }, { connection: id }),
        mcp(server.url, 'note', { text: 'all' }, { connection: id }),
      );
      await eventually(async () => (await readConnection(account, projectId, id)).status === 'needs_authorization');
      const tools = await account.api.post<{ code: string }>('/workflows/mcp-tools/', {
        body: { endpoint_url: server.url, connection: id },
      });
      assert.deepEqual([tools.status, tools.body.code], [400, 'needs_authorization']);
      await signedIn(id);
      assert.equal((await ending).status, 'succeed');
      assert.deepEqual(server.calls, ['after', 'all']);
    });

    describe('whose metadata is not that of the specification', () => {
      let target: HttpTarget;

      beforeEach(async () => {
        target = await startHttpTarget();
      });
      afterEach(() => target.close());

      const metadata = (changes: object = {}) => ({
        issuer: target.url,
        authorization_endpoint: `${target.url}/authorize`,
        token_endpoint: `${target.url}/token`,
        registration_endpoint: `${target.url}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        ...changes,
      });
      const refusal = async (resource: string, changes: object) => {
        target.on('/.well-known/oauth-protected-resource/mcp', {
          body: { resource, authorization_servers: [target.url] },
        });
        target.on('/.well-known/oauth-authorization-server', { body: metadata(changes) });
        target.on('/register', ({ body }) => ({ body: { ...(JSON.parse(body) as object), client_id: 'any' } }));
        const id = await connect(`mcp ${resource} ${JSON.stringify(changes)}`, `${target.url}/mcp`);
        const session = await sessionOf(stack, account);
        const { status, body } = await session.post<{ code?: string; detail?: string }>(
          `/projects/${projectId}/connections/${id}/authorize/`,
        );
        return [status, body.code, body.detail];
      };

      it('are refused without S256, and where they name another resource', async () => {
        const why = 'The MCP server cannot be signed in at: ';
        for (const changes of [
          { code_challenge_methods_supported: undefined },
          { code_challenge_methods_supported: ['plain'] },
        ]) {
          assert.deepEqual(await refusal(`${target.url}/mcp`, changes), [
            400,
            'provider_refused',
            `${why}it does not know PKCE with S256.`,
          ]);
        }
        for (const other of ['https://elsewhere.example.com/mcp', `${target.url}/mc`, `${target.url}/mcp/inner`]) {
          assert.deepEqual(await refusal(other, {}), [
            400,
            'provider_refused',
            `${why}it names another server as its resource.`,
          ]);
        }
        assert.equal(target.requestsTo('/register').length, 0);
        assert.equal((await refusal(`${target.url}/`, {}))[0], 200);
      });

      it('are found where the server itself says, with the scope that it asks for', async () => {
        const challenge = `Bearer resource_metadata="${target.url}/elsewhere", scope="notes:write"`;
        target.on('/mcp', { status: 401, headers: { 'www-authenticate': challenge } });
        target.on('/elsewhere', {
          body: { resource: `${target.url}/mcp`, authorization_servers: [`${target.url}/as`] },
        });
        target.on('/.well-known/oauth-authorization-server/as', { body: metadata({ issuer: `${target.url}/as` }) });
        target.on('/register', ({ body }) => ({ body: { ...(JSON.parse(body) as object), client_id: 'any' } }));
        const id = await connect('mcp that says where', `${target.url}/mcp`);
        const session = await sessionOf(stack, account);
        const begun = await session.post<{ url: string }>(`/projects/${projectId}/connections/${id}/authorize/`);
        assert.equal(begun.status, 200, JSON.stringify(begun.body));
        assert.equal(new URL(begun.body.url).searchParams.get('scope'), 'notes:write');
        // A code of another server is not sent to this one.
        const [cookie = ''] = begun.headers.get('set-cookie')!.split(';');
        const state = new URL(begun.body.url).searchParams.get('state')!;
        const back = new URLSearchParams({ code: 'x', state, iss: 'https://another.example.com' });
        const end = await fetch(`${stack.apiUrl}/api/v1/connections/callback/?${back.toString()}`, {
          redirect: 'manual',
          headers: { cookie },
        });
        assert.match(end.headers.get('location')!, /error=provider_refused/);
        assert.equal(target.requestsTo('/token').length, 0);
      });
    });
  });
});
