import assert from 'node:assert/strict';
import { chain } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createAccount } from '../accounts.js';
import type { Page, Workflow } from '../bodies.js';
import { markRun, publish } from '../marketplace-setup.js';

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
      assert.deepEqual(['data' in shown.get(large)!, shown.get(large)?.['truncated']], [false, true]);
      assert.deepEqual(
        [shown.get(small)?.data['nodes'] !== undefined, shown.get(small)?.['truncated']],
        [true, undefined],
      );
    }
    const alone = await api.get<Workflow>(`/workflows/${large}/`);
    assert.equal((alone.body.data['note'] as string).length, 800_000);
    assert.equal(alone.body['truncated'], undefined);
  });

  it('a run of a list lacks the input or drawing that is too large for it, and all that is read from these', async () => {
    const { api } = await createAccount(await sharedStack());
    const project = await api.createProject();
    const keysOf = async (data: object, input: object): Promise<[string[], string[]]> => {
      const id = await api.createWorkflow(project, data);
      const run = (await api.run(id, input)).data.id;
      await api.pollToEnd(run);
      const { body } = await api.get<Page<object>>(`/workflows/${id}/history/`);
      const kept = ['input_data', 'data', 'input_fields', 'truncated'];
      const listed = Object.keys(body.items[0]!).filter((key) => kept.includes(key));
      return [
        listed.toSorted(),
        Object.keys(await api.history(id, run))
          .filter((key) => kept.includes(key))
          .toSorted(),
      ];
    };
    const whole = ['data', 'input_data', 'input_fields'];
    assert.deepEqual(await keysOf(chain(1), { a: 1 }), [whole, whole]);
    assert.deepEqual(await keysOf(chain(1), { a: 'x'.repeat(100_000) }), [
      ['data', 'input_fields', 'truncated'],
      whole,
    ]);
    const large = { ...chain(1), note: 'x'.repeat(1_100_000) };
    assert.deepEqual(await keysOf(large, { a: 1 }), [['input_data', 'truncated'], whole]);
  });

  it('a marketplace example of the list lacks them too, and says so', async () => {
    const stack = await sharedStack();
    const account = await createAccount(stack);
    const large = { ...chain(1), note: 'x'.repeat(1_100_000) };
    const { slug, runId } = await publish(stack, account, {}, large, { a: 'x'.repeat(100_000) });
    await markRun(stack, runId, 'use_in_marketplace_example');
    const { body } = await account.api.get<Record<string, unknown>[]>(`/workflows/marketplace/${slug}/examples/`);
    const [example] = body;
    assert.deepEqual(['data' in example!, 'input_data' in example!, example!['truncated']], [false, false, true]);
    const [entry] = Object.values(example!['result'] as Record<string, object>);
    assert.deepEqual(
      Object.keys(entry!),
      ['id', 'status', 'truncated'],
      'what to mask in contents stands in the drawing',
    );
    const alone = await account.api.get<Record<string, unknown>>(`/workflows/marketplace/${slug}/examples/${runId}/`);
    assert.deepEqual(
      ['data' in alone.body, 'input_data' in alone.body, alone.body['truncated']],
      [true, true, undefined],
    );
  });
});
