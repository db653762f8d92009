import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { decodeJwt, SignJWT, type JWTPayload } from 'jose';
import { OWN_TOKEN_TYPE } from '../../../api/access/session-tokens.js';
import { readSecrets } from '../../../cli/embedded/secrets-file.js';
import { createApiClient } from '../../../harness/client/api-client.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { Browser, createPerson, signedIn, type Person } from './people.js';

describe('refresh and logout', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let person: Person;

  before(async () => {
    stack = await sharedStack();
    person = await createPerson(stack);
  });

  const statusOf = async (session: string): Promise<number> =>
    (await createApiClient(stack.apiUrl, { session }).get('/projects/')).status;

  it('a refresh replaces the cookie and answers like a login', async () => {
    const { browser, session } = await signedIn(stack, person);
    const before = browser.cookie;
    const { status, body, setCookie } = await browser.refresh();
    assert.equal(status, 200);
    assert.deepEqual([body.token_type, body.expires_in, body.user.id], ['Bearer', 3600, person.userId]);
    assert.notEqual(browser.cookie, before);
    assert.match(setCookie ?? '', /; HttpOnly; SameSite=Strict$/);
    assert.deepEqual([await statusOf(session), await statusOf(body.access_token)], [200, 200]);
    assert.equal((await browser.refresh()).status, 200);
  });

  it('a used cookie is refused and ends its session with all its tokens, and no other session', async () => {
    const other = await signedIn(stack, person);
    const { browser, session } = await signedIn(stack, person);
    const thief = browser.tab();
    const { body } = await browser.refresh();
    const refused = await thief.refresh();
    assert.deepEqual([refused.status, refused.body.code], [401, 'authentication_failed']);
    assert.match(refused.setCookie ?? '', /^wfa_refresh=; Path=\/api\/v1\/auth\/; Max-Age=0;/);
    assert.equal((await browser.refresh()).status, 401);
    assert.deepEqual([await statusOf(session), await statusOf(body.access_token)], [401, 401]);
    assert.equal(await statusOf(other.session), 200);
    assert.equal((await other.browser.refresh()).status, 200);
  });

  it('tabs that refresh at the same moment all stay signed in, and one of them has the next cookie', async () => {
    const { browser } = await signedIn(stack, person);
    const tabs = Array.from({ length: 5 }, () => browser.tab());
    const answers = await Promise.all(tabs.map((tab) => tab.refresh()));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    );
    for (const { body } of answers) assert.equal(await statusOf(body.access_token), 200);
    const fresh = tabs.filter((tab) => tab.cookie !== browser.cookie);
    assert.equal(fresh.length, 1);
    assert.equal((await fresh[0]!.refresh()).status, 200);
    // The cookie that all of them sent is used up, so a thief among them could not use it again.
    assert.equal((await browser.refresh()).status, 401);
  });

  it('without a cookie, with one that is none, or with a family without its secret it is a 401', async () => {
    const { browser } = await signedIn(stack, person);
    const family = browser.cookie!.split('.')[0]!;
    for (const cookie of [undefined, 'x', 'x'.repeat(5000), `${family}.`, family, `.${family}`, '%00', '"']) {
      const stranger = new Browser(stack.apiUrl);
      stranger.cookie = cookie;
      assert.equal((await stranger.refresh()).status, 401, cookie);
    }
    assert.equal((await browser.refresh()).status, 200);
  });

  it('a session that is not refreshed in time ends', async () => {
    const { browser, session } = await signedIn(stack, person);
    await queryDatabase(stack, `UPDATE sessions SET expires_at = now() WHERE user_id = $1`, [person.userId]);
    assert.deepEqual([(await browser.refresh()).status, await statusOf(session)], [401, 401]);
  });

  it('a session lasts 90 days at most, and its last access token no longer', async () => {
    const { browser } = await signedIn(stack, person);
    await queryDatabase(
      stack,
      `UPDATE sessions SET created_at = now() - interval '2159 hours 30 minutes' WHERE user_id = $1`,
      [person.userId],
    );
    const { body, setCookie } = await browser.refresh();
    assert.ok(body.expires_in > 1700 && body.expires_in <= 1800, String(body.expires_in));
    const maxAge = Number(/Max-Age=(\d+)/.exec(setCookie ?? '')?.[1]);
    assert.ok(maxAge > 1700 && maxAge <= 1800, String(maxAge));
  });

  it('logout ends the session and clears the cookie; again, or without one, it answers the same', async () => {
    const { browser, session } = await signedIn(stack, person);
    const [copy, used] = [browser.tab(), browser.tab()];
    const { status, setCookie } = await browser.logOut();
    assert.equal(status, 204);
    assert.match(setCookie ?? '', /^wfa_refresh=; Path=\/api\/v1\/auth\/; Max-Age=0; HttpOnly; SameSite=Strict/);
    assert.deepEqual([await statusOf(session), (await copy.refresh()).status], [401, 401]);
    assert.deepEqual([(await used.logOut()).status, (await browser.logOut()).status], [204, 204]);
  });

  describe('of a page of another origin', () => {
    const foreign: [title: string, headers: Record<string, string>][] = [
      ['another host', { origin: 'https://evil.example' }],
      ['another port', { origin: 'http://127.0.0.1:1' }],
      ['no origin', { origin: 'null' }],
      ['an origin that is none', { origin: 'nonsense' }],
      ['another site', { 'sec-fetch-site': 'cross-site' }],
      ['another origin of this site', { 'sec-fetch-site': 'same-site' }],
    ];
    for (const [title, headers] of foreign) {
      it(`both are refused, and change nothing: ${title}`, async () => {
        const { browser } = await signedIn(stack, person);
        for (const answer of [await browser.refresh(headers), await browser.logOut(headers)]) {
          assert.deepEqual([answer.status, answer.body.code, answer.setCookie], [403, 'foreign_origin', undefined]);
        }
        assert.equal((await browser.refresh()).status, 200);
      });
    }

    it('our own pages are let through', async () => {
      const { browser } = await signedIn(stack, person);
      const own = { origin: stack.apiUrl, 'sec-fetch-site': 'same-origin' };
      assert.equal((await browser.refresh(own)).status, 200);
      assert.equal((await browser.logOut(own)).status, 204);
    });
  });

  it('a token of the service`s own type is refused without an open session of its user', async () => {
    const secret = new TextEncoder().encode(readSecrets(stack.dataDir)!.JWT_SECRET);
    const { session } = await signedIn(stack, person);
    const other = await signedIn(stack, await createPerson(stack));
    const sign = (claims: JWTPayload): Promise<string> =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', typ: OWN_TOKEN_TYPE })
        .setExpirationTime('1h')
        .sign(secret);
    const { sid } = decodeJwt(session);
    assert.equal(await statusOf(await sign({ user_id: person.userId, sid })), 200);
    for (const claim of [decodeJwt(other.session)['sid'], randomUUID(), 'x', 1, undefined]) {
      assert.equal(await statusOf(await sign({ user_id: person.userId, sid: claim })), 401, String(claim));
    }
  });
});
