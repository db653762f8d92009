// The failure of an iteration's output, and whether the next iteration starts with it.
import assert from 'node:assert/strict';
import { createEndIterationStep } from '../../../../activities/kinds/loop/end-iteration.js';
import type { LoopDeps } from '../../../../activities/kinds/loop/loop-deps.js';
import type { NodeTask } from '../../../../activities/node/node-step.js';
import { createMasker } from '../../../../graph/mask.js';
import { iterationPath } from '../../../../graph/iteration-path.js';
import { NodeError } from '../../../../graph/node-error.js';
import { playedDatabase } from '../../../support/played-database.js';

const LOOP = { runId: 'r', path: '', nodeId: 'each' };

describe('an iteration whose output fails', () => {
  /** Returns true if the next iteration has started. */
  async function startsNext(kind: string, data: object, code = 'invalid_output'): Promise<boolean> {
    const parameters: unknown[] = [];
    const db = playedDatabase((query) => {
      parameters.push(...query.parameters);
      return { rows: [] };
    });
    const contexts = { loadValues: () => Promise.reject(new NodeError(code, 'It is no output.')) };
    const step = createEndIterationStep({ db, contexts } as unknown as LoopDeps, { ...LOOP, index: 0, next: 1 });
    const node = { id: 'each', kind, data, lastNode: 'last' };
    const run = { masker: createMasker([]) };
    const ended = await step.run({ ...LOOP, node, run } as unknown as NodeTask);
    assert.deepEqual(ended, { facts: { failure: code } });
    assert.ok(parameters.includes(iterationPath('', 'each', 0)));
    return parameters.includes(iterationPath('', 'each', 1));
  }
  const items = (onItemError?: string) => ({ items: '{{ input.items }}', on_item_error: onItemError });

  it('starts the next one only if the loop survives the failure', async () => {
    assert.equal(await startsNext('for_each', items('null')), true);
    assert.equal(await startsNext('for_each', items('skip')), true);
    assert.equal(await startsNext('for_each', items('fail')), false);
    assert.equal(await startsNext('for_each', items()), false);
    assert.equal(await startsNext('for_each', items('skip'), 'cancelled'), false);
    assert.equal(await startsNext('loop', { until: {} }), false);
  });
});
