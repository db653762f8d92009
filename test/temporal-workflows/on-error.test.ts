// Settings of every node: on_error, retry, join, and the variables of an error (docs/use/nodes.md, "When a node starts,
// and when it fails").
import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  condition,
  drawing,
  http,
  link,
  llm,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { giveUpOn, transactionsOf } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

describe('what every node may say', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    target = await startHttpTarget();
  });
  after(() => target.close());

  function failing(tag: string, data: Record<string, unknown>): DrawingNode {
    return http(`${target.url}/status/418/${tag}`, data);
  }

  function errorOf({ id }: DrawingNode, path: string): string {
    return `{{ ${id}.error.${path} }}`;
  }

  for (const execution of ['visible', 'dense']) {
    it(`continue: the ordinary links are taken, and the error can be read (${execution})`, async () => {
      const [start, fails] = [trigger(), failing(`continue-${execution}`, { on_error: 'continue' })];
      const sibling = http(`${target.url}/delay/300/sibling-${execution}`);
      const after = http(`${target.url}/after-${execution}`, {
        method: 'POST',
        body: { code: errorOf(fails, 'code'), message: errorOf(fails, 'message'), content: resultOf(fails) },
      });
      link(start, [fails, sibling]);
      link(fails, after);
      link(sibling, after);
      const data = { ...drawing([start, fails, sibling, after]), settings: { execution } };
      const run = await api.runToEnd(data);
      assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
      const message = 'The server answered with status 418: status 418';
      const { started_at: startedAt, finished_at: finishedAt, ...entry } = run.nodes[fails.id]!;
      assert.deepEqual(entry, {
        id: fails.id,
        status: 'failed',
        error: { code: 'http_status', message },
        handled: true,
      });
      assert.ok(startedAt! <= finishedAt!);
      const [request] = target.requestsTo(`/after-${execution}`);
      assert.deepEqual(JSON.parse(request!.body), { code: 'http_status', message, content: '' });
      const paid = await transactionsOf(stack, run.runId);
      assert.equal(paid.length, 4, 'one for each node');
      assert.equal(paid.find(({ node_id }) => node_id === fails.id)!.status, 'Error');
      const kept = await api.history(run.workflowId, run.runId);
      assert.equal(kept.status, 'Succeeded');
    });
  }

  it('branch: the error link is taken in place of the ordinary ones, from data or from an edge', async () => {
    const [start, well, ill] = [trigger(), http(`${target.url}/well`), http(`${target.url}/ill`)];
    const fails = failing('branch', { on_error: 'branch', error_node: ill.id });
    const works = http(`${target.url}/works`, { on_error: 'branch' });
    const both = condition('1', '==', '1');
    link(start, [fails, works]);
    link(fails, well);
    link(works, both);
    const data = drawing([start, fails, works, well, ill, both]);
    const byEdge = { id: 'e', source: works.id, target: ill.id, sourceHandle: 'error' };
    const run = await api.runToEnd({ ...data, edges: [...data.edges, byEdge] });
    assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
    assert.equal(run.nodes[well.id], undefined, 'the ordinary link was not taken');
    assert.equal(run.nodes[ill.id]!.status, 'succeed');
    assert.equal(run.nodes[both.id]!.status, 'succeed');
    assert.equal(target.requestsTo('/ill').length, 1);
  });

  it('branch: without a failure the node behind the error link does not run', async () => {
    const [start, ill] = [trigger(), http(`${target.url}/not-ill`)];
    const works = http(`${target.url}/fine`, { on_error: 'branch', error_node: ill.id });
    link(start, works);
    const run = await api.runToEnd(drawing([start, works, ill]));
    assert.deepEqual([run.status, run.nodes[ill.id]], ['succeed', undefined]);
  });

  it('the last node may fail, too, and the run succeeds', async () => {
    const [start, fails] = [trigger(), failing('last', { on_error: 'continue' })];
    link(start, fails);
    const run = await api.runToEnd(drawing([start, fails]));
    assert.deepEqual([run.status, run.nodes[fails.id]!.handled], ['succeed', true]);
  });

  it('a failure that nobody catches ends the run, although another one was caught', async () => {
    const [start, caught] = [trigger(), failing('caught', { on_error: 'continue' })];
    const fatal = failing('fatal', {});
    link(start, caught);
    link(caught, fatal);
    const run = await api.runToEnd(drawing([start, caught, fatal]));
    assert.equal(run.status, 'failed');
    assert.deepEqual([run.nodes[caught.id]!.handled, run.nodes[fatal.id]!.handled], [true, undefined]);
  });

  it('a failed model call is caught as well', async () => {
    stack.modelProvider.script('refuses-to-work', { status: 400 });
    const settings = { model_name: 'refuses-to-work' };
    const [start, model] = [trigger(), llm('hello', { on_error: 'continue', settings })];
    const after = condition(errorOf(model, 'code'), '!=', '');
    link(start, model);
    link(model, after);
    const run = await api.runToEnd(drawing([start, model, after]));
    assert.deepEqual([run.status, run.nodes[model.id]!.handled], ['succeed', true], JSON.stringify(run.nodes));
    assert.equal(run.nodes[after.id]!.result!.content, 'true');
  });

  it('catches what Temporal gives up: the node is closed by the run workflow', async () => {
    const [start, after] = [trigger(), http(`${target.url}/after-timeout`)];
    const held = http(`${target.url}/delay/60000/given-up`, { on_error: 'continue' });
    link(start, held);
    link(held, after);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([start, held, after]));
    const { id: runId } = (await api.run(workflowId)).data;
    await eventually(() => target.requestsTo('/delay/60000/given-up').length === 1);
    await giveUpOn(stack, runId, held.id);
    const { status, data } = (await api.pollToEnd(runId)).data;
    assert.deepEqual([status, data![held.id]!.status, data![held.id]!.handled], ['succeed', 'failed', true]);
    assert.equal(target.requestsTo('/after-timeout').length, 1);
    assert.equal((await transactionsOf(stack, runId)).length, 3);
  });

  it('retry: as many attempts as the node says, with its own delays', async () => {
    target.on('/busy', { status: 503 });
    const [start, busy] = [trigger(), http(`${target.url}/busy`, { retry: { max_attempts: 2, delay: 1.2 } })];
    link(start, busy);
    const run = await api.runToEnd(drawing([start, busy]));
    assert.equal(run.status, 'failed');
    const [first, second, ...others] = target.requestsTo('/busy');
    assert.deepEqual(others, []);
    const apartMs = second!.receivedAt - first!.receivedAt;
    assert.ok(apartMs >= 1_150, `${apartMs} ms between the attempts`);
  });

  it('retry: what must not be repeated still is not', async () => {
    target.on('/order', { status: 503 });
    const order = http(`${target.url}/order`, { method: 'POST', retry: { max_attempts: 5, delay: 0 } });
    const start = trigger();
    link(start, order);
    const run = await api.runToEnd(drawing([start, order]));
    assert.deepEqual([run.status, target.requestsTo('/order').length], ['failed', 1]);
  });

  it('join any: starts with the first link that is taken, once, and the run ends after the others', async () => {
    const [start, quick] = [trigger(), http(`${target.url}/delay/50/quick`)];
    const slow = http(`${target.url}/hold/slow`);
    const first = http(`${target.url}/first`, { join: 'any' });
    link(start, [quick, slow]);
    link(quick, first);
    link(slow, first);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([start, quick, slow, first]));
    const runId = (await api.run(workflowId)).data.id;
    await eventually(async () => (await api.poll(runId)).data.data?.[first.id]?.status === 'succeed');
    target.release('/hold/slow');
    const { status, data: nodes } = (await api.pollToEnd(runId)).data;
    assert.equal(status, 'succeed', JSON.stringify(nodes));
    assert.equal(target.requestsTo('/first').length, 1);
    assert.ok(nodes![first.id]!.finished_at! < nodes![slow.id]!.finished_at!, 'it did not wait for the slow one');
    assert.equal((await transactionsOf(stack, runId)).length, 4);
  });

  it('a wrong value is refused when the run starts, by its place', async () => {
    const wrong = { on_error: 'ignore', retry: { max_attempts: 11, delay: -1, backoff: 0 }, join: 'some' };
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([trigger([], wrong)]));
    const { data } = await api.run(workflowId);
    const [entry] = Object.values(data.data!);
    const errors = entry!.result as unknown as Record<string, string>[];
    const fields = errors.flatMap((error) => Object.keys(error)).toSorted();
    assert.equal(data.status, 'failed');
    assert.deepEqual(fields, ['join', 'on_error', 'retry.backoff', 'retry.delay', 'retry.max_attempts']);
  });
});
