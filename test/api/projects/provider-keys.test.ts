import assert from 'node:assert/strict';
import { createApiClient, type ApiAnswer, type ApiClient } from '../../../harness/client/api-client.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, restrictedTo } from '../accounts.js';
import { chatBody, completionBytes, startChatProxy, type ChatProxy } from '../chat-proxy.js';
import { NOT_FOUND, type Detail, type FieldErrors, type Page, type Project } from '../bodies.js';

interface ProviderKey {
  id: number;
  name: string;
  provider: string;
  masked_key: string;
  created_at: string;
}

const SECRET = 'sk-canary-of-a-project-4711';

describe('provider keys of a project', function () {
  this.timeout(150_000);
  let stack: TestStack;
  let api: ApiClient;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
  });
  beforeEach(async () => {
    project = await api.createProject();
  });

  const attach = (body: object, client = api): Promise<ApiAnswer<ProviderKey & Detail & FieldErrors>> =>
    client.post(`/projects/${project}/provider-keys/`, { body });
  const list = (query = ''): Promise<Page<ProviderKey>> =>
    api.get<Page<ProviderKey>>(`/projects/${project}/provider-keys/${query}`).then(({ body }) => body);

  describe('200, 201 and 204', () => {
    it('a key is stored sealed and never read back', async () => {
      const { status, body } = await attach({ provider: ' fake ', key: ` ${SECRET} `, name: 'ours' });
      const { id, created_at: createdAt, ...rest } = body;
      assert.equal(status, 201);
      assert.equal(new Date(createdAt).toISOString(), createdAt);
      assert.deepEqual(rest, { name: 'ours', provider: 'fake', masked_key: '********4711' });
      assert.deepEqual(await list(), { page: 1, size: 10, total: 1, items: [body] });
      const { body: record } = await api.get<Project>(`/projects/${project}/`);
      assert.deepEqual(record.attached_provider_keys, [body]);
      const text = 'SELECT key_enc FROM provider_keys WHERE id = $1';
      const [row] = await queryDatabase<{ key_enc: Buffer }>(stack, text, [id]);
      assert.ok(!row!.key_enc.includes('canary'));
      assert.ok(!JSON.stringify([body, await list(), record]).includes('canary'));
    });

    it('of a short key nothing is shown', async () => {
      assert.equal((await attach({ provider: 'fake', key: 'short-4711' })).body.masked_key, '********');
    });

    it('the list has pages, and a deleted key is gone', async () => {
      const ids: number[] = [];
      for (let n = 0; n < 3; n += 1) ids.push((await attach({ provider: 'fake', key: `key-${n}` })).body.id);
      const { total, items } = await list('?page=2&size=2');
      assert.deepEqual([total, items.map(({ id }) => id)], [3, [ids[2]]]);
      const path = `/projects/${project}/provider-keys/${ids[1]}/`;
      assert.deepEqual([(await api.delete(path)).status, (await api.delete(path)).status], [204, 404]);
      assert.deepEqual(
        (await list()).items.map(({ id }) => id),
        [ids[0], ids[2]],
      );
    });
  });

  describe('400', () => {
    const refused: [title: string, body: object, errors: FieldErrors][] = [
      ['nothing', {}, { provider: ['This field is required.'], key: ['This field is required.'] }],
      ['a blank key', { provider: 'fake', key: '  ' }, { key: ['This field may not be blank.'] }],
      ['a key of two lines', { provider: 'fake', key: 'sk-1\nX-Evil: 1' }, { key: ['Enter a valid key.'] }],
      ['a key beyond ASCII', { provider: 'fake', key: 'sk-é' }, { key: ['Enter a valid key.'] }],
      [
        'a key of 4,097 characters',
        { provider: 'fake', key: 'x'.repeat(4097) },
        { key: ['Ensure this field has no more than 4096 characters.'] },
      ],
      [
        'names that are too long',
        { provider: 'p'.repeat(101), key: 'k', name: 'n'.repeat(101) },
        {
          provider: ['Ensure this field has no more than 100 characters.'],
          name: ['Ensure this field has no more than 100 characters.'],
        },
      ],
      ['an unknown provider', { provider: 'p', key: 'k' }, { provider: ['Enter one of: fake.'] }],
      ['a provider in other capitals', { provider: 'Fake', key: 'k' }, { provider: ['Enter one of: fake.'] }],
      ['a key that is a number', { provider: 'fake', key: 5 }, { key: ['Not a valid string.'] }],
    ];
    for (const [title, body, errors] of refused) {
      it(`${title} is refused with the field's name`, async () => {
        const answer = await attach(body);
        assert.deepEqual([answer.status, answer.body], [400, errors]);
      });
    }

    it('a project has 100 keys at most, however many are sent at once', async () => {
      const fill = `INSERT INTO provider_keys (project_id, provider, name, key_enc, masked_key)
        SELECT $1, 'p', '', '', '' FROM generate_series(1, 98)`;
      await queryDatabase(stack, fill, [project]);
      const answers = await Promise.all(Array.from({ length: 6 }, () => attach({ provider: 'fake', key: 'k' })));
      const outcomes = answers.map(({ status, body }) => (status === 201 ? '201' : `${status} ${body.code}`));
      assert.deepEqual(outcomes.toSorted(), ['201', '201', ...Array(4).fill('400 too_many_keys')]);
      await queryDatabase(stack, 'DELETE FROM provider_keys WHERE project_id = $1', [project]);
    });
  });

  it('another project`s key is a 404, every member reads the list, masked, and only owners and admins change it', async () => {
    const { id } = (await attach({ provider: 'fake', key: SECRET })).body;
    const other = await api.createProject();
    for (const path of [`${other}/provider-keys/${id}`, `${project}/provider-keys/abc`]) {
      const { status, body } = await api.delete(`/projects/${path}/`);
      assert.deepEqual([status, body], [404, NOT_FOUND], path);
    }
    const member = await createAccount(stack);
    await giveRole(stack, member, project, 'viewer');
    const read = await member.api.get<Page<ProviderKey>>(`/projects/${project}/provider-keys/`);
    assert.deepEqual([read.status, read.body.items.map((key) => key.masked_key)], [200, ['********4711']]);
    assert.ok(!JSON.stringify(read.body).includes('canary'));
    await giveRole(stack, member, project, 'editor');
    assert.equal((await member.api.delete(`/projects/${project}/provider-keys/${id}/`)).status, 403);
    assert.equal((await attach({ provider: 'fake', key: 'k' }, member.api)).status, 403);
    assert.equal((await list()).total, 1);
  });

  describe('in use', () => {
    let proxy: ChatProxy;

    before(async () => {
      proxy = await startChatProxy(['own-keys']);
      proxy.upstream.on('own-keys', (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(completionBytes('own-keys'));
      });
    });
    after(() => proxy.stop());

    it('the newest of its provider is sent, and after its deletion the one before, at last the platform`s', async () => {
      const own = createApiClient(proxy.process.apiUrl, proxy.account.apiKey);
      const id = await own.createProject();
      const keyInUse = async (): Promise<string | undefined> => {
        const answer = await proxy.send(chatBody('own-keys'), { headers: { 'x-project-id': String(id) } });
        assert.equal(answer.status, 200);
        return proxy.upstream.requestsFor('own-keys').at(-1)?.headers.authorization;
      };
      const made: number[] = [];
      for (const [provider, key] of [
        ['raw', 'sk-first'],
        ['raw', 'sk-second'],
      ]) {
        const { body } = await own.post<ProviderKey>(`/projects/${id}/provider-keys/`, { body: { provider, key } });
        made.push(body.id);
      }
      const ofAnother = `INSERT INTO provider_keys (project_id, provider, name, key_enc, masked_key)
        SELECT project_id, 'another', name, key_enc, masked_key FROM provider_keys WHERE id = $1`;
      await queryDatabase(stack, ofAnother, [made[0]]);
      assert.equal(await keyInUse(), 'Bearer sk-second');
      const restricted = await restrictedTo(stack, id, proxy.account);
      const headers = { authorization: `Bearer ${restricted.apiKey}` };
      assert.equal((await proxy.send(chatBody('own-keys'), { headers })).status, 200);
      const named = proxy.upstream.requestsFor('own-keys').at(-1)?.headers.authorization;
      assert.equal(named, 'Bearer sk-second', 'a key that is restricted to the project names it');
      await own.delete(`/projects/${id}/provider-keys/${made[1]}/`);
      assert.equal(await keyInUse(), 'Bearer sk-first');
      await own.delete(`/projects/${id}/provider-keys/${made[0]}/`);
      assert.equal(await keyInUse(), `Bearer ${proxy.upstream.platformKey}`);
    });
  });
});
