// New passwords of users (docs/use/sign-in.md, "Passwords").
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createApiClient, type ApiAnswer, type ApiClient } from '../../../harness/client/api-client.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { changeUser, createAccount, sessionOf, type Account } from '../accounts.js';
import type { Detail, FieldErrors, Page } from '../bodies.js';
import { Browser, createLink, createPerson, signedIn, type AuthAnswer, type Person } from './people.js';

const NEW = 'correct horse battery staple';

describe('a new password', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let administrator: Account;
  let admin: ApiClient;

  before(async () => {
    stack = await sharedStack();
    administrator = await createAccount(stack);
    await changeUser(stack, administrator, { is_admin: true });
    admin = await sessionOf(stack, administrator);
  });
  after(() => changeUser(stack, administrator, { is_admin: false }));

  const statusOf = async (session: string): Promise<number> =>
    (await createApiClient(stack.apiUrl, { session }).get('/me/')).status;
  const weak: [title: string, password: unknown, sentence: RegExp][] = [
    ['that is too short', 'elevenchars', /at least 12 characters/],
    ['that is too long', 'x'.repeat(1025), /at most 1024 characters/],
    ['of white space', ' '.repeat(12), /white space/],
    ['that is a common one, in any case', 'Qwerty123456', /most common/],
    ['that is no text', 123456789012, /Not a valid string/],
    ['that is missing', undefined, /required/],
  ];

  describe('with the current password', () => {
    const change = (session: string, body: object): Promise<ApiAnswer<Detail & FieldErrors>> =>
      createApiClient(stack.apiUrl, { session }).post('/auth/password/', { body });

    it('ends the other sessions and unused links, and signs in from then on', async () => {
      const person = await createPerson(stack);
      const [here, there] = [await signedIn(stack, person), await signedIn(stack, person)];
      const token = await createLink(stack, person.userId);
      const answer = await change(here.session, { current_password: person.password, new_password: NEW });
      assert.equal(answer.status, 204);
      assert.deepEqual([await statusOf(here.session), await statusOf(there.session)], [200, 401]);
      assert.deepEqual([(await here.browser.refresh()).status, (await there.browser.refresh()).status], [200, 401]);
      assert.equal((await new Browser(stack.apiUrl).post('link/', { token })).status, 401);
      assert.equal((await new Browser(stack.apiUrl).logIn(person)).status, 401);
      assert.equal((await new Browser(stack.apiUrl).logIn({ ...person, password: NEW })).status, 200);
    });

    it('a wrong current password is a 400 on it, and five of them close the account as failed logins do', async () => {
      const person = await createPerson(stack);
      const { session } = await signedIn(stack, person);
      for (let count = 0; count < 5; count += 1) {
        const { status, body } = await change(session, { current_password: 'not it', new_password: NEW });
        assert.deepEqual([status, body], [400, { current_password: ['This is not your password.'] }]);
      }
      const closed = await change(session, { current_password: person.password, new_password: NEW });
      assert.deepEqual([closed.status, closed.body.code], [429, 'throttled']);
      assert.equal((await new Browser(stack.apiUrl).logIn(person)).status, 429);
    });

    for (const [title, password, sentence] of weak) {
      it(`one ${title} is a 400 on new_password, and no attempt is counted`, async () => {
        const person = await createPerson(stack);
        const { session } = await signedIn(stack, person);
        for (let count = 0; count < 6; count += 1) {
          const { status, body } = await change(session, { current_password: 'not it', new_password: password });
          assert.deepEqual([status, Object.keys(body)], [400, ['new_password']]);
          assert.match(body['new_password']![0]!, sentence);
        }
        assert.equal((await change(session, { current_password: person.password, new_password: NEW })).status, 204);
      });
    }

    it('of two changes at once one counts', async () => {
      const person = await createPerson(stack);
      const { session } = await signedIn(stack, person);
      const bodies = ['one', 'other'].map((word) => ({
        current_password: person.password,
        new_password: `${NEW} ${word}`,
      }));
      const statuses = (await Promise.all(bodies.map((body) => change(session, body)))).map(({ status }) => status);
      assert.deepEqual(
        statuses.toSorted((a, b) => a - b),
        [204, 400],
      );
    });
  });

  describe('by a link of an administrator', () => {
    const linkFor = async ({ userId }: Pick<Person, 'userId'>): Promise<{ token: string; expiresAt: string }> => {
      const { status, body } = await admin.post<{ url: string; expires_at: string }>(`/users/${userId}/password-link/`);
      assert.equal(status, 201, JSON.stringify(body));
      const { origin, pathname, hash } = new URL(body.url);
      assert.deepEqual([origin, pathname], [stack.apiUrl, '/password']);
      return { token: hash.slice('#token='.length), expiresAt: body.expires_at };
    };
    const reset = (token: unknown, password: unknown = NEW): Promise<AuthAnswer> =>
      new Browser(stack.apiUrl).post('password/reset/', { token, new_password: password });

    it('is set once, signs the user in, and ends all sessions and all other links', async () => {
      const person = await createPerson(stack);
      const before = await signedIn(stack, person);
      const signInLink = await createLink(stack, person.userId);
      const [{ token, expiresAt }, other] = [await linkFor(person), await linkFor(person)];
      assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 24 * 3_600_000) < 60_000);
      const browser = new Browser(stack.apiUrl);
      const { status, body, setCookie } = await browser.post('password/reset/', { token, new_password: NEW });
      assert.deepEqual([status, body.user.id, setCookie !== undefined], [200, person.userId, true]);
      assert.deepEqual([await statusOf(body.access_token), await statusOf(before.session)], [200, 401]);
      assert.equal((await browser.refresh()).status, 200);
      for (const used of [token, other.token]) {
        const again = await reset(used);
        assert.deepEqual([again.status, again.body.code, again.setCookie], [401, 'authentication_failed', undefined]);
      }
      assert.equal((await new Browser(stack.apiUrl).post('link/', { token: signInLink })).status, 401);
      assert.equal((await new Browser(stack.apiUrl).logIn({ ...person, password: NEW })).status, 200);
    });

    it('used many times at once sets one password', async () => {
      const person = await createPerson(stack);
      const links = [await linkFor(person), await linkFor(person)];
      const answers = await Promise.all(links.flatMap(({ token }) => [reset(token), reset(token), reset(token)]));
      const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
      assert.deepEqual(statuses, [200, 401, 401, 401, 401, 401]);
    });

    it('that is weak leaves the link usable', async () => {
      const { token } = await linkFor(await createPerson(stack));
      for (const [title, password] of weak) {
        const asked = { token, ...(password !== undefined && { new_password: password }) };
        const { status, body } = await new Browser(stack.apiUrl).post('password/reset/', asked);
        assert.deepEqual([status, Object.keys(body)], [400, ['new_password']], title);
      }
      assert.equal((await reset(token)).status, 200);
    });

    it('a link is good for 24 hours, for passwords alone, and stored as a hash', async () => {
      const person = await createPerson(stack);
      const { token } = await linkFor(person);
      assert.equal((await new Browser(stack.apiUrl).post('link/', { token })).status, 401, 'it is no sign-in link');
      assert.equal((await reset(await createLink(stack, person.userId))).status, 401, 'nor the reverse');
      const hash = createHash('sha256').update(token).digest();
      const [row] = await queryDatabase(stack, 'SELECT purpose FROM sign_in_links WHERE token_hash = $1', [hash]);
      assert.deepEqual(row, { purpose: 'password' });
      await queryDatabase(stack, 'UPDATE sign_in_links SET expires_at = now() WHERE token_hash = $1', [hash]);
      assert.equal((await reset(token)).status, 401);
    });

    it('no link is made for users who cannot sign in by password, or without an administrator`s session', async () => {
      const { userId } = await createAccount(stack);
      const ask = (id: number, client: ApiClient) => client.post<Detail>(`/users/${id}/password-link/`);
      const bare = await ask(userId, admin);
      assert.deepEqual([bare.status, bare.body.code], [400, 'no_email']);
      const person = await createPerson(stack);
      await changeUser(stack, { userId: person.userId } as Account, { is_active: false });
      const inactive = await ask(person.userId, admin);
      assert.deepEqual([inactive.status, inactive.body.code], [400, 'user_inactive']);
      assert.equal((await ask(2_147_483_647, admin)).status, 404);
      const { status, body } = await ask(person.userId, administrator.api);
      assert.deepEqual([status, body.code], [403, 'permission_denied']);
    });
  });

  describe('the sessions of a user', () => {
    it('are listed and ended by administrators', async () => {
      const person = await createPerson(stack);
      const sessions = [await signedIn(stack, person), await signedIn(stack, person)];
      const path = `/users/${person.userId}/sessions/`;
      const { status, body } = await admin.get<Page<{ id: string; method: string; is_current: boolean }>>(path);
      assert.deepEqual([status, body.total], [200, 2]);
      assert.deepEqual(
        body.items.map(({ method, is_current: isCurrent }) => [method, isCurrent]),
        [
          ['password', false],
          ['password', false],
        ],
      );
      assert.equal((await admin.delete(path)).status, 204);
      for (const { session } of sessions) assert.equal(await statusOf(session), 401);
      assert.equal((await admin.get<Page<object>>(path)).body.total, 0);
      assert.deepEqual(
        [
          (await admin.get('/users/2147483647/sessions/')).status,
          (await admin.delete('/users/2147483647/sessions/')).status,
        ],
        [404, 404],
      );
    });
  });
});
