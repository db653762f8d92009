import assert from 'node:assert/strict';
import path from 'node:path';
import { replayHistories } from '../../cli/replay/replay-histories.js';
import { createApiClient } from '../support/api-client.js';
import { closedHistories } from '../support/closed-histories.js';
import { drawing, link, node, trigger } from '../support/graphs.js';
import { withTemporal } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';

const BUNDLE = path.resolve(import.meta.dirname, '../../dist/workflow-bundle.js');

describe('loops that are replayed', function () {
  this.timeout(120_000);

  it('go on as they went, although the results of many local activities come at once', async () => {
    const stack = await sharedStack();
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    const [start, first, second] = [trigger(), node('set', { value: '' }), node('set', { value: '' })];
    const items = Array.from({ length: 120 }, (_, index) => index);
    const each = node('for_each', { items, body_node: first.id, concurrency: 20 });
    first.data['value'] = `{{ ${each.id}.item }}`;
    second.data['value'] = `{{ ${first.id}.result.value }}`;
    link(start, each);
    link(first, second);
    const run = await api.runToEnd(drawing([start, each, first, second]), {}, { timeoutMs: 60_000 });
    assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
    assert.deepEqual((run.nodes[each.id]!.result as unknown as { items: unknown }).items, items);
    const histories = await withTemporal(stack, (client) => closedHistories(client, run.runId));
    for await (const { problem } of replayHistories(histories, { codePath: BUNDLE })) assert.equal(problem, undefined);
  });
});
