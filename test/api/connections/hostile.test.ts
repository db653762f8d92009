import assert from 'node:assert/strict';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { agent, drawing, http, linkInRow, mcp, trigger, type DrawingNode } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget, type TargetReply } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, sessionOf, type Account } from '../accounts.js';
import { createConnection, readConnection } from './sign-in.js';

describe('connections of a malicious tenant', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let session: ApiClient;
  let target: HttpTarget;
  let projectId: number;
  let path: string;

  before(async () => {
    stack = await sharedStack();
    [account, target] = await Promise.all([createAccount(stack), startHttpTarget()]);
    session = await sessionOf(stack, account);
    projectId = await account.api.createProject();
    path = `/projects/${projectId}/connections/`;
  });
  after(() => target.close());

  const bearer = (name: string, changes: object = {}) => ({
    name,
    kind: 'bearer',
    origins: [target.url],
    secrets: { token: 'a-secret-token' },
    ...changes,
  });
  const settings = (tokenPath: string) => ({
    authorize_url: `${target.url}/authorize`,
    token_url: `${target.url}${tokenPath}`,
    client_id: 'client',
  });

  async function startRun(...nodes: DrawingNode[]) {
    const begin = trigger();
    linkInRow([begin, ...nodes]);
    return account.api.run(await account.api.createWorkflow(projectId, drawing([begin, ...nodes])));
  }

  async function errorOf(call: DrawingNode): Promise<string | undefined> {
    const started = await startRun(call);
    assert.equal(started.status, 201, JSON.stringify(started));
    const { data } = await account.api.pollToEnd(started.data.id);
    return data.data![call.id]!.error?.code;
  }

  /** Starts a sign-in. Returns the cookie of the browser, and the state that the provider would send back. */
  async function beginSignIn(id: number) {
    const begun = await session.post<{ url: string }>(`${path}${id}/authorize/`);
    assert.equal(begun.status, 200, JSON.stringify(begun.body));
    const [cookie = ''] = begun.headers.get('set-cookie')!.split(';');
    return { cookie, state: new URL(begun.body.url).searchParams.get('state')! };
  }

  async function end(query: Record<string, string>, cookie?: string): Promise<URL> {
    const response = await fetch(
      `${stack.apiUrl}/api/v1/connections/callback/?${new URLSearchParams(query).toString()}`,
      {
        redirect: 'manual',
        headers: cookie === undefined ? {} : { cookie },
      },
    );
    assert.equal(response.status, 303);
    return new URL(response.headers.get('location')!);
  }

  describe('are a 400', () => {
    for (const [what, body, field] of [
      ['with the hosts of everybody', { origins: ['https://*.com'] }, 'origins'],
      ['with the hosts of everybody and a dot', { origins: ['https://*.com.'] }, 'origins'],
      ['with any host', { origins: ['https://*'] }, 'origins'],
      ['with a user in an origin', { origins: ['https://user@example.com'] }, 'origins'],
      ['with more than 20 origins', { origins: Array<string>(21).fill('https://example.com') }, 'origins'],
      ['with a secret of a megabyte', { secrets: { token: 'x'.repeat(1_048_576) } }, 'secrets'],
      ['with a header name with a line break', header('X-A\r\nHost'), 'settings'],
      ['with a header of the connection itself', header('Content-Length'), 'settings'],
      ['with six headers', header(...[1, 2, 3, 4, 5, 6].map((n) => `X-${n}`)), 'settings'],
      ['with a path secret that leads elsewhere', pathSecret('/../../admin'), 'secrets'],
      ['with a user in the token address', tokenUrl('https://user:password@example.com/token'), 'settings'],
      ['with a token address of another scheme', tokenUrl('file:///etc/passwd'), 'settings'],
      ['with a token address with a fragment', tokenUrl('https://example.com/token#x'), 'settings'],
    ] as const) {
      it(what, async () => {
        const answer = await account.api.post<object>(path, { body: bearer(`refused ${what}`, body) });
        assert.deepEqual([answer.status, Object.keys(answer.body)], [400, [field]], JSON.stringify(answer.body));
        assert.ok(JSON.stringify(answer.body).length < 3_000);
      });
    }

    it('with a user in the token address: the sentence says where the credentials belong', async () => {
      const body = bearer('a user in an address', tokenUrl('https://user:password@example.com/token'));
      const answer = await account.api.post<{ settings: string[] }>(path, { body });
      assert.equal(answer.status, 400);
      const sentence =
        'token_url: Enter an address without a user name and password: these belong in the secrets of a connection.';
      assert.ok(answer.body.settings.includes(sentence), JSON.stringify(answer.body));
    });

    it('when the project has 500 connections', async () => {
      const full = await account.api.createProject();
      const made = await createConnection(account, full, bearer('first'));
      await queryDatabase(
        stack,
        `INSERT INTO connections (project_id, name, kind, origins, settings, secrets_enc, status)
         SELECT project_id, name || n, kind, origins, settings, secrets_enc, status
         FROM connections, generate_series(2, 500) AS n WHERE id = $1`,
        [made],
      );
      const answer = await account.api.post<{ code: string }>(`/projects/${full}/connections/`, {
        body: bearer('one more'),
      });
      assert.deepEqual([answer.status, answer.body.code], [400, 'too_many_connections']);
    });
  });

  it('of another project are a 422 in every kind of node', async () => {
    const elsewhere = await account.api.createProject();
    const id = await createConnection(account, elsewhere, bearer('theirs'));
    for (const call of [
      http(target.url, { connection: id }),
      mcp(target.url, 'any', {}, { connection: id }),
      agent('x', {}, [{ endpoint_url: target.url, connection: id }]),
      http(target.url, { connection: '{{ input.id }}' }),
      http(target.url, { connection: 2_147_483_648 }),
    ]) {
      const { status, data } = await startRun(call);
      assert.equal(status, 422, JSON.stringify(data));
      assert.match(JSON.stringify(data), /connection/);
    }
    for (const connection of [id + 1_000_000, 2_147_483_648, -1]) {
      const answer = await account.api.post<object>('/workflows/mcp-tools/', {
        body: { endpoint_url: target.url, connection },
      });
      assert.deepEqual([answer.status, Object.keys(answer.body)], [400, ['connection']], JSON.stringify(answer.body));
    }
  });

  it('that are in another project now are not used by runs that were accepted before', async () => {
    const id = await createConnection(account, projectId, bearer('moved away'));
    const elsewhere = await account.api.createProject();
    // The service never moves a connection to another project, so the test changes the database.
    const call = http(`${target.url}/moved`, { connection: id });
    target.on('/before', { after: ['/moved-now'] });
    const started = await startRun(http(`${target.url}/before`), call);
    await queryDatabase(stack, 'UPDATE connections SET project_id = $2 WHERE id = $1', [id, elsewhere]);
    await fetch(`${target.url}/moved-now`);
    const { data } = await account.api.pollToEnd(started.data.id);
    assert.equal(data.data![call.id]!.error?.code, 'connection_missing');
    assert.equal(target.requestsTo('/moved').length, 0);
  });

  it('are not sent to addresses that only look like their origins', async () => {
    const id = await createConnection(account, projectId, bearer('looks'));
    const other = await startHttpTarget();
    const { host } = new URL(target.url);
    const outcomes = await Promise.all(
      [
        `${other.url}/direct`,
        `http://localhost:${new URL(target.url).port}/name`,
        `https://${host}/scheme`,
        `${target.url}/redirect?to=${encodeURIComponent(`${other.url}/redirect?to=${target.url}/back`)}`,
      ].map((url) => errorOf(http(url, { connection: id }))),
    );
    assert.deepEqual(new Set(outcomes), new Set(['connection_origin']), JSON.stringify(outcomes));
    const asUser = await startRun(http(`http://${host}@${new URL(other.url).host}/user`, { connection: id }));
    assert.equal(asUser.status, 422);
    assert.match(JSON.stringify(asUser.data), /"url":"[^"]* without a user name and password/);
    assert.equal(other.requests.length, 0);
    assert.equal(target.requestsTo('/back').length, 0);
    await other.close();
  });

  describe('of OAuth', () => {
    const oauth = (name: string, tokenPath: string) =>
      createConnection(account, projectId, {
        ...bearer(name),
        kind: 'oauth2',
        settings: settings(tokenPath),
        secrets: { client_secret: 'canary-of-a-client' },
      });

    it('accept a state once, within ten minutes, from the browser that started the sign-in', async () => {
      target.on('/good-token', { body: { access_token: 'good', token_type: 'bearer' } });
      const id = await oauth('states', '/good-token');
      const [one, two, three] = [await beginSignIn(id), await beginSignIn(id), await beginSignIn(id)];
      const code = 'x';
      const errorOfEnd = async (...given: Parameters<typeof end>) => (await end(...given)).searchParams.get('error');
      assert.equal(await errorOfEnd({ state: one.state, code }), 'invalid_state');
      assert.equal(await errorOfEnd({ state: one.state, code }, two.cookie), 'invalid_state');
      assert.equal(await errorOfEnd({ state: `${one.state}x`, code }, one.cookie), 'invalid_state');
      await queryDatabase(
        stack,
        "UPDATE connection_sign_ins SET expires_at = expires_at - interval '10 minutes' WHERE connection_id = $1",
        [id],
      );
      assert.equal(await errorOfEnd({ state: three.state, code }, three.cookie), 'invalid_state');
      assert.equal(target.requestsTo('/good-token').length, 0);
      const again = await beginSignIn(id);
      assert.equal(await errorOfEnd({ state: again.state, code }, again.cookie), null);
      assert.equal(await errorOfEnd({ state: again.state, code }, again.cookie), 'invalid_state');
      assert.equal(target.requestsTo('/good-token').length, 1);
    });

    it('are both authorized if one browser begins the second sign-in before the first has ended', async () => {
      target.on('/two-tokens', { body: { access_token: 'good', token_type: 'bearer' } });
      const ids = [await oauth('first of two', '/two-tokens'), await oauth('second of two', '/two-tokens')];
      const jar = createCookieJar();
      const states: string[] = [];
      for (const id of ids) {
        const at = `${path}${id}/authorize/`;
        const begun = await session.post<{ url: string }>(at, { headers: { cookie: jar.sentTo(`/api/v1${at}`) } });
        assert.equal(begun.status, 200, JSON.stringify(begun.body));
        jar.keep(begun.headers);
        states.push(new URL(begun.body.url).searchParams.get('state')!);
      }
      for (const state of states) {
        const page = await end({ state, code: 'x' }, jar.sentTo('/api/v1/connections/callback/'));
        assert.equal(page.searchParams.get('error'), null);
      }
      for (const id of ids) assert.equal((await readConnection(account, projectId, id)).status, 'ready');
    });

    it('repeat no unknown error text of the provider, and redirect only to the console', async () => {
      const id = await oauth('markup', '/never');
      for (const error of ['<script>alert(1)</script>', 'a\r\nSet-Cookie: x=y', 'https://evil.example.com', '']) {
        const { state, cookie } = await beginSignIn(id);
        const page = await end({ state, error }, cookie);
        assert.deepEqual(
          [page.origin, page.pathname, page.searchParams.get('error')],
          [stack.apiUrl, '/settings', 'provider_refused'],
        );
      }
      const { state, cookie } = await beginSignIn(id);
      const known = await end({ state, error: 'access_denied' }, cookie);
      assert.equal(known.searchParams.get('error'), 'access_denied');
    });

    const answers: [string, TargetReply, string][] = [
      ['redirects', { status: 307, headers: { location: '/taken' } }, 'provider_refused'],
      ['answers ten megabytes', { body: { access_token: 'x'.repeat(10_000_000) } }, 'provider_refused'],
      ['answers a page', { body: '<html>', headers: { 'content-type': 'text/html' } }, 'provider_refused'],
      ['answers with no token', { body: { token_type: 'bearer' } }, 'provider_refused'],
      ['repeats a secret', { status: 400, body: { error: 'canary-of-a-client' } }, 'provider_refused'],
      ['cannot now', { status: 503 }, 'provider_unreachable'],
      ['hangs up', { reset: true }, 'provider_unreachable'],
      ['never answers', { delayMs: 40_000, body: { access_token: 'late' } }, 'provider_unreachable'],
    ];
    it('are not authorized if the token endpoint does not return a token', async () => {
      const outcomes = await Promise.all(
        answers.map(async ([what, reply], at) => {
          target.on(`/token-${at}`, reply);
          const id = await oauth(`token endpoint ${what}`, `/token-${at}`);
          const { state, cookie } = await beginSignIn(id);
          const page = await end({ state, code: 'x' }, cookie);
          const { status } = await readConnection(account, projectId, id);
          return [what, page.searchParams.get('error'), status];
        }),
      );
      assert.deepEqual(
        outcomes,
        answers.map(([what, , error]) => [what, error, 'needs_authorization']),
      );
      assert.equal(target.requestsTo('/taken').length, 0);
    });

    it('fail runs, and show no secret, if the token endpoint returns no token during a run', async () => {
      const outcomes = await Promise.all(
        answers.slice(0, 5).map(async ([what, reply], at) => {
          target.on(`/machine-${at}`, reply);
          const id = await createConnection(account, projectId, {
            ...bearer(`machine ${what}`),
            kind: 'oauth2_client_credentials',
            settings: { token_url: `${target.url}/machine-${at}`, client_id: 'client' },
            secrets: { client_secret: 'canary-of-a-client' },
          });
          const code = await errorOf(http(`${target.url}/machine`, { connection: id }));
          const { status, status_reason: reason } = await readConnection(account, projectId, id);
          assert.ok(!reason?.includes('canary'), String(reason));
          return [code, status];
        }),
      );
      assert.deepEqual(
        outcomes,
        // An answer that is neither a token nor an error may be the page of a proxy, and does not change the
        // connection.
        answers
          .slice(0, 5)
          .map(([what]) =>
            what === 'repeats a secret' ? ['connection_failing', 'failing'] : ['network_error', 'ready'],
          ),
      );
      assert.equal(target.requestsTo('/machine').length, 0);
    });

    it('lose the authorization when their origins change, even without a client secret', async () => {
      target.on('/public-token', { body: { access_token: 'good', token_type: 'bearer' } });
      const id = await createConnection(account, projectId, {
        ...bearer('public client'),
        kind: 'oauth2',
        settings: settings('/public-token'),
        secrets: {},
      });
      const { state, cookie } = await beginSignIn(id);
      await end({ state, code: 'x' }, cookie);
      assert.equal((await readConnection(account, projectId, id)).status, 'ready');
      const moved = await account.api.patch(`${path}${id}/`, { body: { origins: ['https://elsewhere.example.com'] } });
      assert.equal(moved.status, 200);
      assert.equal((await readConnection(account, projectId, id)).status, 'needs_authorization');
      const [row] = await queryDatabase<{ tokens: Buffer | null }>(
        stack,
        'SELECT tokens_enc AS tokens FROM connections WHERE id = $1',
        [id],
      );
      assert.equal(row!.tokens, null);
    });
  });
});

