import assert from 'node:assert/strict';
import { createDatabase } from '../../../db/core/client.js';
import { deleteCategory } from '../../../db/workflows/categories-repository.js';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import type { FieldErrors, Workflow } from '../bodies.js';
import { createCategory } from '../marketplace-setup.js';

describe('categories of a workflow', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let id: number;
  let category: number;
  let subcategory: number;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
  });
  beforeEach(async () => {
    id = await api.createWorkflow(await api.createProject(), {});
    category = await createCategory(stack);
    subcategory = await createCategory(stack, category);
  });

  const patch = <T>(body: object) => api.patch<T>(`/workflows/${id}/`, { body });
  const levels = async (): Promise<unknown[]> => {
    const { body } = await api.get<Workflow>(`/workflows/${id}/`);
    return [body['categories'], body['subcategories']];
  };

  it('a PATCH replaces one level and leaves the other; the record shows both in order, once each', async () => {
    const second = await createCategory(stack);
    const { body } = await patch<Workflow>({ categories: [second, category, second], subcategories: [subcategory] });
    assert.deepEqual([body['categories'], body['subcategories']], [[category, second], [subcategory]]);
    assert.deepEqual(await levels(), [[category, second], [subcategory]]);
    await patch({ categories: [second] });
    assert.deepEqual(await levels(), [[second], [subcategory]]);
    await patch({ title: 'Only the title' });
    assert.deepEqual(await levels(), [[second], [subcategory]]);
    await patch({ categories: [], subcategories: [] });
    assert.deepEqual(await levels(), [[], []]);
  });

  it('a duplicate has the same categories', async () => {
    await patch({ categories: [category], subcategories: [subcategory] });
    const { body } = await api.post<Workflow>(`/workflows/${id}/duplicate/`);
    assert.deepEqual([body['categories'], body['subcategories']], [[category], [subcategory]]);
  });

  it('an id that is no category of its level is a 400 on the level and changes nothing', async () => {
    await patch({ categories: [category], subcategories: [subcategory] });
    const wrong = 2_147_483_647;
    const refused: [body: object, errors: FieldErrors][] = [
      [{ categories: [wrong] }, { categories: [`Invalid pk "${wrong}" - object does not exist.`] }],
      [{ categories: [subcategory] }, { categories: [`Invalid pk "${subcategory}" - object does not exist.`] }],
      [{ subcategories: [category] }, { subcategories: [`Invalid pk "${category}" - object does not exist.`] }],
      [{ categories: [], subcategories: [-1] }, { subcategories: ['Invalid pk "-1" - object does not exist.'] }],
      [{ categories: [2 ** 40] }, { categories: [`Invalid pk "${2 ** 40}" - object does not exist.`] }],
      [{ categories: ['x'] }, { categories: ['A valid integer is required.'] }],
      [{ categories: category }, { categories: ['Expected a list of items but got type "number".'] }],
      [{ subcategories: null }, { subcategories: ['This field may not be null.'] }],
    ];
    for (const [body, errors] of refused) {
      const answer = await patch<FieldErrors>({ title: 'must not stay', ...body });
      assert.deepEqual([answer.status, answer.body], [400, errors], JSON.stringify(body));
    }
    assert.deepEqual(await levels(), [[category], [subcategory]]);
    assert.equal((await api.get<Workflow>(`/workflows/${id}/`)).body.title, 'test workflow');
  });

  it('after concurrent updates the workflow has the categories of one of them', async () => {
    const others = [await createCategory(stack), await createCategory(stack), category];
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => patch({ categories: [others[index % 3]] })),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.equal(((await levels())[0] as number[]).length, 1);
  });

  it('a category deleted during a PATCH is a 400 or removed again, and a duplicate succeeds meanwhile', async () => {
    const options = { poolMax: 2, applicationName: 'test', onError: () => undefined };
    const db = createDatabase({ url: stack.stack.database_url, ...options });
    try {
      for (let round = 0; round < 20; round += 1) {
        const doomed = await createCategory(stack);
        if (round % 2 === 0) await patch({ categories: [doomed] });
        const [deleted, patched, copied] = await Promise.all([
          deleteCategory(db, doomed),
          patch({ categories: [doomed, category] }),
          api.post<Workflow>(`/workflows/${id}/duplicate/`),
        ]);
        assert.deepEqual([deleted, copied.status], ['deleted', 201]);
        assert.ok([200, 400].includes(patched.status), String(patched.status));
        assert.ok(!((await levels())[0] as number[]).includes(doomed));
      }
    } finally {
      await db.destroy();
    }
  });
});
