import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { EVENTS_OF_AN_EXECUTION } from '../replay/scenarios-over-executions.js';
import { collectGarbage, WITH_INSPECTOR } from '../../harness/processes/collect-garbage.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, link, node, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { historyOf, transactionsOf } from '../support/inspect.js';
import { killAndAwaitRestart } from '../../harness/stack/kill-part.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { wrapTemporal } from '../support/wrapped-temporal.js';

interface LoopResult {
  items: unknown[];
  errors: { index: number }[];
  rounds: number;
}

const countOf = (events: { type: string }[], type: string) => events.filter((event) => event.type === type).length;

function withBody(kind: 'for_each' | 'loop', body: DrawingNode, data: object): DrawingNode {
  return node(kind, { body_node: body.id, ...data });
}

function around(loop: DrawingNode, ...inside: DrawingNode[]): object {
  const start = trigger();
  link(start, loop);
  return drawing([start, loop, ...inside]);
}

describe('loops that go on in new executions', function () {
  this.timeout(600_000);
  let target: HttpTarget;
  const stacks: TestStack[] = [];

  before(async () => (target = await startHttpTarget()));
  after(async () => {
    await target.close();
    for (const stack of stacks) await stack.stop();
  });

  async function start(settings: Record<string, unknown>): Promise<{ stack: TestStack; api: ApiClient }> {
    const temporal = await wrapTemporal(settings);
    const stack = await startStack({ env: { TEMPORAL_CLI: temporal.file, ...WITH_INSPECTOR } });
    stacks.push(stack);
    return { stack, api: createApiClient(stack.apiUrl, stack.apiKey) };
  }

  describe('after every few events', () => {
    let stack: TestStack;
    let api: ApiClient;

    before(async () => {
      ({ stack, api } = await start({ 'limit.historyCount.suggestContinueAsNew': EVENTS_OF_AN_EXECUTION }));
    });

    it('an inner loop in an outer one: each call once, results in order', async () => {
      const call = http('');
      const inner = withBody('for_each', call, { concurrency: 3 });
      const outers = Array.from({ length: 12 }, (_, n) => n);
      const outer = withBody('for_each', inner, { concurrency: 3, items: outers });
      inner.data['items'] = [0, 1, 2, 3];
      inner.data['output'] = `{{ ${outer.id}.item }}-{{ ${inner.id}.item }}`;
      call.data['url'] = `${target.url}/nested/{{ ${outer.id}.index }}/{{ ${inner.id}.index }}`;
      const run = await api.runToEnd(around(outer, inner, call), {}, { timeoutMs: 120_000 });
      assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
      const { items } = run.nodes[outer.id]!.result as unknown as LoopResult;
      assert.deepEqual(
        items,
        outers.map((n) => [0, 1, 2, 3].map((m) => `${n}-${m}`)),
      );
      const calls = target.requests.filter(({ path }) => path.startsWith('/nested/')).map(({ path }) => path);
      assert.equal(calls.length, 48);
      assert.equal(new Set(calls).size, 48);
      const executions = countOf(await historyOf(stack, run.runId), 'workflowExecutionContinuedAsNew');
      assert.ok(executions >= 3, `${executions} new executions`);
      assert.equal((await transactionsOf(stack, run.runId)).length, 2 + 12 + 48);
    });

    it('items that fail and are left out, and rounds of a loop', async () => {
      const call = http('');
      const each = withBody('for_each', call, { on_item_error: 'skip', concurrency: 2 });
      each.data['items'] = Array.from({ length: 12 }, (_, n) => (n % 3 === 0 ? 418 : 200));
      call.data['url'] = `${target.url}/status/{{ ${each.id}.item }}/over`;
      const round = http(`${target.url}/round`);
      const loop = withBody('loop', round, { max_rounds: 50, output: '' });
      loop.data['output'] = `{{ ${loop.id}.last }}.`;
      loop.data['until'] = { left: `{{ ${loop.id}.last }}`, operator: '==', right: '.'.repeat(15) };
      link(each, loop);
      const run = await api.runToEnd(around(each, call, loop, round), {}, { timeoutMs: 120_000 });
      assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
      const { items, errors } = run.nodes[each.id]!.result as unknown as LoopResult;
      assert.deepEqual([items.length, errors.map(({ index }) => index)], [8, [0, 3, 6, 9]]);
      assert.equal((run.nodes[loop.id]!.result as unknown as LoopResult).rounds, 15);
      assert.equal(target.requestsTo('/round').length, 15);
    });
  });

  describe('with the limits of the service', () => {
    let stack: TestStack;
    let api: ApiClient;

    before(async () => ({ stack, api } = await start({})));

    it('1,000 calls, with a worker, the API and Temporal killed amid them: order kept, each once but what was on the wire', async () => {
      const call = http('', { retry: { max_attempts: 10, delay: 0 } });
      const each = withBody('for_each', call, { concurrency: 10, output: '' });
      each.data['items'] = Array.from({ length: 1_000 }, (_, n) => n);
      each.data['output'] = `{{ ${each.id}.item }}`;
      call.data['url'] = `${target.url}/thousand/{{ ${each.id}.item }}`;
      const id = await api.createWorkflow(await api.createProject(), around(each, call));
      const { data } = await api.run(id);
      const calls = () => target.requests.filter(({ path }) => path.startsWith('/thousand/'));
      for (const [after, name] of [
        [150, 'worker'],
        [400, 'temporal'],
        [650, 'api'],
      ] as const) {
        await eventually(() => calls().length >= after, { timeoutMs: 120_000 });
        await killAndAwaitRestart(stack, name);
      }
      const run = (await api.pollToEnd(data.id, { timeoutMs: 300_000, intervalMs: 500 })).data;
      assert.equal(run.status, 'succeed');
      const { items } = run.data![each.id]!.result as unknown as LoopResult;
      assert.deepEqual(
        items,
        Array.from({ length: 1_000 }, (_, n) => n),
      );
      const repeated = calls().length - 1_000;
      assert.ok(repeated >= 0 && repeated <= 3 * 10, `${repeated} calls were repeated`);
      assert.equal(new Set(calls().map(({ path }) => path)).size, 1_000);
      assert.equal((await transactionsOf(stack, data.id)).length, 2 + 1_000);
    });

    it('10,000 items: the run ends, memory stays flat, and no execution comes near the limits of Temporal', async () => {
      const body = node('set', { value: '' });
      const each = withBody('for_each', body, { concurrency: 20, max_items: 10_000 });
      each.data['items'] = Array.from({ length: 10_000 }, (_, n) => n);
      body.data['value'] = `{{ ${each.id}.item }}`;
      const id = await api.createWorkflow(await api.createProject(), around(each, body));
      const worker = stack.stack.pids.worker!;
      // The memory is measured after a garbage collection, because a large heap may contain any amount of garbage.
      const heldMiB = async () => (await collectGarbage(worker, `${stack.dataDir}/logs/worker.log`)) / 2 ** 20;
      const { data } = await api.run(id);
      const done = async () => (await api.poll(data.id)).data.data?.[each.id]?.iterations?.succeeded ?? 0;
      await eventually(async () => (await done()) >= 2_000, { timeoutMs: 120_000, intervalMs: 500 });
      const before = await heldMiB();
      const startedAt = Date.now();
      const run = (await api.pollToEnd(data.id, { timeoutMs: 400_000, intervalMs: 1_000 })).data;
      assert.equal(run.status, 'succeed');
      const { items } = run.data![each.id]!.result as unknown as LoopResult;
      assert.deepEqual(
        items,
        Array.from({ length: 10_000 }, (_, n) => n),
      );
      const events = await historyOf(stack, data.id);
      const executions = countOf(events, 'workflowExecutionContinuedAsNew') + 1;
      const ms = Date.now() - startedAt;
      const starts = events.flatMap(({ type }, index) => (type === 'workflowExecutionStarted' ? [index] : []));
      assert.equal(starts.length, executions);
      const longest = Math.max(...starts.map((from, at) => (starts[at + 1] ?? events.length) - from));
      const figures = { executions, events: events.length, longest, before, after: await heldMiB(), ms };
      process.stdout.write(`      ${JSON.stringify(figures)}\n`);
      assert.ok(longest < 20_000, JSON.stringify(figures));
      assert.ok(figures.after - before < 30, JSON.stringify(figures));
    });
  });
});
