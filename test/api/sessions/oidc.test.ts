import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { createApiClient } from '../../../harness/client/api-client.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startApiProcess, type ApiProcess } from '../../../harness/stack/api-process.js';
import type { Detail } from '../bodies.js';
import { followIssuer, startIssuer, type Issuer, type IssuerClaims } from './issuer.js';
import { Browser, createPerson, type Person } from './people.js';

/** This address is never called: the test's browser goes to the API process instead. */
const PUBLIC_URL = 'http://workflows.example';
const CALLBACK = '/api/v1/auth/oidc/callback/';

interface Begun {
  /** The address of the issuer's page. */
  location: string;
  /** The cookie that the browser sends back to the service. */
  cookie: string;
}

interface Ended {
  status: number;
  location: string | null;
  body: Partial<Detail>;
  browser: Browser;
}

describe('OpenID Connect', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let issuer: Issuer;
  let strict: ApiProcess;
  /** A process with OIDC_CREATE_USERS. */
  let welcoming: ApiProcess;

  before(async () => {
    stack = await sharedStack();
    issuer = await startIssuer(`${PUBLIC_URL}${CALLBACK}`);
    const env = {
      PUBLIC_URL,
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: issuer.clientId,
      OIDC_CLIENT_SECRET: issuer.clientSecret,
      OIDC_NAME: 'Example',
    };
    strict = await startApiProcess(stack, env);
    welcoming = await startApiProcess(stack, { ...env, OIDC_CREATE_USERS: 'true' });
  });
  after(async () => {
    await Promise.all([strict.stop(), welcoming.stop()]);
    await issuer.close();
  });
  afterEach(() => {
    issuer.forge = undefined;
    issuer.usesForeignKey = false;
    issuer.beside = {};
  });

  async function begin(api = strict, cookie?: string): Promise<Begun> {
    const headers = cookie === undefined ? {} : { cookie };
    const response = await fetch(`${api.apiUrl}/api/v1/auth/oidc/`, { redirect: 'manual', headers });
    assert.equal(response.status, 302, await response.text());
    const [setCookie = ''] = response.headers.getSetCookie();
    assert.match(setCookie, /^wfa_oidc=[\w-]{43}; Path=\/api\/v1\/auth\/oidc\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
    return { location: response.headers.get('location') ?? '', cookie: setCookie.split(';')[0]! };
  }

  async function end(api: ApiProcess, answer: URL | string, cookie: string | undefined): Promise<Ended> {
    const { search } = new URL(answer);
    const response = await fetch(`${api.apiUrl}${CALLBACK}${search}`, {
      redirect: 'manual',
      headers: cookie === undefined ? {} : { cookie },
    });
    const text = await response.text();
    const browser = new Browser(api.apiUrl);
    const [setCookie = ''] = response.headers.getSetCookie();
    browser.cookie = /^wfa_refresh=([^;]+)/.exec(setCookie)?.[1];
    if (browser.cookie !== undefined) assert.match(setCookie, /; Path=\/api\/v1\/auth\/; .*HttpOnly; SameSite=Strict$/);
    const location = response.headers.get('location');
    return { status: response.status, location, body: text === '' ? {} : (JSON.parse(text) as Detail), browser };
  }

  async function visit(subject: string, claims: IssuerClaims, api = strict): Promise<Ended> {
    issuer.people.set(subject, claims);
    issuer.visitor = subject;
    const { location, cookie } = await begin(api);
    return end(api, await followIssuer(location), cookie);
  }

  async function userOf(browser: Browser): Promise<number> {
    const { status, body } = await browser.refresh();
    assert.equal(status, 200, JSON.stringify(body));
    return body.user.id;
  }

  const refused = ({ status, body, browser }: Ended): unknown[] => [status, body.code, browser.cookie];
  const verified = ({ email }: Person): IssuerClaims => ({ name: 'Ada', email, email_verified: true });

  it('is offered to all by its name and address', async () => {
    const { body } = await createApiClient(strict.apiUrl).get<unknown>('/auth/providers/');
    assert.deepEqual(body, [{ name: 'Example', url: `${PUBLIC_URL}/api/v1/auth/oidc/` }]);
  });

  it('is a 404, and offered to nobody, where no issuer is set', async () => {
    assert.deepEqual((await createApiClient(stack.apiUrl).get<unknown>('/auth/providers/')).body, []);
    for (const path of ['', 'callback/?state=x&code=y']) {
      const response = await fetch(`${stack.apiUrl}/api/v1/auth/oidc/${path}`, { redirect: 'manual' });
      assert.equal(response.status, 404, path);
    }
  });

  describe('the flow', () => {
    it('asks by authorization code with PKCE, state and nonce, each new', async () => {
      const [one, two] = [await begin(), await begin()];
      const query = new URL(one.location).searchParams;
      const { state, nonce, code_challenge: challenge, ...rest } = Object.fromEntries(query);
      assert.deepEqual(rest, {
        client_id: issuer.clientId,
        response_type: 'code',
        redirect_uri: `${PUBLIC_URL}${CALLBACK}`,
        scope: 'openid email profile',
        code_challenge_method: 'S256',
      });
      const other = new URL(two.location).searchParams;
      for (const [name, value] of Object.entries({ state, nonce, code_challenge: challenge })) {
        assert.ok((value?.length ?? 0) >= 43, name);
        assert.notEqual(other.get(name), value);
      }
      assert.notEqual(one.cookie, two.cookie);
    });

    it('accepts a token response with a valid ID token whose other fields are invalid: a list of scopes, a text as lifetime, null', async () => {
      const person = await createPerson(stack);
      issuer.beside = { scope: ['openid', 'email'], expires_in: 'soon', refresh_token: null };
      const { status, browser } = await visit(randomUUID(), verified(person));
      assert.deepEqual([status, await userOf(browser)], [303, person.userId]);
    });

    it('signs in the user with the same verified e-mail address, and sends the browser to the service', async () => {
      const person = await createPerson(stack);
      const subject = randomUUID();
      const { status, location, browser } = await visit(
        subject,
        verified({ ...person, email: person.email.toUpperCase() }),
      );
      assert.deepEqual([status, location], [303, `${PUBLIC_URL}/`]);
      assert.equal(await userOf(browser), person.userId);
      const { body } = await browser.refresh();
      const session = { session: body.access_token };
      const { body: page } = await createApiClient(strict.apiUrl, session).get<{ items: { method: string }[] }>(
        '/auth/sessions/',
      );
      assert.equal(page.items[0]?.method, 'oidc');
    });

    it('finds a linked user by the subject, even if the e-mail address has changed', async () => {
      const person = await createPerson(stack);
      const subject = randomUUID();
      await visit(subject, verified(person));
      const { browser } = await visit(subject, { email: 'another@example.com', email_verified: false });
      assert.equal(await userOf(browser), person.userId);
    });

    it('works in two tabs at once', async () => {
      const person = await createPerson(stack);
      const subject = randomUUID();
      issuer.people.set(subject, verified(person));
      issuer.visitor = subject;
      const first = await begin();
      const second = await begin(strict, first.cookie);
      assert.equal(second.cookie, first.cookie);
      const answers = [await followIssuer(second.location), await followIssuer(first.location)];
      for (const answer of answers) assert.equal((await end(strict, answer, second.cookie)).status, 303);
    });
  });

  describe('refuses', () => {
    let person: Person;
    let subject: string;

    beforeEach(async () => {
      person = await createPerson(stack);
      subject = randomUUID();
      issuer.people.set(subject, verified(person));
      issuer.visitor = subject;
    });

    it('a forged state, one of another browser, one without a browser, and one that is too old', async () => {
      const { location, cookie } = await begin();
      const answer = await followIssuer(location);
      const state = answer.searchParams.get('state')!;
      const other = await begin();
      const withState = (text: string): URL => {
        const url = new URL(answer);
        url.searchParams.set('state', text);
        return url;
      };
      const old = state.replace(/^\d+/, (seconds) => String(Number(seconds) - 601));
      const later = state.replace(/^\d+/, (seconds) => String(Number(seconds) + 601));
      const attempts: [answer: URL, cookie: string | undefined][] = [
        [withState(`${state.slice(0, -2)}AA`), cookie],
        [withState(old), cookie],
        [withState(later), cookie],
        [withState('x'), cookie],
        [withState(''), cookie],
        [withState('x'.repeat(5000)), cookie],
        [answer, undefined],
        [answer, other.cookie],
        [answer, 'wfa_oidc=x'],
      ];
      for (const [index, [url, sent]] of attempts.entries()) {
        assert.deepEqual(refused(await end(strict, url, sent)), [400, 'invalid_state', undefined], String(index));
      }
      assert.equal((await end(strict, answer, cookie)).status, 303, 'the right one is as good as before');
    });

    it('an answer that was used before', async () => {
      const { location, cookie } = await begin();
      const answer = await followIssuer(location);
      assert.equal((await end(strict, answer, cookie)).status, 303);
      assert.deepEqual(refused(await end(strict, answer, cookie)), [401, 'authentication_failed', undefined]);
    });

    it('a code of another flow: its PKCE challenge and its nonce are others', async () => {
      const [mine, theirs] = [await begin(), await begin()];
      const answer = await followIssuer(mine.location);
      answer.searchParams.set('code', (await followIssuer(theirs.location)).searchParams.get('code')!);
      assert.deepEqual(refused(await end(strict, answer, mine.cookie)), [401, 'authentication_failed', undefined]);
    });

    it('a code for another service', async () => {
      const { location, cookie } = await begin();
      const asked = new URL(location);
      asked.searchParams.set('client_id', 'another service');
      const answer = await followIssuer(asked.href);
      assert.deepEqual(refused(await end(strict, answer, cookie)), [401, 'authentication_failed', undefined]);
    });

    const now = (): number => Math.floor(Date.now() / 1000);
    const forged: [title: string, forge: (claims: JWTPayload) => JWTPayload][] = [
      ['with a wrong nonce', (claims) => ({ ...claims, nonce: 'x'.repeat(43) })],
      ['without a nonce', ({ nonce: _nonce, ...claims }) => claims],
      ['for another audience', (claims) => ({ ...claims, aud: 'another service' })],
      ['for another audience, too, and used by it', (claims) => ({ ...claims, aud: [issuer.clientId, 'b'], azp: 'b' })],
      ['of another issuer', (claims) => ({ ...claims, iss: 'https://other.example' })],
      ['that has expired', (claims) => ({ ...claims, exp: now() - 600 })],
      ['of nobody', ({ sub: _sub, ...claims }) => claims],
    ];
    for (const [title, forge] of forged) {
      it(`an ID token ${title}`, async () => {
        issuer.forge = forge;
        const { location, cookie } = await begin();
        const ended = await end(strict, await followIssuer(location), cookie);
        assert.deepEqual(refused(ended), [401, 'authentication_failed', undefined]);
        issuer.forge = (claims) => claims;
        const right = await begin();
        assert.equal((await end(strict, await followIssuer(right.location), right.cookie)).status, 303);
      });
    }

    it('an ID token whose signature is not the issuer`s', async () => {
      issuer.forge = (claims) => claims;
      issuer.usesForeignKey = true;
      const { location, cookie } = await begin();
      const ended = await end(strict, await followIssuer(location), cookie);
      assert.deepEqual(refused(ended), [401, 'authentication_failed', undefined]);
    });

    it('a person who declines at the issuer, and logs only the error code of the standard', async () => {
      issuer.visitor = undefined;
      const { location, cookie } = await begin();
      const ended = await end(strict, await followIssuer(location), cookie);
      assert.deepEqual(refused(ended), [401, 'authentication_failed', undefined]);
      assert.match(strict.output(), /"code":"access_denied"/);
      assert.ok(!strict.output().includes('canary'));
    });

    it('to link an address that the issuer has not verified, or says nothing about', async () => {
      for (const claims of [{ email_verified: false }, {}, { email_verified: 'true' as unknown as boolean }]) {
        const ended = await visit(randomUUID(), { email: person.email, ...claims });
        assert.deepEqual(refused(ended), [403, 'unknown_user', undefined]);
      }
    });

    it('a second person with the address of a user who is linked already', async () => {
      assert.equal((await visit(subject, verified(person))).status, 303);
      for (const api of [strict, welcoming]) {
        assert.deepEqual(refused(await visit(randomUUID(), verified(person), api)), [403, 'unknown_user', undefined]);
      }
    });

    it('unknown people', async () => {
      const email = `${randomUUID()}@example.com`;
      const ended = await visit(randomUUID(), { email, email_verified: true });
      assert.deepEqual(refused(ended), [403, 'unknown_user', undefined]);
      assert.deepEqual(await queryDatabase(stack, 'SELECT id FROM users WHERE email = $1', [email]), []);
    });
  });

  describe('with OIDC_CREATE_USERS', () => {
    it('an unknown person becomes a user without API access, once', async () => {
      const [subject, email] = [randomUUID(), `${randomUUID()}@example.com`];
      const claims = { name: ' Grace\0 Hopper ', email, email_verified: true };
      const users = [await visit(subject, claims, welcoming), await visit(subject, claims, welcoming)];
      const ids = await Promise.all(users.map(({ browser }) => userOf(browser)));
      assert.equal(ids[0], ids[1]);
      const [row] = await queryDatabase(stack, 'SELECT name, email, api_access, is_admin FROM users WHERE id = $1', [
        ids[0],
      ]);
      assert.deepEqual(row, { name: 'Grace  Hopper', email, api_access: false, is_admin: false });
    });

    it('two first sign-ins at the same moment make one user', async () => {
      const subject = randomUUID();
      issuer.people.set(subject, { email: `${subject}@example.com`, email_verified: true });
      issuer.visitor = subject;
      const flows = await Promise.all([1, 2, 3, 4].map(() => begin(welcoming)));
      const answers = await Promise.all(flows.map(({ location }) => followIssuer(location)));
      const ended = await Promise.all(answers.map((answer, index) => end(welcoming, answer, flows[index]!.cookie)));
      assert.deepEqual(
        ended.map(({ status }) => status),
        [303, 303, 303, 303],
      );
      const ids = new Set(await Promise.all(ended.map(({ browser }) => userOf(browser))));
      assert.equal(ids.size, 1);
    });

    it('an address that is not verified is not kept, and belongs to its owner as before', async () => {
      const owner = await createPerson(stack);
      const { browser } = await visit(randomUUID(), { email: owner.email, email_verified: false }, welcoming);
      const id = await userOf(browser);
      assert.notEqual(id, owner.userId);
      const [row] = await queryDatabase<{ email: string | null }>(stack, 'SELECT email FROM users WHERE id = $1', [id]);
      assert.equal(row?.email, null);
    });
  });

  it('an issuer that does not answer is a 503, and is asked again by the next request', async () => {
    const away = await startIssuer(`${PUBLIC_URL}${CALLBACK}`);
    const api = await startApiProcess(stack, {
      PUBLIC_URL,
      OIDC_ISSUER: away.url,
      OIDC_CLIENT_ID: 'a',
      OIDC_CLIENT_SECRET: 'b',
    });
    try {
      await away.close();
      const response = await fetch(`${api.apiUrl}/api/v1/auth/oidc/`, { redirect: 'manual' });
      const { code } = (await response.json()) as Detail;
      assert.deepEqual([response.status, code, response.headers.get('retry-after')], [503, 'issuer_unavailable', '30']);
      const { body } = await createApiClient(api.apiUrl).get<{ name: string }[]>('/auth/providers/');
      assert.equal(body[0]?.name, '127.0.0.1');
    } finally {
      await api.stop();
    }
  });
});
