import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer, ApiClient } from '../../../harness/client/api-client.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { changeUser, createAccount, giveRole, type Account } from '../accounts.js';
import { NOT_FOUND, type Detail, type FieldErrors, type Page } from '../bodies.js';

interface Member {
  user_id: number;
  name: string;
  email: string | null;
  role: string;
}

describe('members of a project', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let owner: Account;
  let admin: Account;
  let viewer: Account;
  let newcomer: Account;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    [owner, admin, viewer, newcomer] = await Promise.all([
      createAccount(stack),
      createAccount(stack),
      createAccount(stack),
      createAccount(stack),
    ]);
  });
  beforeEach(async () => {
    project = await owner.api.createProject();
    await giveRole(stack, admin, project, 'admin');
    await giveRole(stack, viewer, project, 'viewer');
  });

  const membersOf = (api: ApiClient = owner.api): Promise<Page<Member>> =>
    api.get<Page<Member>>(`/projects/${project}/members/`).then(({ body }) => body);
  const rolesOf = async (): Promise<Record<string, string>> =>
    Object.fromEntries((await membersOf()).items.map(({ user_id: id, role }) => [id, role]));
  const add = (by: Account, body: object): Promise<ApiAnswer<Member & Detail & FieldErrors>> =>
    by.api.post(`/projects/${project}/members/`, { body });
  const change = (by: Account, whom: Account, role: string): Promise<ApiAnswer<Member & Detail>> =>
    by.api.patch(`/projects/${project}/members/${whom.userId}/`, { body: { role } });
  const drop = (by: Account, whom: Account): Promise<ApiAnswer<Detail>> =>
    by.api.delete(`/projects/${project}/members/${whom.userId}/`);
  const outcome = ({ status, body }: ApiAnswer<Partial<Detail>>): string =>
    status < 400 ? String(status) : `${status} ${body.code}`;

  describe('200, 201 and 204', () => {
    it('every member reads who they are, in the order in which they joined, in pages', async () => {
      const email = `${randomUUID()}@example.com`;
      await changeUser(stack, viewer, { name: 'Vera', email });
      const { items, ...page } = await membersOf(viewer.api);
      assert.deepEqual(page, { page: 1, size: 10, total: 3 });
      assert.deepEqual(items, [
        { user_id: owner.userId, name: 'test user', email: null, role: 'owner' },
        { user_id: admin.userId, name: 'test user', email: null, role: 'admin' },
        { user_id: viewer.userId, name: 'Vera', email, role: 'viewer' },
      ]);
      const second = await owner.api.get<Page<Member>>(`/projects/${project}/members/?size=2&page=2`);
      assert.deepEqual([second.body.total, second.body.items], [3, [items[2]]]);
    });

    it('a user is added by id or by e-mail address, in any case of its letters, and is in at once', async () => {
      assert.equal((await newcomer.api.get(`/projects/${project}/`)).status, 404);
      const added = await add(owner, { user_id: newcomer.userId, role: 'editor' });
      assert.deepEqual(
        [added.status, added.body],
        [201, { user_id: newcomer.userId, name: 'test user', email: null, role: 'editor' }],
      );
      assert.equal((await newcomer.api.get(`/projects/${project}/`)).status, 200);
      const other = await createAccount(stack);
      const email = `Grace.${randomUUID()}@Example.com`;
      await changeUser(stack, other, { email });
      const byEmail = await add(admin, { email: ` ${email.toUpperCase()} `, role: 'admin' });
      assert.deepEqual([byEmail.status, byEmail.body.user_id, byEmail.body.email], [201, other.userId, email]);
    });

    it('a changed role counts with the next request', async () => {
      const before = await viewer.api.patch(`/projects/${project}/`, { body: { name: 'x' } });
      const { status, body } = await change(admin, viewer, 'admin');
      assert.deepEqual([before.status, status, body.role], [403, 200, 'admin']);
      assert.equal((await viewer.api.patch(`/projects/${project}/`, { body: { name: 'x' } })).status, 200);
    });

    it('a member who is removed or leaves loses access at once, and every member may leave', async () => {
      assert.equal(outcome(await drop(viewer, viewer)), '204');
      assert.equal(outcome(await drop(owner, admin)), '204');
      assert.deepEqual(await rolesOf(), { [owner.userId]: 'owner' });
      for (const { api } of [viewer, admin]) assert.equal((await api.get(`/projects/${project}/`)).status, 404);
    });

    it('ownership is handed over: a second owner comes, and the first one leaves', async () => {
      assert.equal((await change(owner, admin, 'owner')).status, 200);
      assert.equal(outcome(await drop(owner, owner)), '204');
      assert.deepEqual(
        (await membersOf(admin.api)).items.map(({ user_id: id, role }) => [id, role]),
        [
          [admin.userId, 'owner'],
          [viewer.userId, 'viewer'],
        ],
      );
    });
  });

  describe('400', () => {
    const refused: [title: string, body: object, errors: FieldErrors][] = [
      ['nobody', { role: 'viewer' }, { non_field_errors: ['Either email or user_id must be sent.'] }],
      [
        'both names',
        { role: 'viewer', email: 'a@example.com', user_id: 1 },
        { non_field_errors: ['Either email or user_id must be sent.'] },
      ],
      ['no role', { user_id: 1 }, { role: ['This field is required.'] }],
      ['a role that is null', { user_id: 1, role: null }, { role: ['This field may not be null.'] }],
      ['an unknown role', { user_id: 1, role: 'king' }, { role: ['"king" is not a valid choice.'] }],
      ['what is no address', { email: 'grace', role: 'viewer' }, { email: ['Enter a valid email address.'] }],
      [
        'an address of 255 characters',
        { email: `${'x'.repeat(243)}@example.com`, role: 'viewer' },
        { email: ['Ensure this field has no more than 254 characters.'] },
      ],
      [
        'an address that nobody has',
        { email: 'nobody-at-all@example.com', role: 'viewer' },
        { email: ['No user has this e-mail address.'] },
      ],
      [
        'an id that nobody has',
        { user_id: 2147483647, role: 'viewer' },
        { user_id: ['Invalid pk "2147483647" - object does not exist.'] },
      ],
      [
        'an id beyond all',
        { user_id: 1e12, role: 'viewer' },
        { user_id: ['Invalid pk "1000000000000" - object does not exist.'] },
      ],
      ['an id that is a text', { user_id: '1', role: 'viewer' }, { user_id: ['A valid integer is required.'] }],
    ];
    for (const [title, body, errors] of refused) {
      it(`${title} cannot be added`, async () => {
        const answer = await add(owner, body);
        assert.deepEqual([answer.status, answer.body], [400, errors]);
      });
    }

    it('a member is not added again, and keeps the role', async () => {
      const answer = await add(owner, { user_id: viewer.userId, role: 'admin' });
      assert.deepEqual([answer.status, answer.body], [400, { user_id: ['This user is already a member.'] }]);
      assert.equal((await rolesOf())[viewer.userId], 'viewer');
    });

    it('of ten who add the same user at once, one does', async () => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => add(owner, { user_id: newcomer.userId, role: 'editor' })),
      );
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [201, ...Array(9).fill(400)],
      );
    });

    it('the last owner neither leaves nor becomes less', async () => {
      assert.equal(outcome(await drop(owner, owner)), '400 last_owner');
      for (const role of ['admin', 'viewer']) assert.equal(outcome(await change(owner, owner, role)), '400 last_owner');
      assert.equal(outcome(await change(owner, owner, 'owner')), '200');
      assert.equal((await rolesOf())[owner.userId], 'owner');
    });

    it('of two owners who leave at once, or remove each other, one stays', async () => {
      for (let round = 0; round < 10; round += 1) {
        const id = await owner.api.createProject();
        await giveRole(stack, admin, id, 'owner');
        const leave = (by: Account, whom: Account) =>
          by.api.delete<Detail>(`/projects/${id}/members/${whom.userId}/`).then(outcome);
        const demote = (by: Account, whom: Account) =>
          by.api.patch<Detail>(`/projects/${id}/members/${whom.userId}/`, { body: { role: 'viewer' } }).then(outcome);
        const ways = [
          () => [leave(owner, owner), leave(admin, admin)],
          () => [leave(owner, admin), leave(admin, owner)],
          () => [demote(owner, admin), demote(admin, owner)],
          () => [demote(owner, owner), leave(admin, admin)],
        ];
        const outcomes = await Promise.all(ways[round % ways.length]!());
        const done = outcomes.filter((each) => each.startsWith('20'));
        assert.equal(done.length, 1, outcomes.join());
        const readers = await Promise.all(
          [owner, admin].map(({ api }) => api.get<{ role?: string }>(`/projects/${id}/`)),
        );
        assert.equal(readers.filter(({ body }) => body.role === 'owner').length, 1);
      }
    });
  });

  describe('403', () => {
    it('only owners make owners, change one, and remove one', async () => {
      const second = await createAccount(stack);
      await giveRole(stack, second, project, 'owner');
      const refusals = [
        await add(admin, { user_id: newcomer.userId, role: 'owner' }),
        await change(admin, viewer, 'owner'),
        await change(admin, admin, 'owner'),
        await change(admin, second, 'viewer'),
        await change(admin, second, 'owner'),
        await drop(admin, second),
      ];
      assert.deepEqual(refusals.map(outcome), Array(6).fill('403 permission_denied'));
      assert.deepEqual(await rolesOf(), {
        [owner.userId]: 'owner',
        [admin.userId]: 'admin',
        [viewer.userId]: 'viewer',
        [second.userId]: 'owner',
      });
      assert.equal(outcome(await drop(owner, second)), '204');
    });

    it('editors and viewers change nobody, also not themselves', async () => {
      const editor = await createAccount(stack);
      await giveRole(stack, editor, project, 'editor');
      for (const lesser of [editor, viewer]) {
        const refusals = [
          await add(lesser, { user_id: newcomer.userId, role: 'viewer' }),
          await change(lesser, lesser, 'admin'),
          await drop(lesser, admin),
          await drop(lesser, newcomer),
        ];
        assert.deepEqual(refusals.map(outcome), Array(4).fill('403 permission_denied'));
      }
    });
  });

  describe('404', () => {
    it('who is no member is not found, and a stranger finds no project', async () => {
      for (const answer of [await change(owner, newcomer, 'viewer'), await drop(owner, newcomer)]) {
        assert.deepEqual([answer.status, answer.body], [404, NOT_FOUND]);
      }
      for (const id of ['2147483647', '99999999999', 'abc', '0', '-1']) {
        const { status, body } = await owner.api.delete(`/projects/${project}/members/${id}/`);
        assert.deepEqual([status, body], [404, NOT_FOUND], id);
      }
      const answers = [
        await newcomer.api.get(`/projects/${project}/members/`),
        await add(newcomer, { user_id: newcomer.userId, role: 'owner' }),
        await drop(newcomer, viewer),
      ];
      for (const { status, body } of answers) assert.deepEqual([status, body], [404, NOT_FOUND]);
    });

    it('a deleted project has no members', async () => {
      await owner.api.delete(`/projects/${project}/`);
      assert.equal((await owner.api.get(`/projects/${project}/members/`)).status, 404);
      assert.equal(outcome(await add(owner, { user_id: newcomer.userId, role: 'viewer' })), '404 not_found');
    });
  });
});
