import assert from 'node:assert/strict';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { chain, drawing, http, link, trigger } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import { NOT_FOUND, type Detail, type FieldErrors, type Page, type Workflow } from '../bodies.js';

const ROLE_REFUSED: Detail = {
  detail: 'Your role in the project does not permit this action.',
  code: 'permission_denied',
};

describe('duplicate and reorder', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    ({ api } = account);
    target = await startHttpTarget();
  });
  after(() => target.close());

  const projectOf = async (count: number): Promise<{ project: number; ids: number[] }> => {
    const project = await api.createProject();
    const ids = [];
    for (let index = 0; index < count; index += 1) ids.push(await api.createWorkflow(project, {}, `W${index}`));
    return { project, ids };
  };
  const positions = async (project: number): Promise<[id: number, position: number][]> => {
    const { body } = await api.get<Page<Workflow>>(`/workflows/?project=${project}&size=100`);
    return body.items.map(({ id, sort_id: sortId }) => [id, sortId]);
  };
  const move = (id: number, sortId: unknown) =>
    api.post<Workflow>(`/workflows/${id}/reorder/`, { body: { sort_id: sortId } });

  describe('duplicate: 201', () => {
    it('is a new workflow of the caller with drawing and settings copied, at the end of the same project', async () => {
      const { project, ids } = await projectOf(2);
      const settings = {
        title: 'Original',
        data: { ...chain(2), custom: { kept: [1, null] } },
        market_title: 'Market',
        short_description: 'Short',
        available_languages: ['en', 'de'],
        readme_guide: '# Guide',
        run_fee: '0.5',
        free_runs_per_user: 2,
      };
      const { body: original } = await api.patch<Workflow>(`/workflows/${ids[0]}/`, { body: settings });
      const editor = await createAccount(stack);
      await giveRole(stack, editor, project, 'editor');
      const { status, body } = await editor.api.post<Workflow>(`/workflows/${ids[0]}/duplicate/`);
      assert.equal(status, 201);
      assert.ok(!ids.includes(body.id));
      const { id, created_at: createdAt, updated_at: updatedAt } = body;
      const own = { id, sort_id: 3, author: editor.userId, role: 'editor', version: 1 };
      assert.deepEqual(body, { ...original, ...own, created_at: createdAt, updated_at: updatedAt });
      assert.deepEqual((await editor.api.get(`/workflows/${id}/`)).body, body);
    });

    it('is independent: changes, runs and the end of one do not touch the other', async () => {
      const { project } = await projectOf(0);
      const id = await api.createWorkflow(project, chain(1));
      const run = await api.run(id);
      await api.pollToEnd(run.data.id);
      const { body: copy } = await api.post<Workflow>(`/workflows/${id}/duplicate/`);
      assert.equal((await api.get<Page<unknown>>(`/workflows/${copy.id}/history/`)).body.total, 0);
      await api.patch(`/workflows/${id}/`, { body: { title: 'changed', data: {} } });
      await api.delete(`/workflows/${id}/`);
      const { body: left } = await api.get<Workflow>(`/workflows/${copy.id}/`);
      assert.deepEqual([left.title, left.data, left.sort_id], [copy.title, copy.data, 1]);
    });

    it('keeps the secrets, and shows none', async () => {
      const { project } = await projectOf(0);
      const secret = 'duplicated-canary-7d1f';
      const start = trigger([{ id: 'token', is_secret: true, default_value: secret }]);
      const call = http(`${target.url}/duplicated`, { headers: { 'X-Token': '{{ input.token }}' } });
      link(start, call);
      const id = await api.createWorkflow(project, drawing([start, call]));
      const { body: copy } = await api.post<Workflow>(`/workflows/${id}/duplicate/`);
      assert.ok(!JSON.stringify(copy).includes(secret) && JSON.stringify(copy.data).includes('********'));
      await api.delete(`/workflows/${id}/`);
      await api.pollToEnd((await api.run(copy.id)).data.id);
      assert.equal(target.requestsTo('/duplicated').at(-1)?.headers['x-token'], secret);
    });

    it('is not published, whatever the original is', async () => {
      const id = await api.createWorkflow(await api.createProject(), chain(1));
      const publish = `UPDATE workflows SET is_published = true, slug = $2, last_published_at = now(),
        published_snapshot = (SELECT hash FROM graph_snapshots LIMIT 1) WHERE id = $1`;
      assert.equal((await api.run(id)).status, 201, 'its graph is stored');
      await queryDatabase(stack, publish, [id, `slug-of-${id}`]);
      const { status, body } = await api.post<Workflow>(`/workflows/${id}/duplicate/`);
      assert.deepEqual([status, body['is_published'], body['slug'], body['copied_from']], [201, false, null, null]);
    });
  });

  describe('reorder: 200', () => {
    const moves: [title: string, from: number, sortId: number, order: number[]][] = [
      ['up', 4, 2, [0, 4, 1, 2, 3]],
      ['down', 1, 4, [0, 2, 3, 1, 4]],
      ['to the front', 2, 1, [2, 0, 1, 3, 4]],
      ['nowhere', 2, 3, [0, 1, 2, 3, 4]],
      ['before the front: clamps', 3, -5, [3, 0, 1, 2, 4]],
      ['to zero: clamps', 3, 0, [3, 0, 1, 2, 4]],
      ['behind the end: clamps', 0, 9_007_199_254_740_991, [1, 2, 3, 4, 0]],
    ];
    for (const [title, from, sortId, order] of moves) {
      it(`moves a workflow ${title}, and the others shift`, async () => {
        const { project, ids } = await projectOf(5);
        const { status, body } = await move(ids[from]!, sortId);
        assert.equal(status, 200);
        assert.deepEqual([body.id, body.sort_id], [ids[from], order.indexOf(from) + 1]);
        assert.deepEqual(
          await positions(project),
          order.map((index, position) => [ids[index], position + 1]),
        );
      });
    }

    it('touches no other project', async () => {
      const [one, other] = [await projectOf(3), await projectOf(3)];
      await move(one.ids[0]!, 3);
      assert.deepEqual(
        await positions(other.project),
        other.ids.map((id, index) => [id, index + 1]),
      );
    });

    it('moves, creations, duplicates and deletions at once leave the positions 1 to n, each once', async () => {
      const { project, ids } = await projectOf(8);
      const targets = [5, 1, 8, 3, 99, 2, -1, 7];
      const statuses = await Promise.all([
        ...ids.flatMap((id, index) => [move(id, targets[index]), move(id, targets.at(-1 - index))]),
        ...ids.map((id) => api.post(`/workflows/${id}/duplicate/`)),
        ...ids.map(() => api.post('/workflows/', { body: { project, title: 'new', data: {} } })),
        ...ids.slice(0, 3).map((id) => api.delete(`/workflows/${id}/`)),
      ]);
      // A workflow that was deleted before is a 404.
      for (const { status } of statuses) assert.ok([200, 201, 204, 404].includes(status), String(status));
      const order = await positions(project);
      assert.ok(order.length >= 8 - 3 + 8 + 5, `${order.length} workflows are left`);
      assert.deepEqual(
        order.map(([, position]) => position),
        order.map((_, index) => index + 1),
      );
      assert.equal(new Set(order.map(([id]) => id)).size, order.length);
    });
  });

  describe('400', () => {
    it('a missing or senseless sort_id is named', async () => {
      const { ids } = await projectOf(2);
      const bodies: [body: unknown, error: string][] = [
        [{}, 'This field is required.'],
        [{ sort_id: null }, 'This field may not be null.'],
        [{ sort_id: 'first' }, 'A valid integer is required.'],
        [{ sort_id: 1.5 }, 'A valid integer is required.'],
        [{ sort_id: true }, 'A valid integer is required.'],
      ];
      for (const [body, error] of bodies) {
        const answer = await api.post<FieldErrors>(`/workflows/${ids[0]}/reorder/`, { body });
        assert.deepEqual([answer.status, answer.body], [400, { sort_id: [error] }], JSON.stringify(body));
      }
    });

    it('a role that may not duplicate or reorder is a 400, before the body is looked at', async () => {
      const { project, ids } = await projectOf(1);
      const viewer = await createAccount(stack);
      await giveRole(stack, viewer, project, 'viewer');
      for (const path of ['duplicate', 'reorder']) {
        const { status, body } = await viewer.api.post(`/workflows/${ids[0]}/${path}/`);
        assert.deepEqual([status, body], [400, ROLE_REFUSED], path);
      }
      assert.equal((await positions(project)).length, 1);
    });
  });

  describe('404', () => {
    it('for a stranger, an unknown and a deleted workflow', async () => {
      const { ids } = await projectOf(2);
      await api.delete(`/workflows/${ids[1]}/`);
      const stranger = await createAccount(stack);
      for (const path of ['duplicate', 'reorder']) {
        const answers = [
          await stranger.api.post(`/workflows/${ids[0]}/${path}/`, { body: { sort_id: 1 } }),
          await api.post(`/workflows/2147483647/${path}/`, { body: { sort_id: 1 } }),
          await api.post(`/workflows/${ids[1]}/${path}/`, { body: { sort_id: 1 } }),
        ];
        for (const { status, body } of answers) assert.deepEqual([status, body], [404, NOT_FOUND], path);
      }
    });
  });
});
