import assert from 'node:assert/strict';
import path from 'node:path';
import { replayHistories } from '../../cli/replay/replay-histories.js';
import { createApiClient } from '../../harness/client/api-client.js';
import { closedHistories } from '../support/closed-histories.js';
import { drawing, http, link, node, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { activitiesOf, withTemporal } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';

const BUNDLE = path.resolve(import.meta.dirname, '../../dist/workflow-bundle.js');

describe('loops that are replayed', function () {
  this.timeout(120_000);

  const ITEMS = Array.from({ length: 120 }, (_, index) => index);

  /**
   * Runs the body once for each item, 20 side by side, and replays the run. Returns the number of its local activities
   * by type.
   */
  async function runAndReplay(each: DrawingNode, body: DrawingNode[]): Promise<Record<string, number>> {
    const stack = await sharedStack();
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    const start = trigger();
    Object.assign(each.data, {
      items: ITEMS,
      body_node: body[0]!.id,
      concurrency: 20,
      output: `{{ ${each.id}.item }}`,
    });
    link(start, each);
    const run = await api.runToEnd(drawing([start, each, ...body]), {}, { timeoutMs: 60_000 });
    assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
    assert.deepEqual((run.nodes[each.id]!.result as unknown as { items: unknown }).items, ITEMS);
    const histories = await withTemporal(stack, (client) => closedHistories(client, run.runId));
    for await (const { problem } of replayHistories(histories, { codePath: BUNDLE })) assert.equal(problem, undefined);
    const { local } = await activitiesOf(stack, run.runId);
    return Object.fromEntries(local.map((type) => [type, local.filter((other) => other === type).length]));
  }

  it('go on as they went, although the results of many local activities come at once', async () => {
    const [each, first, second] = [node('for_each'), node('set', { value: '' }), node('set', { value: '' })];
    first.data['value'] = `{{ ${each.id}.item }}`;
    second.data['value'] = `{{ ${first.id}.result.value }}`;
    link(first, second);
    assert.deepEqual(await runAndReplay(each, [first, second]), {
      forEach: 1,
      set: ITEMS.length,
      endLoop: 1,
      finishRun: 1,
    });
  });

  it('end an iteration in the activity of its last node, or in one of its own where two nodes are the last', async () => {
    const target = await startHttpTarget();
    try {
      const one = node('for_each');
      const alone = await runAndReplay(one, [http(`${target.url}/delay/50/{{ ${one.id}.index }}`)]);
      assert.deepEqual(alone, { forEach: 1, endLoop: 1, finishRun: 1 });
      const two = node('for_each');
      const [first, ...lasts] = ['first', 'a', 'b'].map((name) => http(`${target.url}/delay/20/${name}`));
      link(first!, lasts);
      const { endIteration = 0, ...beside } = await runAndReplay(two, [first!, ...lasts]);
      assert.deepEqual(beside, { forEach: 1, endLoop: 1, finishRun: 1 });
      // One of the two may have ended before the other one started.
      assert.ok(endIteration > ITEMS.length / 2 && endIteration <= ITEMS.length, `${endIteration}`);
    } finally {
      await target.close();
    }
  });
});
