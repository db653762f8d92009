// The limit on what the iterations of a loop leave behind.
import assert from 'node:assert/strict';
import { createEndLoopStep } from '../../../../activities/kinds/loop/end-loop.js';
import type { LoopDeps } from '../../../../activities/kinds/loop/loop-deps.js';
import type { NodeOutcome, NodeTask } from '../../../../activities/node/node-step.js';
import { RECORDING_FACTOR } from '../../../../activities/node/payload-weight.js';
import { iterationPath } from '../../../../graph/iteration-path.js';
import { playedDatabase } from '../../../support/played-database.js';

const LOOP = { runId: 'r', path: '', nodeId: 'each' };
const MIB = 1024 * 1024;

describe('the end of a loop', () => {
  /** Ends a loop whose items have all failed, with a message of `messageBytes` each. */
  async function end(items: number, messageBytes: number) {
    const errorMessage = 'x'.repeat(messageBytes);
    const failed = { status: 'failed', result: null, resultEnc: null, errorCode: 'http_status', errorMessage };
    const rows = Array.from({ length: items }, (_, index) => ({ ...failed, path: iterationPath('', 'each', index) }));
    let wasRead = false;
    let leased = 0;
    const db = playedDatabase(({ sql }) => {
      if (sql.includes('sum(')) return { rows: [{ bytes: items * messageBytes }] };
      wasRead = true;
      return { rows };
    });
    const data = { items: '{{ input.items }}', on_item_error: 'skip' };
    const memory = { bytes: 0, resize: (bytes: number) => void (leased = bytes) };
    const task = { ...LOOP, node: { id: 'each', kind: 'for_each', data }, memory } as unknown as NodeTask;
    const ended = await createEndLoopStep({ db } as unknown as LoopDeps, LOOP)
      .run(task)
      .catch((error: unknown) => error);
    return { ended, wasRead, leased };
  }

  it('puts out the errors of its items, in memory that it has leased', async () => {
    const { ended, leased } = await end(2, MIB);
    const { output } = ended as NodeOutcome;
    assert.deepEqual([output['items'], output['count'], (output['errors'] as unknown[]).length], [[], 2, 2]);
    assert.equal(leased, 2 * RECORDING_FACTOR * 2 * MIB);
  });

  it('is a failure if the errors exceed the limit of the outputs', async () => {
    const { ended } = await end(11, MIB);
    assert.equal((ended as { code?: string }).code, 'output_too_large');
  });

  it('reads none of the errors if they are much larger', async () => {
    const { ended, wasRead } = await end(41, MIB);
    assert.deepEqual([(ended as { code?: string }).code, wasRead], ['output_too_large', false]);
  });
});