function header(...names: string[]) {
  const [name] = names;
  return names.length === 1
    ? { kind: 'header', settings: { name }, secrets: { value: 'a-secret-value' } }
    : { kind: 'header', settings: { names }, secrets: { values: names } };
}

/** Keeps the cookies that answers set, and sends each only to the paths that its `Path` covers, as browsers do. */
function createCookieJar() {
  const kept = new Map<string, { pair: string; path: string }>();
  return {
    keep(headers: Headers): void {
      for (const line of headers.getSetCookie()) {
        const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
        const path = attributes.find((each) => each.startsWith('Path='))?.slice('Path='.length) ?? '';
        assert.match(path, /^\/.*\/$/, line);
        const [name = ''] = pair.split('=');
        kept.set(`${name} ${path}`, { pair, path });
      }
    },
    sentTo(pathname: string): string {
      const sent = [...kept.values()].filter(({ path }) => pathname.startsWith(path));
      return sent.map(({ pair }) => pair).join('; ');
    },
  };
}

function pathSecret(value: string) {
  return { kind: 'path', settings: { prefix: '/bot' }, secrets: { value } };
}

function tokenUrl(url: string) {
  return {
    kind: 'oauth2_client_credentials',
    settings: { token_url: url, client_id: 'client' },
    secrets: { client_secret: 'a-secret' },
  };
}
