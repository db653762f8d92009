import assert from 'node:assert/strict';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole } from '../accounts.js';
import { NOT_FOUND, type FieldErrors, type Page, type Workflow } from '../bodies.js';

describe('workflows', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    project = await api.createProject();
  });

  const createOne = async (data: unknown = {}, title = 'W'): Promise<Workflow> =>
    (await api.post<Workflow>('/workflows/', { body: { project, title, data } })).body;

  describe('200, 201 and 204', () => {
    it('a new workflow has every field of the record, at the end of its project', async () => {
      const first = await createOne({}, ' Trimmed ');
      const { id, author, created_at: createdAt, updated_at: updatedAt, sort_id: sortId, ...rest } = first;
      assert.ok(Number.isInteger(id) && Number.isInteger(author));
      for (const time of [createdAt, updatedAt]) assert.equal(new Date(time as string).toISOString(), time);
      assert.deepEqual(rest, {
        project,
        title: 'Trimmed',
        data: {},
        version: 1,
        market_title: '',
        short_description: '',
        available_languages: [],
        readme_guide: '',
        categories: [],
        subcategories: [],
        run_fee: '0',
        free_runs_per_user: 0,
        is_published: false,
        is_tool: false,
        is_chat: false,
        tags: [],
        max_run_cost: null,
        slug: null,
        copied_from: null,
        can_edit: true,
        role: 'owner',
      });
      assert.equal((await createOne()).sort_id, sortId + 1);
      assert.deepEqual((await api.get(`/workflows/${id}/`)).body, first);
    });

    it('whatever JSON the editor keeps in a drawing survives the round trip', async () => {
      const text = JSON.stringify({
        nodes: [{ id: 'half', extra: { deep: [1, 2.5, null, true, '𝒳 \u2028 "quoted"'] }, measured: { width: 1 } }, 7],
        edges: 'not yet',
        toString: 'own',
        'key with spaces': {},
        '': 0,
      });
      const data = `${text.slice(0, -1)},"__proto__":{"polluted":true},"constructor":{"prototype":1}}`;
      const body = `{"project":${project},"title":"odd","data":${data}}`;
      const created = await api.post<Workflow>('/workflows/', { text: body });
      assert.equal(created.status, 201);
      const read = await api.get<Workflow>(`/workflows/${created.body.id}/`);
      assert.equal(JSON.stringify(read.body.data), JSON.stringify(JSON.parse(data)));
    });

    it('a PATCH takes title, drawing and the marketplace fields and leaves the rest', async () => {
      const before = await createOne({ nodes: [] });
      const changes = {
        title: 'New',
        data: { nodes: [], viewport: { x: 1, y: 2, zoom: 3 } },
        market_title: 'On the market',
        short_description: 'short',
        available_languages: ['en', 'ru', 'en'],
        readme_guide: '# Guide',
        run_fee: '0.50',
        free_runs_per_user: 3,
      };
      const ignored = { id: 1, project: 1, sort_id: 77, is_published: true, slug: 'mine', author: 9 };
      const { status, body } = await api.patch<Workflow>(`/workflows/${before.id}/`, {
        body: { ...changes, ...ignored },
      });
      assert.equal(status, 200);
      const expected = { ...before, ...changes, run_fee: '0.5', available_languages: ['en', 'ru'] };
      assert.deepEqual(body, { ...expected, updated_at: body['updated_at'] });
      const one = await api.patch<Workflow>(`/workflows/${before.id}/`, { body: { title: 'Again' } });
      assert.deepEqual(one.body.data, changes.data);
    });

    it('a deleted workflow is archived: gone from every read, those behind it move up, its runs still poll', async () => {
      const own = await api.createProject();
      const ids = [await api.createWorkflow(own, chain(1)), await api.createWorkflow(own, {})];
      const { data } = await api.run(ids[0]!);
      await api.pollToEnd(data.id);
      const { status, body } = await api.delete<string>(`/workflows/${ids[0]}/`);
      assert.deepEqual([status, body], [204, '']);
      for (const path of ['', 'input-fields/', 'check_workflow/', 'history/', `history/${data.id}/`]) {
        assert.equal((await api.get(`/workflows/${ids[0]}/${path}`)).status, 404, path);
      }
      assert.equal((await api.post(`/workflows/${ids[0]}/run/`)).status, 404);
      const list = await api.get<Page<Workflow>>(`/workflows/?project=${own}`);
      assert.deepEqual(
        list.body.items.map(({ id, sort_id: sortId }) => [id, sortId]),
        [[ids[1], 1]],
      );
      assert.equal((await api.poll(data.id)).data.status, 'succeed');
    });

    it('the list filters by project and by title without regard to case', async () => {
      const own = await api.createProject();
      const ids = [];
      for (const title of ['Alpha', 'beta', 'ALPHABET']) ids.push(await api.createWorkflow(own, { a: 1 }, title));
      const list = await api.get<Page<Workflow>>(`/workflows/?project=${own}&title=alpha`);
      assert.deepEqual([list.body.total, list.body.items.map(({ id }) => id)], [2, [ids[0], ids[2]]]);
      assert.deepEqual(list.body.items[0]?.data, { a: 1 });
      assert.equal((await api.get<Page<Workflow>>(`/workflows/?project=${own}&title=%25`)).body.total, 0);
      const all = await api.get<Page<Workflow>>('/workflows/?size=100');
      assert.ok(all.body.total > 3);
    });
  });

  describe('400', () => {
    const refused: [title: string, body: object, errors: FieldErrors][] = [
      [
        'nothing',
        {},
        {
          project: ['This field is required.'],
          title: ['This field is required.'],
          data: ['This field is required.'],
        },
      ],
      ['a drawing that is a list', { data: [] }, { data: ['Expected a JSON object.'] }],
      ['a drawing that is null', { data: null }, { data: ['This field may not be null.'] }],
      ['a blank title', { title: '' }, { title: ['This field may not be blank.'] }],
      ['a project that is a text', { project: '1' }, { project: ['A valid integer is required.'] }],
      [
        'a project that nobody has',
        { project: 2147483647 },
        { project: ['Invalid pk "2147483647" - object does not exist.'] },
      ],
      [
        'a project beyond every id',
        { project: 9999999999 },
        { project: ['Invalid pk "9999999999" - object does not exist.'] },
      ],
    ];
    for (const [title, body, errors] of refused) {
      it(`creating with ${title} names the field`, async () => {
        const base = Object.keys(body).length === 0 ? {} : { project, title: 'x', data: {} };
        const answer = await api.post<FieldErrors>('/workflows/', { body: { ...base, ...body } });
        assert.deepEqual([answer.status, answer.body], [400, errors]);
      });
    }

    it('the project of a stranger is a 400 on `project`, a viewer may not create in it', async () => {
      const stranger = await createAccount(stack);
      const body = { project, title: 'x', data: {} };
      const answer = await stranger.api.post<FieldErrors>('/workflows/', { body });
      assert.deepEqual([answer.status, Object.keys(answer.body)], [400, ['project']]);
      await giveRole(stack, stranger, project, 'viewer');
      assert.equal((await stranger.api.post('/workflows/', { body })).status, 403);
      await giveRole(stack, stranger, project, 'editor');
      assert.equal((await stranger.api.post('/workflows/', { body })).status, 201);
    });

    it('a NUL, a lone surrogate and nesting without end are refused before they are stored', async () => {
      const { id } = await createOne();
      const deep = `{"data":{"a":${'['.repeat(300)}${']'.repeat(300)}}}`;
      for (const text of ['{"data":{"a":["\\u0000"]}}', '{"data":{"\\u0000":1}}', '{"title":"\\ud800"}', deep]) {
        const answer = await api.patch<{ code: string }>(`/workflows/${id}/`, { text });
        assert.deepEqual([answer.status, answer.body.code], [400, 'parse_error'], text.slice(0, 40));
      }
      const fine = await api.patch<Workflow>(`/workflows/${id}/`, { text: '{"title":"\\\\u0000 \\ud83d\\ude00"}' });
      assert.deepEqual([fine.status, fine.body.title], [200, '\\u0000 😀']);
    });

    it('wrong marketplace fields are named', async () => {
      const { id } = await createOne();
      const body = { run_fee: '-1', free_runs_per_user: -1, available_languages: 'en', readme_guide: 5 };
      const answer = await api.patch<FieldErrors>(`/workflows/${id}/`, { body });
      assert.equal(answer.status, 400);
      assert.deepEqual(Object.keys(answer.body).toSorted(), Object.keys(body).toSorted());
    });

    it('a project filter that is no number is refused', async () => {
      const answer = await api.get<FieldErrors>('/workflows/?project=mine');
      assert.deepEqual([answer.status, answer.body], [400, { project: ['A valid integer is required.'] }]);
    });
  });

  describe('403 and 404', () => {
    it('a viewer reads and changes nothing; a stranger finds nothing', async () => {
      const { id } = await createOne(chain(1));
      const member = await createAccount(stack);
      const outcomes = async (): Promise<number[]> => [
        (await member.api.get(`/workflows/${id}/`)).status,
        (await member.api.get(`/workflows/${id}/input-fields/`)).status,
        (await member.api.get(`/workflows/${id}/check_workflow/`)).status,
        (await member.api.get(`/workflows/${id}/history/`)).status,
        (await member.api.patch(`/workflows/${id}/`, { body: { title: 'x' } })).status,
        (await member.api.post(`/workflows/${id}/run/`)).status,
        (await member.api.delete(`/workflows/${id}/`)).status,
      ];
      assert.deepEqual(await outcomes(), Array(7).fill(404));
      const { body } = await member.api.get(`/workflows/${id}/`);
      assert.deepEqual(body, NOT_FOUND);
      await giveRole(stack, member, project, 'viewer');
      assert.deepEqual(await outcomes(), [200, 200, 200, 200, 403, 403, 403]);
      const seen = await member.api.get<Workflow>(`/workflows/${id}/`);
      assert.deepEqual([seen.body['can_edit'], seen.body['role']], [false, 'viewer']);
      await giveRole(stack, member, project, 'editor');
      assert.deepEqual(await outcomes(), [200, 200, 200, 200, 200, 200, 204]);
    });

    it('an id that cannot be one is a 404', async () => {
      for (const id of ['abc', '0', '-1', '1.5', '2147483648', '99999999999999999999', '%00', '1%20']) {
        assert.equal((await api.get(`/workflows/${id}/`)).status, 404, id);
      }
    });
  });
});
