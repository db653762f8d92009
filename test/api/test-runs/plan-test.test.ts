// Which mocks and pins stand for the nodes of a test (docs/use/test-runs.md, "Where the other results come from").
import assert from 'node:assert/strict';
import { planTest } from '../../../api/test-runs/plan-test.js';
import { createSecretBox } from '../../../db/core/secret-box.js';
import { compilePlan } from '../../../graph/compile-plan.js';
import type { JsonObject } from '../../../graph/json.js';
import { writeJson } from '../../../graph/json-text.js';
import { drawing, linkInRow, node, resultOf, trigger } from '../../../harness/drawing/drawing.js';
import { playedDatabase } from '../../support/played-database.js';

describe('the plan of a test', () => {
  const workflow = { id: 1, project_id: 1 };
  const secretBox = createSecretBox([Buffer.alloc(32, 1)]);
  const first = node('set', { value: 'a' });
  const body = node('set', { value: 'b' });
  const loop = node('for_each', { items: [1, 2], body_node: body.id, output: resultOf(body) });
  const last = node('set', { value: `${resultOf(first)} ${resultOf(loop)}` });
  const data = drawing([...linkInRow([trigger(), first, loop, last]), body]) as unknown as JsonObject;

  interface Tried {
    nodeId: string;
    path?: string;
    mocks?: Record<string, unknown>;
    /** The ids of the pinned nodes, each with the path of its pin. */
    pins: [nodeId: string, path: string][];
  }

  async function plan({ nodeId, path, mocks = {}, pins }: Tried) {
    const outcome = { output: { content: 'pinned' }, handles: [0] };
    const rows = pins.map(([id, of]) => {
      const sealed = secretBox.seal(writeJson({ outcome, fingerprint: null }), 'pin', workflow.id, of, id);
      return { nodeId: id, path: of, outcome, pin_enc: sealed };
    });
    const compiled = compilePlan(data);
    assert.ok(compiled.ok);
    const { executed, fixedResults } = await planTest(
      { db: playedDatabase(() => ({ rows })), secretBox, config: {} as never },
      { drawing: data, document: compiled.document, plan: compiled.plan },
      { workflow, mode: 'up_to', nodeId, path, hasInput: true, mocks, usesPins: true },
    );
    const fixed = fixedResults.map(({ nodeId: id, path: of, source }) => [id, of, source]);
    return { executed: [...executed], fixed };
  }

  const mocked = { content: 'mocked' };

  it('takes a mock for all iterations before the pin of one iteration', async () => {
    const pins: Tried['pins'] = [[body.id, `${loop.id}[0]`]];
    const { fixed } = await plan({ nodeId: last.id, mocks: { [body.id]: mocked }, pins });
    assert.deepEqual(fixed, [[body.id, '*', 'mock']]);
    const alone = await plan({ nodeId: last.id, pins });
    assert.deepEqual(alone.fixed, [[body.id, `${loop.id}[0]`, 'pin']]);
  });

  it('takes the mocks of single iterations beside a mock, or a pin, for the others', async () => {
    const key = `${body.id}@${loop.id}[1]`;
    const ofOne = [body.id, `${loop.id}[1]`, 'mock'];
    const both = await plan({ nodeId: last.id, mocks: { [body.id]: mocked, [key]: mocked }, pins: [[body.id, '']] });
    assert.deepEqual(both.fixed, [[body.id, '*', 'mock'], ofOne]);
    const one = await plan({ nodeId: last.id, mocks: { [key]: mocked }, pins: [[body.id, '']] });
    assert.deepEqual(one.fixed, [ofOne, [body.id, '*', 'pin']]);
  });

  it('ignores pins of iterations of loops that are not around their node', async () => {
    for (const path of [`${loop.id}[0]`, 'gone[0]']) {
      const own = await plan({ nodeId: first.id, pins: [[first.id, path]] });
      assert.deepEqual([own.fixed, own.executed.includes(first.id)], [[], true], 'the node that is tried is executed');
      const { fixed, executed } = await plan({ nodeId: last.id, pins: [[first.id, path]] });
      assert.deepEqual([fixed, executed.includes(first.id)], [[], true]);
    }
    const { fixed } = await plan({ nodeId: last.id, pins: [[body.id, 'gone[0]']] });
    assert.deepEqual(fixed, []);
  });

  it('ignores the pin of the node that is tried, in its iteration', async () => {
    for (const path of ['', `${loop.id}[1]`]) {
      const { executed } = await plan({ nodeId: body.id, path: `${loop.id}[1]`, pins: [[body.id, path]] });
      assert.ok(executed.includes(body.id), path);
    }
  });
});
