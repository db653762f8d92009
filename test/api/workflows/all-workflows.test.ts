import assert from 'node:assert/strict';
import type { Envelope } from '../../../harness/client/api-client.js';
import { drawing, link, llm, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import { NOT_FOUND, type FieldErrors, type Page, type Workflow } from '../bodies.js';
import { createCategory } from '../marketplace-setup.js';

interface CatalogWorkflow extends Workflow {
  is_bookmarked: boolean;
  last_run_at: string | null;
  last_run_cost: Record<string, string> | null;
  average_run_duration: number | null;
  total_cost: Record<string, string>;
  latest_runs?: string[];
}

const list = async ({ api }: Account, query = ''): Promise<Page<CatalogWorkflow>> => {
  const { status, body } = await api.get<Page<CatalogWorkflow>>(`/all-workflows/${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

const titles = async (account: Account, query: string): Promise<string[]> =>
  (await list(account, query)).items.map(({ title }) => title);

const bookmark = ({ api }: Account, id: number) => api.post<{ message: string }>(`/all-workflows/${id}/add-bookmark/`);

describe('all-workflows', function () {
  this.timeout(120_000);
  let stack: TestStack;

  before(async () => {
    stack = await sharedStack();
  });

  /** Creates an account with workflows a to e in two projects, newest last. */
  const withFive = async (): Promise<{ account: Account; projects: number[]; ids: number[] }> => {
    const account = await createAccount(stack);
    const projects = [await account.api.createProject(), await account.api.createProject()];
    const ids = [];
    for (const [index, title] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      ids.push(await account.api.createWorkflow(projects[index % 2]!, {}, title));
    }
    return { account, projects, ids };
  };

  describe('200', () => {
    it('lists the workflows of every project of the caller and of no other', async () => {
      const { account, projects } = await withFive();
      const stranger = await createAccount(stack);
      await stranger.api.createWorkflow(await stranger.api.createProject(), {});
      assert.deepEqual(await titles(account, ''), ['e', 'd', 'c', 'b', 'a']);
      assert.deepEqual((await list(stranger)).total, 1);
      await giveRole(stack, stranger, projects[1]!, 'viewer');
      assert.deepEqual(await titles(stranger, ''), ['test workflow', 'd', 'b']);
      assert.equal((await account.api.delete(`/projects/${projects[1]}/`)).status, 204);
      assert.deepEqual(await titles(account, ''), ['e', 'c', 'a']);
      assert.deepEqual(await titles(stranger, ''), ['test workflow']);
    });

    it('an item is the workflow record with the five extras, in the list and alone', async () => {
      const account = await createAccount(stack);
      const { api } = account;
      const [start, model] = [trigger(), llm('hello')];
      link(start, model);
      const { workflowId, runId } = await api.runToEnd(drawing([start, model]));
      const first = await api.history(workflowId, runId);
      const second = await api.run(workflowId);
      await api.pollToEnd(second.data.id);
      const last = await api.history(workflowId, second.data.id);
      const { body } = await api.get<CatalogWorkflow>(`/all-workflows/${workflowId}/`);
      const record = (await api.get<Workflow>(`/workflows/${workflowId}/`)).body;
      const { is_bookmarked, last_run_at, last_run_cost, average_run_duration, total_cost, ...rest } = body;
      assert.deepEqual(rest, record);
      assert.equal(is_bookmarked, false);
      assert.equal(last_run_at, last['created_at']);
      assert.deepEqual(last_run_cost, { USD: '0.00002', EUR: '0.0000184' });
      assert.deepEqual(total_cost, { USD: '0.00004', EUR: '0.0000368' });
      const mean = (first.duration! + last.duration!) / 2;
      assert.ok(Math.abs(average_run_duration! - mean) <= 0.0021, `${average_run_duration} is not ${mean}`);
      assert.deepEqual((await list(account)).items, [body]);
      const asked = (await list(account, '?include=latest_runs')).items;
      assert.deepEqual(asked, [{ ...body, latest_runs: ['Succeeded', 'Succeeded'] }]);
      const tried = { mode: 'node', node: model.id };
      const test = await api.post<Envelope>(`/workflows/${workflowId}/test/`, { body: tried });
      await api.pollToEnd(test.body.data.id);
      assert.deepEqual((await list(account, '?include=latest_runs')).items[0]?.latest_runs, ['Succeeded', 'Succeeded']);
      assert.equal((await api.get('/all-workflows/?include=other')).status, 400);
    });

    it('a workflow that never ran has no last run, no average and a total of nothing; a refused run is none', async () => {
      const account = await createAccount(stack);
      const data = drawing([trigger([{ id: 'a', input_requirements: true }])]);
      const id = await account.api.createWorkflow(await account.api.createProject(), data);
      assert.equal((await account.api.run(id)).status, 422);
      const [item] = (await list(account)).items;
      assert.deepEqual(
        [item?.last_run_at, item?.last_run_cost, item?.average_run_duration, item?.total_cost],
        [null, null, null, { USD: '0', EUR: '0' }],
      );
    });

    it('search finds the title or the marketplace title without regard to case, title__icontains the title alone', async () => {
      const account = await createAccount(stack);
      const project = await account.api.createProject();
      await account.api.createWorkflow(project, {}, 'Alpha 100%');
      const id = await account.api.createWorkflow(project, {}, 'beta_x');
      await account.api.patch(`/workflows/${id}/`, { body: { market_title: 'ALPHABET Погода' } });
      assert.deepEqual(await titles(account, '?search=alpha'), ['beta_x', 'Alpha 100%']);
      assert.deepEqual(await titles(account, `?search=${encodeURIComponent('ПОГОДА')}`), ['beta_x']);
      assert.deepEqual(await titles(account, '?title__icontains=ALPHA'), ['Alpha 100%']);
      assert.deepEqual(await titles(account, '?search=alpha&title__icontains=BETA'), ['beta_x']);
      assert.deepEqual(await titles(account, '?search=%25'), ['Alpha 100%']);
      assert.deepEqual(await titles(account, '?title__icontains=_'), ['beta_x']);
      assert.deepEqual(await titles(account, '?search='), ['beta_x', 'Alpha 100%']);
    });

    it('project filters; a project of others is empty', async () => {
      const { account, projects } = await withFive();
      const stranger = await createAccount(stack);
      assert.deepEqual(await titles(account, `?project=${projects[1]}`), ['d', 'b']);
      assert.deepEqual(await titles(stranger, `?project=${projects[1]}`), []);
      assert.deepEqual(await titles(account, '?project=0'), []);
    });

    it('categories and subcategories are repeatable, match any, and hold together', async () => {
      const { account, ids } = await withFive();
      const [x, y] = [await createCategory(stack), await createCategory(stack)];
      const [sub, other] = [await createCategory(stack, x), await createCategory(stack, y)];
      const sort = async (index: number, body: object): Promise<void> => {
        assert.equal((await account.api.patch(`/workflows/${ids[index]}/`, { body })).status, 200);
      };
      await sort(0, { categories: [x] });
      await sort(1, { categories: [y], subcategories: [sub, other] });
      await sort(2, { categories: [x, y], subcategories: [sub] });
      assert.deepEqual(await titles(account, `?categories=${x}`), ['c', 'a']);
      assert.deepEqual(await titles(account, `?categories=${x}&categories=${y}`), ['c', 'b', 'a']);
      assert.deepEqual(await titles(account, `?subcategories=${sub}`), ['c', 'b']);
      assert.deepEqual(await titles(account, `?subcategories=${other}&subcategories=${sub}`), ['c', 'b']);
      assert.deepEqual(await titles(account, `?categories=${x}&subcategories=${sub}`), ['c']);
      assert.deepEqual(await titles(account, `?categories=${sub}`), [], 'a subcategory is no category');
      assert.deepEqual(await titles(account, '?categories=2147483647'), []);
    });

    it('languages are comma-separated and match any', async () => {
      const { account, ids } = await withFive();
      for (const [index, codes] of [['en'], ['de', 'fr'], ['ru', 'en']].entries()) {
        await account.api.patch(`/workflows/${ids[index]}/`, { body: { available_languages: codes } });
      }
      assert.deepEqual(await titles(account, '?languages=en'), ['c', 'a']);
      assert.deepEqual(await titles(account, '?languages=fr,ru'), ['c', 'b']);
      assert.deepEqual(await titles(account, '?languages=%20fr%20,,'), ['b']);
      assert.deepEqual(await titles(account, '?languages=xx'), []);
      assert.equal((await list(account, '?languages=')).total, 5);
    });

    it('own_scripts leaves those that the caller authored', async () => {
      const { account, projects } = await withFive();
      const guest = await createAccount(stack);
      await giveRole(stack, guest, projects[0]!, 'editor');
      await guest.api.createWorkflow(projects[0]!, {}, 'mine');
      assert.deepEqual(await titles(guest, '?own_scripts=true'), ['mine']);
      assert.deepEqual(await titles(guest, '?own_scripts=False'), ['mine', 'e', 'c', 'a']);
      assert.deepEqual(await titles(account, `?own_scripts=1&project=${projects[0]}`), ['e', 'c', 'a']);
    });

    it('ordering goes by last run, total cost or creation, both ways; what never ran is last, bookmarked ones on top', async () => {
      const { account, ids } = await withFive();
      // The test sets these figures: a and c cost the same, d and e never ran.
      const figures: [string, string][] = [
        ['0.2', '2026-01-03T00:00:00Z'],
        ['0.1', '2026-01-01T00:00:00Z'],
        ['0.2', '2026-01-02T00:00:00Z'],
      ];
      for (const [index, values] of figures.entries()) {
        const text = `WITH gone AS (DELETE FROM workflow_changes WHERE workflow_id = $3)
          UPDATE workflow_totals SET total_cost_usd = $1, last_run_at = $2 WHERE workflow_id = $3`;
        await queryDatabase(stack, text, [...values, ids[index]]);
      }
      const expected: [ordering: string, order: string][] = [
        ['last_run_at', 'bcade'],
        ['-last_run_at', 'acbed'],
        ['total_cost', 'debac'],
        ['-total_cost', 'cabed'],
        ['created_at', 'abcde'],
        ['-created_at', 'edcba'],
      ];
      for (const [ordering, order] of expected) {
        assert.equal((await titles(account, `?ordering=${ordering}`)).join(''), order, ordering);
        const pages = [];
        for (const page of [1, 2, 3, 4])
          pages.push(...(await titles(account, `?ordering=${ordering}&page=${page}&size=2`)));
        assert.equal(pages.join(''), order, `${ordering} in pages`);
      }
      await bookmark(account, ids[3]!);
      assert.deepEqual(await titles(account, '?ordering=last_run_at&size=2'), ['d', 'b']);
      assert.deepEqual(await titles(account, '?ordering=-total_cost&size=3'), ['d', 'c', 'a']);
    });

    it('size and page cut the list, a page past the end is empty with the real total', async () => {
      const { account } = await withFive();
      const { items, ...page } = await list(account, '?page=2&size=2');
      assert.deepEqual([page, items.length], [{ page: 2, size: 2, total: 5 }, 2]);
      assert.deepEqual(await list(account, '?page=9&size=100'), { page: 9, size: 100, total: 5, items: [] });
    });

    it('an archived workflow is gone from the list and alone', async () => {
      const { account, ids } = await withFive();
      await account.api.delete(`/workflows/${ids[0]}/`);
      assert.deepEqual(await titles(account, ''), ['e', 'd', 'c', 'b']);
      assert.equal((await account.api.get(`/all-workflows/${ids[0]}/`)).status, 404);
    });
  });

  describe('bookmarks: 201 and 204', () => {
    it('a bookmark puts the workflow first, for its owner alone; repeating it is a no-op with 201', async () => {
      const { account, projects, ids } = await withFive();
      const guest = await createAccount(stack);
      await giveRole(stack, guest, projects[0]!, 'viewer');
      for (const _ of [1, 2]) {
        const { status, body } = await bookmark(account, ids[2]!);
        assert.deepEqual([status, body], [201, { message: 'Bookmark added' }]);
      }
      assert.deepEqual(await titles(account, ''), ['c', 'e', 'd', 'b', 'a']);
      const { items } = await list(account);
      assert.deepEqual(
        items.map((item) => item.is_bookmarked),
        [true, false, false, false, false],
      );
      assert.deepEqual(await titles(guest, ''), ['e', 'c', 'a']);
      assert.equal((await bookmark(guest, ids[0]!)).status, 201, 'a viewer may');
      assert.deepEqual(await titles(guest, ''), ['a', 'e', 'c']);
    });

    it('20 bookmarks at once all answer 201 and make one', async () => {
      const { account, ids } = await withFive();
      const answers = await Promise.all(Array.from({ length: 20 }, () => bookmark(account, ids[0]!)));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
      assert.deepEqual(await titles(account, ''), ['a', 'e', 'd', 'c', 'b']);
      assert.equal((await list(account)).total, 5);
    });

    it('deleting a bookmark answers 204, also when there is none', async () => {
      const { account, ids } = await withFive();
      await bookmark(account, ids[0]!);
      for (const _ of [1, 2]) {
        const { status, body } = await account.api.delete<string>(`/all-workflows/${ids[0]}/delete-bookmark/`);
        assert.deepEqual([status, body], [204, '']);
      }
      assert.deepEqual(await titles(account, ''), ['e', 'd', 'c', 'b', 'a']);
    });
  });

  describe('400, 401 and 404', () => {
    const refused: [query: string, field: string, sentence: string][] = [
      ['?ordering=title', 'ordering', '"title" is not a valid choice.'],
      ['?ordering=--created_at', 'ordering', '"--created_at" is not a valid choice.'],
      ['?own_scripts=maybe', 'own_scripts', 'Must be a valid boolean.'],
      ['?categories=1&categories=x', 'categories', 'A valid integer is required.'],
      ['?project=-1', 'project', 'Ensure this value is greater than or equal to 0.'],
      ['?page=0', 'page', 'Ensure this value is greater than or equal to 1.'],
      ['?size=x', 'size', 'A valid integer is required.'],
      ['?search=%00', 'search', 'Null characters are not allowed.'],
      ['?categories=1&categories=%00', 'categories', 'Null characters are not allowed.'],
    ];
    for (const [query, field, sentence] of refused) {
      it(`"${query}" is a 400 on ${field}`, async () => {
        const { api } = await createAccount(stack);
        const { status, body } = await api.get<FieldErrors>(`/all-workflows/${query}`);
        assert.deepEqual([status, body], [400, { [field]: [sentence] }]);
      });
    }

    it('a workflow of others, an unknown one and what is no id are not found, whatever is asked of them', async () => {
      const { ids } = await withFive();
      const { api } = await createAccount(stack);
      for (const id of [ids[0], 2_147_483_647, 99_999_999_999, 'abc']) {
        const answers = [
          await api.get(`/all-workflows/${id}/`),
          await api.post(`/all-workflows/${id}/add-bookmark/`),
          await api.delete(`/all-workflows/${id}/delete-bookmark/`),
        ];
        for (const { status, body } of answers) assert.deepEqual([status, body], [404, NOT_FOUND], String(id));
      }
    });

    it('without a key everything is a 401', async () => {
      for (const [method, path] of [
        ['GET', ''],
        ['GET', '1/'],
        ['POST', '1/add-bookmark/'],
        ['DELETE', '1/delete-bookmark/'],
      ]) {
        const { status } = await fetch(`${stack.apiUrl}/api/v1/all-workflows/${path}`, { method: method! });
        assert.equal(status, 401, `${method} ${path}`);
      }
    });
  });
});
