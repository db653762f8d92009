import assert from 'node:assert/strict';
import { chain } from '../../support/graphs.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createAccount } from '../accounts.js';
import type { Page, Workflow } from '../bodies.js';

describe('lists of large drawings', function () {
  this.timeout(120_000);

  it('leave out what is larger than its share of a page, and say so; the single read has it whole', async () => {
    const stack = await sharedStack();
    const { api } = await createAccount(stack);
    const project = await api.createProject();
    const small = await api.createWorkflow(project, chain(1));
    const large = await api.createWorkflow(project, { ...chain(1), note: 'x'.repeat(800_000) });
    await queryDatabase(
      stack,
      `INSERT INTO workflows (project_id, author_id, title, sort_id, document)
       SELECT project_id, author_id, title, sort_id + n, document FROM workflows, generate_series(1, 98) AS n WHERE id = $1`,
      [large],
    );
    for (const list of ['/workflows/', '/all-workflows/']) {
      const { status, body } = await api.get<Page<Workflow>>(`${list}?project=${project}&size=100`);
      const shown = new Map(body.items.map((item) => [item.id, item]));
      assert.deepEqual([status, body.items.length], [200, 100]);
      assert.deepEqual([shown.get(large)?.data, shown.get(large)?.['truncated']], [{}, true]);
      assert.deepEqual(
        [shown.get(small)?.data['nodes'] !== undefined, shown.get(small)?.['truncated']],
        [true, undefined],
      );
    }
    const alone = await api.get<Workflow>(`/workflows/${large}/`);
    assert.equal((alone.body.data['note'] as string).length, 800_000);
    assert.equal(alone.body['truncated'], undefined);
  });
});
