import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { ApiAnswer, ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createAccount, sessionOf } from '../accounts.js';
import type { FieldErrors, Page } from '../bodies.js';

interface ListedPaths {
  paths: Record<string, { get?: { parameters?: { in: string; name: string }[] } }>;
}

const NO_NUMBER = 'A valid integer is required.';

describe('pagination', function () {
  this.timeout(120_000);
  let api: ApiClient;
  /** A session of the same user, because some lists are for sessions only. */
  let session: ApiClient;
  let workflowId: number;
  let projectId: number;
  let nodeId: string;

  before(async () => {
    const stack = await sharedStack();
    const account = await createAccount(stack);
    api = account.api;
    session = await sessionOf(stack, account);
    for (let count = 0; count < 12; count += 1) await api.createProject(`p${count}`);
    projectId = await api.createProject('p12');
    const drawn = chain(1);
    nodeId = drawn.start_node;
    workflowId = await api.createWorkflow(projectId, drawn);
  });

  const page = async (query: string): Promise<Page<{ id: number }>> =>
    (await api.get<Page<{ id: number }>>(`/projects/${query}`)).body;

  describe('200', () => {
    const accepted: [query: string, page: number, size: number, count: number][] = [
      ['', 1, 10, 10],
      ['?page=2', 2, 10, 3],
      ['?page=3', 3, 10, 0],
      ['?page=99999999999999999999', 1_000_000_000_000, 10, 0],
      ['?size=5', 1, 5, 5],
      ['?page_size=4', 1, 4, 4],
      ['?size=3&page_size=4', 1, 3, 3],
      ['?size=101', 1, 100, 13],
      ['?size=99999999999999999999999', 1, 100, 13],
      ['?size=0', 1, 0, 0],
      ['?size=2&size=7', 1, 7, 7],
      ['?page=&size=&page_size=', 1, 10, 10],
      ['?page=2&page=', 1, 10, 10],
    ];
    for (const [query, number, size, count] of accepted) {
      it(`"${query}" is page ${number} of ${size} with ${count} items`, async () => {
        const body = await page(query);
        assert.deepEqual([body.page, body.size, body.total, body.items.length], [number, size, 13, count]);
      });
    }

    it('an empty value counts as absent in every parameter of every list', async () => {
      const { body: document } = await api.get<ListedPaths>('/openapi.json');
      const run = await api.run(workflowId);
      await api.pollToEnd(run.data.id);
      assert.equal((await api.patch(`/workflows/${workflowId}/`, { body: { is_chat: true } })).status, 200);
      const begun = await api.post<{ id: string }>(`/workflows/${workflowId}/conversations/`, { body: {} });
      const lists = Object.entries(document.paths).flatMap(([path, { get }]) => {
        const names = (get?.parameters ?? []).flatMap((given) => (given.in === 'query' ? [given.name] : []));
        // `{id}` is the id of a project or of a workflow.
        const id = String(path.includes('/projects/') ? projectId : workflowId);
        const filled = path
          .replace('{id}', id)
          .replace(/\{(?:workflow_)?run_id\}/, run.data.id)
          .replace('{conversation_id}', begun.body.id)
          .replace('{node_id}', nodeId)
          .replace('{service_id}', 'slack');
        const isForAdministrators = path.startsWith('/api/v1/users/') || path === '/api/v1/audit/';
        const isList = names.includes('page') && !isForAdministrators;
        return isList ? [{ path: filled.replace('/api/v1', ''), names }] : [];
      });
      // The list of iterations requires the parameter `node`, the id of a loop.
      const needed = (names: string[]): string => (names.includes('node') ? 'node=some-loop' : '');
      assert.ok(lists.length >= 8, `${lists.length} lists`);
      const answers: [path: string, empty: ApiAnswer<unknown>, whole: unknown][] = [];
      for (const { path, names } of lists) {
        // Other test files publish workflows meanwhile, so repeat until the list is the same before and after.
        await eventually(async () => {
          const before = await session.get(`${path}?${needed(names)}`);
          const empties = names.filter((name) => name !== 'node').map((name) => `${name}=`);
          const empty = await session.get(`${path}?${[...empties, needed(names)].join('&')}`);
          const after = await session.get(`${path}?${needed(names)}`);
          if (!isDeepStrictEqual(before.body, after.body)) return false;
          answers.push([path, empty, before.body]);
          return true;
        });
      }
      for (const [path, { status, body }, whole] of answers) assert.deepEqual([path, status, body], [path, 200, whole]);
    });

    it('pages never overlap and miss nothing', async () => {
      const ids = [];
      for (const number of [1, 2, 3, 4, 5]) ids.push(...(await page(`?page=${number}&size=3`)).items);
      assert.equal(new Set(ids.map(({ id }) => id)).size, 13);
    });
  });

  describe('400', () => {
    const refused: [query: string, errors: FieldErrors][] = [
      ['page=0', { page: ['Ensure this value is greater than or equal to 1.'] }],
      ['page=-1', { page: ['Ensure this value is greater than or equal to 1.'] }],
      ['page=one', { page: [NO_NUMBER] }],
      ['page=1.5', { page: [NO_NUMBER] }],
      ['page=1e3', { page: [NO_NUMBER] }],
      ['page=NaN', { page: [NO_NUMBER] }],
      ['size=-1', { size: ['Ensure this value is greater than or equal to 0.'] }],
      ['size=all', { size: [NO_NUMBER] }],
      ['page_size=x', { page_size: [NO_NUMBER] }],
      ['page=x&size=y', { page: [NO_NUMBER], size: [NO_NUMBER] }],
    ];
    for (const [query, errors] of refused) {
      it(`"${query}" is refused`, async () => {
        const { status, body } = await api.get<FieldErrors>(`/projects/?${query}`);
        assert.deepEqual([status, body], [400, errors]);
      });
    }

    it('an empty page is legal for projects only', async () => {
      for (const path of ['/workflows/', `/workflows/${workflowId}/history/`]) {
        const { status, body } = await api.get<FieldErrors>(`${path}?size=0`);
        assert.deepEqual([status, body], [400, { size: ['Ensure this value is greater than or equal to 1.'] }]);
      }
    });
  });
});
