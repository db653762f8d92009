// Token endpoints answer in many ways, some of which violate the standard.
import assert from 'node:assert/strict';
import { refreshMcp } from '../../connections/mcp-oauth.js';
import { LEASE_SECONDS, PATIENCE_MS, STORE_FOR_MS } from '../../connections/open-connection.js';
import { refreshOauth, requestClientToken } from '../../connections/oauth.js';
import { createProviderFetch, REQUEST_LIMITS, type ProviderFetch } from '../../connections/provider-fetch.js';
import { mayPass, TokenError, type McpGrant, type StoredTokens } from '../../connections/tokens.js';
import { createOutgoingClient, type OutgoingClient } from '../../outgoing/outgoing-client.js';
import { startHttpTarget, type HttpTarget, type TargetReply } from '../../harness/target/http-target.js';

const TEN_YEARS = 315_360_000;

describe('the answer of a token endpoint', function () {
  this.timeout(120_000);
  let target: HttpTarget;
  let outgoing: OutgoingClient;

  before(async () => {
    target = await startHttpTarget();
    outgoing = createOutgoingClient({ allowPrivateNetwork: true });
  });
  after(() => Promise.all([outgoing.close(), target.close()]));

  function grantOf(client: McpGrant['client']): McpGrant {
    const metadata = {
      issuer: target.url,
      token_endpoint: `${target.url}/token`,
      authorization_endpoint: `${target.url}/authorize`,
      response_types_supported: ['code'],
    };
    return { metadata, client, resource: `${target.url}/mcp` };
  }

  /** Returns a request for new tokens for each kind of connection with tokens. The provider answers it with `reply`. */
  function asking(reply: TargetReply): Record<string, () => Promise<StoredTokens>> {
    target.on('/token', reply);
    const network = (): ProviderFetch => createProviderFetch(outgoing);
    const token_url = `${target.url}/token`;
    const settings = { token_url, client_id: 'us', scopes: [] };
    const before = { accessToken: 'old', refreshToken: 'refresh-0' };
    const mcp = grantOf({ client_id: 'us' });
    return {
      oauth2: () =>
        refreshOauth(
          { settings: { ...settings, authorize_url: `${target.url}/authorize` }, secrets: { client_secret: 's' } },
          network(),
          before,
        ),
      oauth2_client_credentials: () => requestClientToken({ settings, secrets: { client_secret: 's' } }, network()),
      mcp_oauth: () =>
        refreshMcp({ settings: { server_url: mcp.resource }, secrets: {} }, network(), { ...before, mcp }),
    };
  }

  async function forEachKind(reply: TargetReply, judge: (ask: Promise<StoredTokens>, kind: string) => Promise<void>) {
    for (const [kind, ask] of Object.entries(asking(reply)))
      await judge(ask(), `${kind} ${JSON.stringify(reply.body)}`);
  }

  for (const [given, seconds] of [
    [3600, 3600],
    ['3600', 3600],
    [1, 1],
    [TEN_YEARS, TEN_YEARS],
    [0, undefined],
    ['0', undefined],
    [null, undefined],
    ['', undefined],
    [-1, undefined],
    ['soon', undefined],
    ['1e3', undefined],
    [1e15, undefined],
    [TEN_YEARS + 1, undefined],
    [[3600], undefined],
    [undefined, undefined],
  ] as const) {
    it(`with expires_in ${JSON.stringify(given)} gives a token ${seconds === undefined ? 'of unknown lifetime' : 'that lives as long'}`, async () => {
      const body = { access_token: 'new', token_type: 'Bearer', expires_in: given, refresh_token: 'refresh-1' };
      await forEachKind({ body }, async (ask, kind) => {
        const { accessToken, refreshToken, lifetimeMs, expiresAtMs } = await ask;
        assert.deepEqual([accessToken, refreshToken], ['new', 'refresh-1'], kind);
        assert.equal(lifetimeMs, seconds === undefined ? undefined : seconds * 1_000, kind);
        assert.equal(expiresAtMs === undefined, seconds === undefined, kind);
        // A time that no Date holds could not be stored, and the rotated refresh token would be lost with it.
        if (expiresAtMs !== undefined) assert.doesNotThrow(() => new Date(expiresAtMs).toISOString());
      });
    });
  }

  it('gives its token whatever is beside it: scopes in a list, other types, null for what is missing, a mark before it', async () => {
    for (const others of [
      { scope: ['repo', 'user:read'], token_type: 'bearer' },
      { scope: [], token_type: 'MAC', id_token: 'no token' },
      { scope: null, token_type: null, refresh_token: null },
      { scope: { a: 1 }, refresh_token: '' },
    ]) {
      const body = `\uFEFF${JSON.stringify({ access_token: 'new', ...others })}`;
      await forEachKind({ body }, async (ask, kind) => {
        const { accessToken, refreshToken } = await ask;
        const kept = kind.startsWith('oauth2_client_credentials') ? undefined : 'refresh-0';
        assert.deepEqual([accessToken, refreshToken], ['new', kept], kind);
      });
    }
  });

  it('is asked for as the client that is entered now, and else as the one that was registered', async () => {
    target.on('/token', { body: { access_token: 'new' } });
    const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
    for (const [entered, secrets, sent] of [
      [{ client_id: 'us' }, { client_secret: 'new secret' }, basic('us', 'new secret')],
      [{}, {}, basic('us', 'old secret')],
    ] as const) {
      const mcp = grantOf({ client_id: 'us', client_secret: 'old secret' });
      const before = { accessToken: 'old', refreshToken: 'refresh-0', mcp };
      const provider = { settings: { server_url: mcp.resource, ...entered }, secrets };
      const fresh = await refreshMcp(provider, createProviderFetch(outgoing), before);
      assert.equal(target.requestsTo('/token').at(-1)!.headers.authorization, sent);
      assert.deepEqual(fresh.mcp, { ...mcp, client: { ...mcp.client, ...secrets } });
    }
  });

  it('has its scopes in one text, whether they come in a list or not', async () => {
    for (const [scope, joined] of [
      [['repo', 'user:read'], 'repo user:read'],
      [['repo', null, '', 7], 'repo'],
      ['repo user:read', 'repo user:read'],
      [[], undefined],
      [{ a: 1 }, undefined],
    ]) {
      target.on('/token', { body: { access_token: 'new', scope } });
      const { fetch } = createProviderFetch(outgoing);
      const answer = await fetch(`${target.url}/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ grant_type: 'refresh_token' }),
      });
      assert.equal(((await answer.json()) as { scope?: unknown }).scope, joined, JSON.stringify(scope));
    }
  });

  it('is waited for at most fifteen seconds, and no longer than the limit that is set', async () => {
    assert.equal(REQUEST_LIMITS.timeoutMs, 15_000);
    target.on('/held', { after: ['/never'] });
    const { fetch } = createProviderFetch(outgoing, undefined, { ...REQUEST_LIMITS, timeoutMs: 50 });
    await assert.rejects(fetch(`${target.url}/held`), { name: 'TokenError', outcome: 'unreachable' });
  });

  it('means that somebody signs in again where it says so by any of the known words, with any status', async () => {
    for (const error of [
      'invalid_grant',
      'bad_refresh_token',
      'token_revoked',
      'expired_token',
      'invalid_refresh_token',
    ]) {
      for (const status of [200, 400, 401, 403]) {
        const headers = status === 401 ? { 'www-authenticate': 'Basic realm="tokens"' } : {};
        const reply = { status, headers, body: { ok: false, error } };
        await forEachKind(reply, (ask, kind) => assert.rejects(ask, { name: 'TokenError', outcome: 'gone' }, kind));
      }
    }
  });

  it('is asked for again where it says that the provider cannot issue tokens now', async () => {
    for (const error of ['temporarily_unavailable', 'server_error', 'slow_down']) {
      const said = { outcome: 'unreachable', message: new RegExp(error) };
      await forEachKind({ status: 400, body: { error } }, (ask, kind) => assert.rejects(ask, said, kind));
    }
    for (const error of ['ratelimited', 'internal_error', 'service_unavailable']) {
      const said = { outcome: 'unreachable', message: new RegExp(error) };
      await forEachKind({ body: { ok: false, error } }, (ask, kind) => assert.rejects(ask, said, kind));
    }
  });

  it('is stored before the lease of its process ends, and others wait for longer than the lease', () => {
    assert.ok(LEASE_SECONDS * 1_000 > REQUEST_LIMITS.timeoutMs + STORE_FOR_MS);
    assert.ok(PATIENCE_MS > LEASE_SECONDS * 1_000);
  });

  it('may have a challenge in any characters', async () => {
    const challenge = 'Bearer realm="Größe 東京", resource_metadata="https://a.example/m"';
    const latin1 = Buffer.from(challenge).toString('latin1');
    target.on('/challenge', { status: 401, headers: { 'www-authenticate': latin1 }, body: {} });
    const { status, headers } = await createProviderFetch(outgoing).fetch(`${target.url}/challenge`);
    assert.equal(status, 401);
    assert.equal(headers.get('www-authenticate'), challenge.replace('東京', '??'));
  });

  it('means that the client is refused where it is any other error', async () => {
    for (const [body, said] of [
      [{ error: 'invalid_client' }, /invalid_client/],
      [{ error: 'access_denied' }, /access_denied/],
      [{ error: { message: 'No', code: 190 } }, /none of OAuth/],
      [{ ok: false, error: 'Not A Word 4711' }, /none of OAuth/],
    ] as const) {
      for (const status of [200, 400, 401]) {
        const headers = status === 401 ? { 'www-authenticate': 'Basic realm="tokens"' } : {};
        await forEachKind({ status, headers, body }, (ask, kind) =>
          assert.rejects(ask, { outcome: 'refused', message: said }, kind),
        );
      }
    }
  });

  it('is no answer where it holds neither a token nor an error: it is asked for again by the rules of retry', async () => {
    const page = { headers: { 'content-type': 'text/html' }, body: '<html>Please wait</html>' };
    for (const reply of [
      { body: {} },
      page,
      { ...page, status: 404 },
      { body: '' },
      { body: 'null' },
      { body: '[]' },
      { body: '{"access_token":' },
      { body: { access_token: '' } },
      { body: { access_token: null, error: null } },
      { status: 400, body: { access_token: 'new' } },
      { status: 302, headers: { location: `${target.url}/elsewhere` } },
      { body: `{"access_token":"new","padding":"${'x'.repeat(300_000)}"}` },
      { status: 503, body: { error: 'invalid_grant' } },
      { status: 429, body: {} },
    ]) {
      await forEachKind(reply, async (ask, kind) => {
        const error = await ask.catch((thrown: unknown) => thrown);
        assert.ok(error instanceof TokenError && mayPass(error), kind.slice(0, 200));
      });
    }
    assert.equal(target.requestsTo('/elsewhere').length, 0);
  });

  it('is asked for at most twenty times, wherever a provider leads to', async () => {
    target.on('/metadata', { body: {} });
    const { fetch } = createProviderFetch(outgoing);
    for (let count = 0; count < 20; count += 1) assert.equal((await fetch(`${target.url}/metadata`)).status, 200);
    await assert.rejects(fetch(`${target.url}/metadata`), { outcome: 'refused', message: /too many addresses/ });
    assert.equal(target.requestsTo('/metadata').length, 20);
  });

  it('is no longer waited for when the caller has gone', async () => {
    const stop = new AbortController();
    target.on('/held', { after: ['/never'] });
    const { fetch } = createProviderFetch(outgoing, stop.signal);
    const asked = fetch(`${target.url}/held`);
    stop.abort(new Error('hung up'));
    await assert.rejects(asked, /hung up/);
  });
});
