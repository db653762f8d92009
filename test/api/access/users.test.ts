import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer, ApiClient } from '../../../harness/client/api-client.js';
import { queryDatabase } from '../../support/inspect.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { changeUser, createAccount, sessionOf, type Account } from '../accounts.js';
import { NOT_FOUND, type Detail, type FieldErrors, type Page } from '../bodies.js';
import { stackOnOwnDatabase } from '../own-database.js';

interface User {
  id: number;
  name: string;
  email: string | null;
  api_access: boolean;
  is_admin: boolean;
  is_active: boolean;
  created_at: string;
}

/** These tests have their own database, because the rule on the last administrator depends on all users. */
describe('users', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let administrator: Account;
  let admin: ApiClient;

  before(async () => {
    stack = await stackOnOwnDatabase();
    account = await createAccount(stack);
    administrator = await createAccount(stack);
    await changeUser(stack, administrator, { is_admin: true });
    admin = await sessionOf(stack, administrator);
  });
  after(() => stack.stop());

  const mailbox = (): string => `${randomUUID()}@example.com`;
  const create = (body: object, client = admin): Promise<ApiAnswer<User & Detail & FieldErrors>> =>
    client.post('/users/', { body });
  const change = (id: number, body: object, client = admin): Promise<ApiAnswer<User & Detail & FieldErrors>> =>
    client.patch(`/users/${id}/`, { body });

  describe('me', () => {
    it('is the user of the credentials, by key and by session', async () => {
      const email = mailbox();
      await changeUser(stack, account, { name: 'Ada', email });
      const expected = { id: account.userId, name: 'Ada', email, api_access: true, is_admin: false };
      const session = await sessionOf(stack, account);
      assert.deepEqual((await account.api.get('/me/')).body, expected);
      assert.deepEqual((await session.get('/me')).body, expected);
      assert.equal((await admin.get<User>('/me/')).body.is_admin, true);
    });
  });

  describe('200 and 201', () => {
    it('a new user has a name, and may call the API unless api_access is false', async () => {
      const { status, body } = await create({ name: ' Grace ' });
      const { id, created_at: createdAt, ...rest } = body;
      assert.equal(status, 201);
      assert.equal(new Date(createdAt).toISOString(), createdAt);
      assert.deepEqual(rest, { name: 'Grace', email: null, api_access: true, is_admin: false, is_active: true });
      const email = mailbox();
      const whole = await create({ name: 'Eve', email, api_access: false, is_admin: true });
      assert.deepEqual([whole.body.email, whole.body.api_access, whole.body.is_admin], [email, false, true]);
      await change(whole.body.id, { is_admin: false });
      assert.ok(id < whole.body.id);
    });

    it('a PATCH changes only the given fields', async () => {
      const { body: before } = await create({ name: 'Before', email: mailbox() });
      const renamed = await change(before.id, { name: 'After', id: 1, created_at: 'x' });
      assert.deepEqual([renamed.status, renamed.body], [200, { ...before, name: 'After' }]);
      const email = mailbox();
      assert.equal((await change(before.id, { email })).body.email, email);
      assert.equal((await change(before.id, { email: null })).body.email, null);
      assert.deepEqual((await change(before.id, {})).body, { ...before, name: 'After', email: null });
    });

    it('API access that is withdrawn or given back takes effect at once', async () => {
      const other = await createAccount(stack);
      await change(other.userId, { api_access: false });
      assert.equal((await other.api.get('/projects/')).status, 403);
      await change(other.userId, { api_access: true });
      assert.equal((await other.api.get('/projects/')).status, 200);
    });

    it('the list has pages ordered by id, and its search finds the literal text in names and addresses', async () => {
      const word = randomUUID();
      const ids: number[] = [];
      for (const fields of [{ name: `${word} 100%` }, { name: 'x', email: `${word}@example.com` }, { name: word }]) {
        ids.push((await create(fields)).body.id);
      }
      const find = async (query: string): Promise<[number, number[]]> => {
        const { body } = await admin.get<Page<User>>(`/users/?${query}`);
        return [body.total, body.items.map(({ id }) => id)];
      };
      assert.deepEqual(await find(`search=${word.toUpperCase()}`), [3, ids]);
      assert.deepEqual(await find(`search=${word}&page=2&size=2`), [3, [ids[2]!]]);
      assert.deepEqual(await find('search=100%25'), [1, [ids[0]!]]);
      assert.deepEqual(await find(`search=${word}&page=9`), [3, []]);
      assert.ok((await find('search='))[0] >= 5);
    });

    it('an administrator sees no more projects than other users do', async () => {
      const project = await account.api.createProject();
      for (const client of [admin, administrator.api]) {
        assert.equal((await client.get(`/projects/${project}/`)).status, 404);
        assert.equal((await client.get<Page<unknown>>('/projects/')).body.total, 0);
        const member = { user_id: administrator.userId, role: 'owner' };
        assert.equal((await client.post(`/projects/${project}/members/`, { body: member })).status, 404);
      }
    });
  });

  describe('400', () => {
    const refused: [title: string, body: object, errors: FieldErrors][] = [
      ['no name', {}, { name: ['This field is required.'] }],
      ['a blank name', { name: ' ' }, { name: ['This field may not be blank.'] }],
      ['what is no address', { name: 'n', email: 'x@' }, { email: ['Enter a valid email address.'] }],
      ['an empty address', { name: 'n', email: '' }, { email: ['Enter a valid email address.'] }],
      [
        'a password, which is never dropped in silence,',
        { name: 'n', password: 'correct horse battery' },
        { password: ['A user sets the password by the link that POST /users/{id}/password-link/ makes.'] },
      ],
      ['a flag that is a text', { name: 'n', is_admin: 'yes' }, { is_admin: ['Must be a valid boolean.'] }],
      ['a flag that is null', { name: 'n', api_access: null }, { api_access: ['This field may not be null.'] }],
      [
        'a name of 256 characters',
        { name: 'x'.repeat(256) },
        { name: ['Ensure this field has no more than 255 characters.'] },
      ],
    ];
    for (const [title, body, errors] of refused) {
      it(`${title} is refused with the field's name`, async () => {
        const answer = await create(body);
        assert.deepEqual([answer.status, answer.body], [400, errors]);
      });
    }

    it('an address belongs to one user, in any case of its letters, even with concurrent requests', async () => {
      const email = mailbox();
      const taken = { email: ['Another user has this e-mail address.'] };
      const spellings = [email, email.toUpperCase(), email, email.toUpperCase()];
      const answers = await Promise.all(spellings.map((each) => create({ name: 'n', email: each })));
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [201, 400, 400, 400],
      );
      for (const { status, body } of answers) if (status === 400) assert.deepEqual(body, taken);
      const { body: other } = await create({ name: 'other' });
      assert.deepEqual((await change(other.id, { email: email.toUpperCase() })).body, taken);
      const { body: owner } = answers.find(({ status }) => status === 201)!;
      assert.equal(
        (await change(owner.id, { email: email.toUpperCase() })).status,
        200,
        'their own, written otherwise',
      );
    });

    it('the last active administrator cannot be deactivated or demoted, and inactive ones do not count', async () => {
      const second = await createAccount(stack);
      await change(second.userId, { is_admin: true });
      assert.equal((await change(second.userId, { is_active: false })).body.is_active, false);
      for (const body of [{ is_active: false }, { is_admin: false }]) {
        const answer = await change(administrator.userId, body);
        assert.deepEqual([answer.status, answer.body.code], [400, 'last_admin']);
      }
      await change(second.userId, { is_active: true });
      const other = await sessionOf(stack, second);
      const answers = await Promise.all([
        change(administrator.userId, { is_active: false }),
        change(second.userId, { is_active: false }, other),
      ]);
      const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
      assert.ok(statuses[0] === 200 && [400, 401].includes(statuses[1]!), String(statuses));
      await queryDatabase(stack, 'UPDATE users SET is_active = true, is_admin = (id = $1)', [administrator.userId]);
    });

    it('the last administrator stays one, even if all resign at once', async () => {
      const only = await change(administrator.userId, { is_admin: false });
      assert.deepEqual([only.status, only.body.code], [400, 'last_admin']);
      for (let round = 0; round < 5; round += 1) {
        const second = await createAccount(stack);
        await change(second.userId, { is_admin: true });
        const other = await sessionOf(stack, second);
        await Promise.all([
          change(administrator.userId, { is_admin: false }),
          change(second.userId, { is_admin: false }, other),
        ]);
        const text = 'SELECT id FROM users WHERE is_admin';
        const left = await queryDatabase<{ id: number }>(stack, text);
        assert.equal(left.length, 1);
        await queryDatabase(stack, 'UPDATE users SET is_admin = (id = $1)', [administrator.userId]);
      }
    });
  });

  describe('403 and 404', () => {
    it('users who are no administrators cannot list or change users, not even themselves', async () => {
      const session = await sessionOf(stack, account);
      for (const client of [account.api, session]) {
        const answers = [
          await client.get<Detail>('/users/'),
          await create({ name: 'n' }, client),
          await create({}, client),
          await change(account.userId, { is_admin: true }, client),
          await change(2147483647, { name: 'n' }, client),
        ];
        for (const { status, body } of answers) assert.deepEqual([status, body.code], [403, 'permission_denied']);
      }
      assert.equal((await account.api.get<User>('/me/')).body.is_admin, false);
    });

    it('a key of an administrator can neither make administrators nor change e-mail addresses', async () => {
      const { api } = administrator;
      const { body: user } = await create({ name: 'made by key', email: mailbox() }, api);
      const refusals = [
        await create({ name: 'n', is_admin: true }, api),
        await change(user.id, { is_admin: true }, api),
        await change(user.id, { email: mailbox() }, api),
        await change(user.id, { email: null, name: 'x' }, api),
      ];
      const refused = { detail: 'This needs a session; an API key is not enough.', code: 'permission_denied' };
      for (const { status, body } of refusals) assert.deepEqual([status, body], [403, refused]);
      assert.deepEqual((await change(user.id, { name: 'x', api_access: false }, api)).body, {
        ...user,
        name: 'x',
        api_access: false,
      });
    });

    it('a user who does not exist is a 404', async () => {
      for (const id of ['2147483647', '99999999999', 'abc', '0', '-1']) {
        const { status, body } = await admin.patch(`/users/${id}/`, { body: { name: 'n' } });
        assert.deepEqual([status, body], [404, NOT_FOUND], id);
      }
    });
  });
});
