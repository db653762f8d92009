import assert from 'node:assert/strict';
import path from 'node:path';
import { replayHistories } from '../../cli/replay/replay-histories.js';
import { createApiClient } from '../support/api-client.js';
import { closedHistories } from '../support/closed-histories.js';
import { drawing, http, link, node, trigger, type DrawingNode } from '../support/graphs.js';
import { startHttpTarget } from '../support/http-target.js';
import { historyOf, withTemporal } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';

const BUNDLE = path.resolve(import.meta.dirname, '../../dist/workflow-bundle.js');

describe('loops that are replayed', function () {
  this.timeout(120_000);

  const ITEMS = Array.from({ length: 120 }, (_, index) => index);

  /** Runs the body once for each item, 20 side by side, and replays the run. Returns how often iterations were ended. */
  async function runAndReplay(each: DrawingNode, body: DrawingNode[]): Promise<number> {
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
    const events = await historyOf(stack, run.runId);
    return events.filter(({ type, text }) => type === 'markerRecorded' && text.includes('endIterations')).length;
  }

  it('go on as they went, although the results of many local activities come at once', async () => {
    const [each, first, second] = [node('for_each'), node('set', { value: '' }), node('set', { value: '' })];
    first.data['value'] = `{{ ${each.id}.item }}`;
    second.data['value'] = `{{ ${first.id}.result.value }}`;
    link(first, second);
    assert.equal(await runAndReplay(each, [first, second]), ITEMS.length);
  });

  it('end those iterations together whose calls were answered together, and go on as they went', async () => {
    const target = await startHttpTarget();
    try {
      const each = node('for_each');
      const ends = await runAndReplay(each, [http(`${target.url}/delay/50/{{ ${each.id}.index }}`)]);
      assert.ok(ends < ITEMS.length, `${ends} activities for ${ITEMS.length} iterations`);
    } finally {
      await target.close();
    }
  });
});
