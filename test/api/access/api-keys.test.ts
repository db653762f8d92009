import assert from 'node:assert/strict';
import { createApiClient, type ApiAnswer, type ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { changeKey, changeUser, createAccount, sessionOf, type Account } from '../accounts.js';
import { NOT_FOUND, type Detail, type FieldErrors, type Page } from '../bodies.js';

interface Key {
  id: number;
  label: string;
  hint: string;
  project: number | null;
  scope: string;
  expires_at: string | null;
  rate_limit: number | null;
  created_at: string;
  api_key?: string;
}

const FORBIDDEN: Detail = {
  detail: 'You do not have permission to perform this action.',
  code: 'permission_denied',
};
const IN_2099 = '2099-01-31T13:00:00+01:00';

describe('API keys over HTTP', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let session: ApiClient;
  let admin: ApiClient;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    session = await sessionOf(stack, account);
    const administrator = await createAccount(stack);
    await changeUser(stack, administrator, { is_admin: true });
    admin = await sessionOf(stack, administrator);
  });

  const make = async (body: object = {}, client = session): Promise<Key & { api_key: string }> => {
    const answer = await client.post<Key & { api_key: string }>('/api-keys/', { body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  };
  const listOf = async (client = session, query = '?size=100'): Promise<Key[]> =>
    (await client.get<Page<Key>>(`/api-keys/${query}`)).body.items;
  const statusOf = async (apiKey: string): Promise<number> =>
    (await createApiClient(stack.apiUrl, apiKey).get('/projects/?size=0')).status;

  describe('200, 201 and 204', () => {
    it('a new key is shown in full once, works, and is listed without the key itself', async () => {
      const { api_key: apiKey, ...key } = await make({ label: ' a laptop ' });
      assert.equal(new Date(key.created_at).toISOString(), key.created_at);
      assert.deepEqual(key, {
        id: key.id,
        label: 'a laptop',
        hint: apiKey.slice(-4),
        project: null,
        scope: 'full',
        expires_at: null,
        rate_limit: null,
        created_at: key.created_at,
      });
      assert.equal(await statusOf(apiKey), 200);
      assert.deepEqual((await listOf()).at(-1), key);
      assert.ok(!JSON.stringify(await listOf()).includes(apiKey));
      const stored = await queryDatabase(stack, 'SELECT * FROM api_keys WHERE id = $1', [key.id]);
      assert.ok(!JSON.stringify(stored).includes(apiKey));
    });

    it('a key that is made without a body has no label and no project', async () => {
      const { label, project } = (await session.post<Key>('/api-keys/')).body;
      assert.deepEqual([label, project], ['', null]);
    });

    it('a key has the scope that it is made with, and a change of the scope takes effect at once', async () => {
      const { id, api_key: apiKey, ...made } = await make({ scope: 'read' });
      assert.equal(made.scope, 'read');
      const client = createApiClient(stack.apiUrl, apiKey);
      const post = () => client.post<Detail>('/projects/', { body: { name: 'scoped' } });
      const refused = await post();
      assert.deepEqual([refused.status, refused.body.code], [403, 'key_scope']);
      assert.equal(refused.headers.get('x-ratelimit-limit'), '60', 'it is counted, and told');
      assert.equal(await statusOf(apiKey), 200);
      assert.equal((await session.patch<Key>(`/api-keys/${id}/`, { body: { scope: 'run' } })).body.scope, 'run');
      assert.equal(await statusOf(apiKey), 403);
      await session.patch<Key>(`/api-keys/${id}/`, { body: { scope: 'full' } });
      assert.equal((await post()).status, 201);
      for (const scope of ['all', '', null, 1]) {
        const { status, body } = await session.post<FieldErrors>('/api-keys/', { body: { scope } });
        assert.deepEqual([status, Object.keys(body)], [400, ['scope']]);
      }
    });

    it('a PATCH changes only the given fields, can remove restrictions, and takes effect at once', async () => {
      const inside = await account.api.createProject();
      const { id, api_key: apiKey, ...made } = await make({ project: inside, expires_at: IN_2099 });
      assert.deepEqual([made.project, made.expires_at], [inside, '2099-01-31T12:00:00.000Z']);
      const client = createApiClient(stack.apiUrl, apiKey);
      const outside = await account.api.createProject();
      assert.equal((await client.get(`/projects/${outside}/`)).status, 403);
      const changed = await session.patch<Key>(`/api-keys/${id}/`, { body: { label: 'free', project: null } });
      const listed = { ...made, id, label: 'free', project: null };
      assert.deepEqual([changed.status, changed.body], [200, listed]);
      assert.equal((await client.get(`/projects/${outside}/`)).status, 200);
      const unlimited = await session.patch<Key>(`/api-keys/${id}/`, { body: { expires_at: null } });
      assert.deepEqual(unlimited.body, { ...listed, expires_at: null });
      assert.deepEqual((await session.patch<Key>(`/api-keys/${id}/`, { body: {} })).body, unlimited.body);
    });

    it('a deleted key is refused from the next request on, and is gone', async () => {
      const { id, api_key: apiKey } = await make();
      const { status, body } = await session.delete(`/api-keys/${id}/`);
      assert.deepEqual([status, body], [204, '']);
      assert.equal(await statusOf(apiKey), 401);
      assert.deepEqual((await session.delete(`/api-keys/${id}/`)).body, NOT_FOUND);
      assert.ok((await listOf()).every((key) => key.id !== id));
    });

    it('the list has pages in the order in which the keys were made', async () => {
      const other = await createAccount(stack);
      const client = await sessionOf(stack, other);
      const ids = [other.keyId, (await make({}, client)).id, (await make({}, client)).id];
      const { body } = await client.get<Page<Key>>('/api-keys/?page=2&size=2');
      assert.deepEqual([body.page, body.size, body.total, body.items.map(({ id }) => id)], [2, 2, 3, [ids[2]]]);
      assert.deepEqual(
        (await listOf(client)).map(({ id }) => id),
        ids,
      );
    });
  });

  describe('401', () => {
    it('an expired key is refused like an unknown key', async () => {
      const other = await createAccount(stack);
      assert.equal((await other.api.get('/projects/')).status, 200);
      await changeKey(stack, other, { expiresAt: new Date(Date.now() + 400) });
      const { body, headers } = await eventually(async () => {
        const answer = await other.api.get<Detail>('/projects/');
        return answer.status === 401 ? answer : undefined;
      });
      assert.deepEqual(body, { detail: 'Invalid API key.', code: 'authentication_failed' });
      assert.equal(headers.get('x-ratelimit-limit'), null);
      assert.equal((await other.api.get('/workflows/workflow_result/?id=x')).status, 401);
      const models = await fetch(`${stack.apiUrl}/v1/models`, { headers: { authorization: `Bearer ${other.apiKey}` } });
      assert.equal(models.status, 401);
    });
  });

  describe('400', () => {
    const refused: [title: string, body: unknown, errors: FieldErrors][] = [
      [
        'a label of 101 characters',
        { label: 'x'.repeat(101) },
        { label: ['Ensure this field has no more than 100 characters.'] },
      ],
      ['a label that is null', { label: null }, { label: ['This field may not be null.'] }],
      [
        'a project that does not exist',
        { project: 2147483647 },
        { project: ['Invalid pk "2147483647" - object does not exist.'] },
      ],
      [
        'a project beyond all ids',
        { project: 1e12 },
        { project: ['Invalid pk "1000000000000" - object does not exist.'] },
      ],
      ['a project that is a text', { project: '1' }, { project: ['A valid integer is required.'] }],
      ['an end in the past', { expires_at: '2020-01-01T00:00:00Z' }, { expires_at: ['Enter a time in the future.'] }],
      [
        'an end beyond the calendar',
        { expires_at: '9999-12-31T23:59:59-12:00' },
        { expires_at: ['Enter a time in the future.'] },
      ],
    ];
    for (const [title, body, errors] of refused) {
      it(`${title} is refused with the field's name, in a POST and in a PATCH`, async () => {
        const [own] = await listOf();
        const answers = [
          await session.post<FieldErrors>('/api-keys/', { body }),
          await session.patch<FieldErrors>(`/api-keys/${own!.id}/`, { body }),
        ];
        for (const answer of answers) assert.deepEqual([answer.status, answer.body], [400, errors]);
      });
    }

    it('expires_at must be a date with a time and its offset from UTC', async () => {
      for (const end of ['soon', '2099-01-31', '2099-01-31T12:00:00', '2099-02-31T12:00:00Z', 4070952000, '']) {
        const { status, body } = await session.post<FieldErrors>('/api-keys/', { body: { expires_at: end } });
        assert.deepEqual([status, Object.keys(body)], [400, ['expires_at']], String(end));
      }
    });

    it('a project of another user is refused like a project that does not exist', async () => {
      const foreign = await (await createAccount(stack)).api.createProject();
      const { status, body } = await session.post<FieldErrors>('/api-keys/', { body: { project: foreign } });
      assert.deepEqual([status, body], [400, { project: [`Invalid pk "${foreign}" - object does not exist.`] }]);
    });

    it('a user has at most 100 keys, even with concurrent requests', async () => {
      const other = await createAccount(stack);
      const client = await sessionOf(stack, other);
      const fill = `INSERT INTO api_keys (user_id, key_hash, key_hint)
        SELECT $1::integer, sha256(convert_to('fill' || $1::integer || n, 'UTF8')), 'fill' FROM generate_series(1, 96) n`;
      await queryDatabase(stack, fill, [other.userId]);
      const answers = await Promise.all(Array.from({ length: 8 }, () => client.post<Detail>('/api-keys/')));
      const outcomes = answers.map(({ status, body }) => (status === 201 ? '201' : `${status} ${body.code}`));
      assert.deepEqual(outcomes.toSorted(), [...Array(3).fill('201'), ...Array(5).fill('400 too_many_keys')]);
      assert.equal((await listOf(client)).length, 100);
    });
  });

  describe('403 and 404', () => {
    const outcomes = (answers: ApiAnswer<unknown>[]): unknown[] => answers.map(({ status, body }) => [status, body]);

    it('only administrators may set a rate limit, or remove it', async () => {
      const { id } = await make();
      for (const limit of [10, null]) {
        const body = { rate_limit: limit };
        const answers = [await session.post('/api-keys/', { body }), await session.patch(`/api-keys/${id}/`, { body })];
        assert.deepEqual(outcomes(answers), [
          [403, FORBIDDEN],
          [403, FORBIDDEN],
        ]);
      }
      const { rate_limit: own, api_key: apiKey } = await make({ rate_limit: 7 }, admin);
      assert.equal(own, 7);
      const { headers } = await createApiClient(stack.apiUrl, apiKey).get('/projects/');
      assert.equal(headers.get('x-ratelimit-limit'), '7');
      for (const limit of [0, -1, 1.5, 2147483648, 'x']) {
        const { status, body } = await admin.post<FieldErrors>('/api-keys/', { body: { rate_limit: limit } });
        assert.deepEqual([status, Object.keys(body)], [400, ['rate_limit']], String(limit));
      }
    });

    it('a key of another user is answered like a key that does not exist', async () => {
      const { id } = await make();
      const stranger = await sessionOf(stack, await createAccount(stack));
      for (const path of [`/api-keys/${id}/`, '/api-keys/2147483647/', '/api-keys/99999999999/', '/api-keys/abc/']) {
        const answers = [
          await stranger.patch(path, { body: { label: 'mine' } }),
          await stranger.patch(path, { body: { rate_limit: 1 } }),
          await stranger.delete(path),
        ];
        assert.deepEqual(
          outcomes(answers),
          answers.map(() => [404, NOT_FOUND]),
          path,
        );
      }
      assert.deepEqual(outcomes([await stranger.get(`/api-keys/?user=${account.userId}`)]), [[403, FORBIDDEN]]);
      assert.ok((await listOf()).some((key) => key.id === id && key.label === ''));
    });

    it('an administrator lists, limits and deletes the keys of others, and cannot change anything else', async () => {
      const { id, api_key: apiKey } = await make({ label: 'theirs' });
      const mine = await listOf(admin, `?size=100&user=${account.userId}`);
      assert.deepEqual(mine, await listOf());
      for (const body of [{ label: 'x' }, { project: null }, { expires_at: null }, { rate_limit: 5, label: 'x' }]) {
        assert.deepEqual(outcomes([await admin.patch(`/api-keys/${id}/`, { body })]), [[403, FORBIDDEN]]);
      }
      const { status, body } = await admin.patch<Key>(`/api-keys/${id}/`, { body: { rate_limit: 5 } });
      assert.deepEqual([status, body.rate_limit, body.label], [200, 5, 'theirs']);
      assert.equal((await admin.delete(`/api-keys/${id}/`)).status, 204);
      assert.equal(await statusOf(apiKey), 401);
    });
  });
});
