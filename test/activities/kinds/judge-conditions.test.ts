import assert from 'node:assert/strict';
import { createJudge } from '../../../activities/kinds/judge-conditions.js';
import { isHandedBack, retryDelayOf } from '../../../activities/node/failures.js';
import type { NodeTask } from '../../../activities/node/node-step.js';
import type { Condition } from '../../../graph/condition-schema.js';
import type { VariableValues } from '../../../graph/template.js';
import { createProcesses, ProcessesBusyError, type Processes } from '../../../processes/processes.js';

const task = { run: { projectId: 7 }, signal: new AbortController().signal } as NodeTask;
const matches = (right: string, left = '{{ input.text }}'): Condition => ({ left, operator: 'matches', right });
const valuesOf = (text: string): VariableValues => ({ input: { text }, results: new Map() });

describe('the conditions of a node', function () {
  this.timeout(120_000);
  const processes = createProcesses(new URL('../../../dist/processes/host.js', import.meta.url));
  after(() => processes.close());
  const judge = createJudge(processes)(task);

  /** A judge whose processes are replaced by `run`. */
  function judgeBy(run: Processes['run']) {
    return createJudge({ run, close: () => undefined })(task);
  }

  it('are judged at once where they are cheap, and in another process where they are not', async () => {
    const never = judgeBy(() => Promise.reject(new Error('no process was needed')));
    const cheap = [matches('^[a-z]+$'), matches('b'), { left: '1', operator: '<', right: '2' } as const];
    assert.deepEqual(await never(cheap, valuesOf('aaa'), 'all'), [0, 2]);
    assert.deepEqual(await never(cheap, valuesOf('aaa'), 'first'), [0]);
    const large = valuesOf('a'.repeat(100_000));
    assert.deepEqual(await judge(cheap, large, 'all'), [0, 2]);
    await assert.rejects(async () => never(cheap, large, 'all'), /no process was needed/);
    await assert.rejects(async () => never([matches('x{500}')], valuesOf('x'), 'all'), /no process was needed/);
    await assert.rejects(
      async () => never([{ left: '1', operator: 'in', right: '{{ input.text }}' }], large, 'all'),
      /no process was needed/,
    );
  });

  it('have one limit of steps for all patterns of the node', async () => {
    const text = valuesOf('ab'.repeat(500_000));
    const one = matches('[0-9]+x');
    assert.deepEqual(await judge([one], text, 'all'), []);
    const startedAt = performance.now();
    await assert.rejects(
      async () =>
        judge(
          Array.from({ length: 50 }, () => one),
          text,
          'all',
        ),
      {
        code: 'invalid_pattern',
        message: /16000000 steps together/,
      },
    );
    assert.ok(performance.now() - startedAt < 30_000);
  });

  it('fail the node with the code of what is wrong with them, also when their process was ended', async () => {
    const large = valuesOf('a'.repeat(100_000));
    await assert.rejects(async () => judge([matches('('.padEnd(200))], large, 'all'), { code: 'invalid_pattern' });
    const lost = judgeBy(() => Promise.resolve(undefined));
    await assert.rejects(async () => lost([matches('a')], large, 'all'), { code: 'invalid_pattern' });
    const words: Condition = { left: '{{ input.text }}', operator: 'contains', right: 'b' };
    await assert.rejects(async () => lost([words], large, 'all'), { code: 'rendered_too_large' });
  });

  it('leave the slot to others while too many of the project wait, for longer than the workflow task is held', async () => {
    const busy = judgeBy((_work, { owner, maxWaiting }) => {
      assert.deepEqual([owner, maxWaiting], [7, 8]);
      return Promise.reject(new ProcessesBusyError('busy'));
    });
    await assert.rejects(
      async () => busy([matches('a')], valuesOf('a'.repeat(100_000)), 'all'),
      (error) => {
        assert.ok(isHandedBack(error));
        assert.ok(retryDelayOf(error)! > 6_000);
        return true;
      },
    );
  });
});
