import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import { NOT_FOUND, type Detail, type FieldErrors, type Page, type Project } from '../bodies.js';

describe('projects', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let owner: Account;
  let api: ApiClient;

  before(async () => {
    stack = await sharedStack();
    owner = await createAccount(stack);
    api = owner.api;
  });

  describe('200, 201 and 204', () => {
    it('a new project has every field of the specification', async () => {
      const { status, body } = await api.post<Project>('/projects/', { body: { name: 'Plain' } });
      assert.equal(status, 201);
      const { id, created_at: createdAt, updated_at: updatedAt, ...rest } = body;
      assert.ok(Number.isInteger(id));
      for (const time of [createdAt, updatedAt]) assert.equal(new Date(time).toISOString(), time);
      assert.deepEqual(rest, {
        name: 'Plain',
        total_spent: { USD: '0', EUR: '0' },
        spending_limit: null,
        spent_in_period: { USD: '0', EUR: '0' },
        stored_bytes: 0,
        pool: null,
        pools: [],
        attached_provider_keys: [],
        webhook_url: '',
        is_webhook_enabled: false,
        can_edit: true,
        role: 'owner',
      });
      assert.deepEqual((await api.get(`/projects/${id}/`)).body, body);
      assert.deepEqual((await api.get(`/projects/${id}`)).body, body, 'without the trailing slash');
    });

    it('a PATCH changes what it names and nothing else', async () => {
      const webhook = { webhook_url: 'https://hooks.example.com/in?x=1', is_webhook_enabled: true };
      const { body: before } = await api.post<Project>('/projects/', { body: { name: 'Before', ...webhook } });
      const changes = { name: 'After', id: 1, can_edit: false, total_spent: {} };
      const { status, body: after } = await api.patch<Project>(`/projects/${before.id}/`, { body: changes });
      assert.equal(status, 200);
      assert.deepEqual(after, { ...before, name: 'After', updated_at: after.updated_at });
      assert.ok(after.updated_at >= before.updated_at);
      const unset = await api.patch<Project>(`/projects/${before.id}/`, { body: { webhook_url: '' } });
      assert.deepEqual([unset.status, unset.body.webhook_url], [200, '']);
      assert.equal((await api.patch(`/projects/${before.id}/`, { body: {} })).status, 200);
    });

    it('a deleted project is gone from every read, with its workflows', async () => {
      const id = await api.createProject();
      const workflowId = await api.createWorkflow(id, {});
      const { status, body } = await api.delete<string>(`/projects/${id}/`);
      assert.deepEqual([status, body], [204, '']);
      for (const path of [`/projects/${id}/`, `/workflows/${workflowId}/`, `/workflows/${workflowId}/history/`]) {
        assert.equal((await api.get(path)).status, 404, path);
      }
      assert.equal((await api.delete(`/projects/${id}/`)).status, 404);
      assert.equal((await api.get<Page<Project>>(`/workflows/?project=${id}`)).body.total, 0);
      const refused = await api.post('/workflows/', { body: { project: id, title: 'x', data: {} } });
      assert.equal(refused.status, 400);
    });

    it('a deleted project keeps no credential: no provider key, no connection, no secret of its webhook', async () => {
      const id = await api.createProject();
      await api.patch(`/projects/${id}/`, {
        body: { webhook_url: 'https://hooks.example.com/in', is_webhook_enabled: true },
      });
      for (let shown = 0; shown < 2; shown += 1) await api.post(`/projects/${id}/webhook-secret/`);
      await api.post(`/projects/${id}/provider-keys/`, { body: { provider: 'fake', key: 'key-of-this-project' } });
      const connection = { name: 'shop', kind: 'bearer', origins: ['https://shop.example.com'], settings: {} };
      await api.post(`/projects/${id}/connections/`, { body: { ...connection, secrets: { token: 'secret' } } });
      const credentials = async (): Promise<unknown> => {
        const [row] = await queryDatabase(
          stack,
          `SELECT webhook_secret_enc IS NOT NULL AS secret, webhook_previous_secret_enc IS NOT NULL AS previous,
             (SELECT count(*) FROM provider_keys WHERE project_id = projects.id)::integer AS keys,
             (SELECT count(*) FROM connections WHERE project_id = projects.id)::integer AS connections
           FROM projects WHERE id = $1`,
          [id],
        );
        return row;
      };
      assert.deepEqual(await credentials(), { secret: true, previous: true, keys: 1, connections: 1 });
      assert.equal((await api.delete(`/projects/${id}/`)).status, 204);
      assert.deepEqual(await credentials(), { secret: false, previous: false, keys: 0, connections: 0 });
    });

    it('the name filter ignores case and takes wildcards literally', async () => {
      const { api: other } = await createAccount(stack);
      for (const name of ['Отчёт 100%', 'отчёт 1000', String.raw`back\slash`, 'under_score', 'underscore']) {
        await other.createProject(name);
      }
      const find = async (part: string): Promise<string[]> => {
        const { body } = await other.get<Page<Project>>(`/projects/?name__icontains=${encodeURIComponent(part)}`);
        return body.items.map(({ name }) => name).toSorted();
      };
      assert.deepEqual(await find('ОТЧЁТ'), ['Отчёт 100%', 'отчёт 1000'].toSorted());
      assert.deepEqual(await find('0%'), ['Отчёт 100%']);
      assert.deepEqual(await find('k\\s'), [String.raw`back\slash`]);
      assert.deepEqual(await find('r_s'), ['under_score']);
      assert.equal((await find('')).length, 5);
      assert.deepEqual(await find("'; drop table projects; --"), []);
    });

    it('the list shows the caller its own projects only, newest first', async () => {
      const { api: other } = await createAccount(stack);
      const ids = [await other.createProject('one'), await other.createProject('two')];
      const { body } = await other.get<Page<Project>>('/projects/');
      assert.deepEqual(
        { ...body, items: body.items.map(({ id }) => id) },
        {
          page: 1,
          size: 10,
          total: 2,
          items: ids.toReversed(),
        },
      );
    });
  });

  describe('400', () => {
    const refused: [title: string, body: unknown, errors: FieldErrors][] = [
      ['no name', {}, { name: ['This field is required.'] }],
      ['a name that is null', { name: null }, { name: ['This field may not be null.'] }],
      ['a blank name', { name: '  ' }, { name: ['This field may not be blank.'] }],
      ['a name that is a number', { name: 5 }, { name: ['Not a valid string.'] }],
      [
        'a name of 256 characters',
        { name: 'x'.repeat(256) },
        { name: ['Ensure this field has no more than 255 characters.'] },
      ],
      ['a webhook that is no URL', { name: 'n', webhook_url: 'nowhere' }, { webhook_url: ['Enter a valid URL.'] }],
      ['a webhook of another scheme', { name: 'n', webhook_url: 'ftp://h/x' }, { webhook_url: ['Enter a valid URL.'] }],
      [
        'a flag that is a text',
        { name: 'n', is_webhook_enabled: 'maybe' },
        { is_webhook_enabled: ['Must be a valid boolean.'] },
      ],
      [
        'several wrong fields at once',
        { webhook_url: 1, is_webhook_enabled: null },
        {
          name: ['This field is required.'],
          webhook_url: ['Not a valid string.'],
          is_webhook_enabled: ['This field may not be null.'],
        },
      ],
      ['a list', [], { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] }],
      ['a text', 'name', { non_field_errors: ['Invalid data. Expected a dictionary, but got str.'] }],
    ];
    for (const [title, body, errors] of refused) {
      it(`${title} is refused with the field's name`, async () => {
        const answer = await api.post<FieldErrors>('/projects/', { body });
        assert.deepEqual([answer.status, answer.body], [400, errors]);
      });
    }

    it('a PATCH is checked like a POST', async () => {
      const id = await api.createProject();
      const answer = await api.patch<FieldErrors>(`/projects/${id}/`, { body: { name: '' } });
      assert.deepEqual([answer.status, answer.body], [400, { name: ['This field may not be blank.'] }]);
    });
  });

  describe('401, 403 and 404', () => {
    it('no key and a wrong key are told apart', async () => {
      const nobody = await createApiClient(stack.apiUrl).get<Detail>('/projects/');
      assert.deepEqual(
        [nobody.status, nobody.body],
        [401, { detail: 'Authentication credentials were not provided.', code: 'not_authenticated' }],
      );
      assert.ok(nobody.headers.get('www-authenticate'));
      const wrong = await createApiClient(stack.apiUrl, 'wrong').get<Detail>('/projects/');
      assert.deepEqual(
        [wrong.status, wrong.body],
        [401, { detail: 'Invalid API key.', code: 'authentication_failed' }],
      );
    });

    it('a stranger cannot tell a project from one that does not exist', async () => {
      const id = await api.createProject();
      const { api: stranger } = await createAccount(stack);
      for (const path of [`/projects/${id}/`, '/projects/2147483647/', '/projects/99999999999/', '/projects/abc/']) {
        const answers = [
          await stranger.get(path),
          await stranger.patch(path, { body: { name: 5 } }),
          await stranger.delete(path),
        ];
        for (const { status, body } of answers) assert.deepEqual([status, body], [404, NOT_FOUND], path);
      }
    });

    it('members change a project by their roles', async () => {
      const id = await api.createProject();
      const member = await createAccount(stack);
      const outcomes: Record<string, number[]> = {};
      for (const role of ['viewer', 'editor', 'admin'] as const) {
        await giveRole(stack, member, id, role);
        const read = await member.api.get<Project>(`/projects/${id}/`);
        assert.deepEqual([read.body.can_edit, read.body.role], [role === 'admin', role]);
        const { items } = (await member.api.get<Page<Project>>('/projects/')).body;
        assert.deepEqual(
          items.map((item) => [item.id, item.role]),
          [[id, role]],
        );
        const patched = await member.api.patch(`/projects/${id}/`, { body: { name: role } });
        const deleted = await member.api.delete<Detail>(`/projects/${id}/`);
        outcomes[role] = [read.status, patched.status, deleted.status];
        assert.equal(deleted.body.code, 'permission_denied');
      }
      assert.deepEqual(outcomes, { viewer: [200, 403, 403], editor: [200, 403, 403], admin: [200, 200, 403] });
    });
  });
});
