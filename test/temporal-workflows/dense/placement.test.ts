import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { chain, condition, drawing, http, link, linkInRow, trigger, type DrawingNode } from '../../support/graphs.js';
import { startHttpTarget, type HttpTarget } from '../../support/http-target.js';
import { activitiesOf, cancelRun, historyOf, queryDatabase, reset, transactionsOf } from '../../support/inspect.js';
import { startStack, type TestStack } from '../../support/stack.js';

describe('node placement', function () {
  this.timeout(120_000);
  let target: HttpTarget;

  before(async () => {
    target = await startHttpTarget();
  });

  after(() => target.close());

  describe('by speed', () => {
    let stack: TestStack;
    let api: ApiClient;

    before(async () => {
      stack = await startStack({ env: { EXECUTION: 'dense' } });
      api = createApiClient(stack.apiUrl, stack.apiKey);
    });

    after(() => stack.stop());

    async function setDuration(nodeId: string, ms: number): Promise<void> {
      const text = `UPDATE node_results SET finished_at = started_at + make_interval(secs => $2) WHERE node_id = $1`;
      await queryDatabase(stack, text, [nodeId, ms / 1000]);
    }

    it('a node becomes local once it has been quick, a slow one beside it and a POST stay normal', async () => {
      const quick = http(`${target.url}/quick`);
      const slow = http(`${target.url}/delay/350/slow`);
      const post = http(`${target.url}/post`, { method: 'POST', body: {} });
      const start = trigger();
      link(start, [quick, slow, post]);
      const workflowId = await api.createWorkflow(await api.createProject(), drawing([start, quick, slow, post]));
      const first = (await api.run(workflowId)).data.id;
      await api.pollToEnd(first);
      assert.deepEqual((await activitiesOf(stack, first)).normal, ['nodeChain'], 'they share one');
      const runIds = await Promise.all(Array.from({ length: 10 }, async () => (await api.run(workflowId)).data.id));
      for (const runId of runIds) await api.pollToEnd(runId, { timeoutMs: 60_000 });
      await eventually(
        async () => {
          // What a quiet machine measures, whatever this one does.
          await setDuration(quick.id, 20);
          await setDuration(slow.id, 350);
          const runId = (await api.run(workflowId)).data.id;
          const end = await api.pollToEnd(runId);
          assert.equal(end.data.status, 'succeed');
          const { local, normal } = await activitiesOf(stack, runId);
          if (!local.includes('nodeChain')) return false;
          assert.deepEqual(normal, ['httpRequest', 'httpRequest']);
          return true;
        },
        { timeoutMs: 30_000 },
      );
    });
  });

  describe('forced to local', () => {
    let stack: TestStack;
    let api: ApiClient;

    before(async () => {
      stack = await startStack({ env: { EXECUTION: 'dense', DENSE_PLACEMENT: 'http:local' } });
      api = createApiClient(stack.apiUrl, stack.apiKey);
    });

    after(() => stack.stop());

    async function startRun(nodes: DrawingNode[]): Promise<string> {
      const workflowId = await api.createWorkflow(await api.createProject(), drawing(linkInRow(nodes)));
      return (await api.run(workflowId)).data.id;
    }

    it('a chain costs one event in all and no task-queue trip', async () => {
      const drawn = chain(21, (index) => http(`${target.url}/chain-${index}`));
      const workflowId = await api.createWorkflow(await api.createProject(), drawn);
      const runId = (await api.run(workflowId)).data.id;
      assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
      const events = await eventually(async () => {
        const history = await historyOf(stack, runId);
        return history.some(({ type }) => type === 'workflowExecutionCompleted') && history;
      });
      assert.deepEqual(events.filter(({ type }) => type === 'activityTaskScheduled').length, 0);
      // One for all nodes, trigger and end included (two on a machine that takes a second for them), and what every run
      // has: start, one workflow task, completion.
      assert.ok(events.length <= 2 + 5, `${events.length} events`);
      assert.equal((await transactionsOf(stack, runId)).length, 21);
    });

    it('a failure that another try may mend is mended by a normal activity, which counts the tries on', async () => {
      target.on('/mended', [{ status: 503 }, { status: 503 }, { body: 'at last' }]);
      const node = http(`${target.url}/mended`);
      const runId = await startRun([trigger(), node]);
      const end = await api.pollToEnd(runId, { timeoutMs: 30_000 });
      assert.equal(end.data.data![node.id]!.result!.content, 'at last');
      assert.deepEqual((await activitiesOf(stack, runId)).normal, ['httpRequest']);
      target.on('/never', [{ status: 503 }]);
      const hopeless = await startRun([trigger(), http(`${target.url}/never`)]);
      assert.equal((await api.pollToEnd(hopeless, { timeoutMs: 60_000 })).data.status, 'failed');
      assert.equal(target.requestsTo('/never').length, 4, 'the local try is one of the four');
    });

    it('what is undone in the middle of a row goes on as a normal activity, and nothing before it is called again', async () => {
      target.on('/row-mended', [{ status: 503, headers: { 'retry-after': '1' } }, { body: 'mended' }]);
      const nodes = ['row-before', 'row-mended', 'row-after'].map((at) => http(`${target.url}/${at}`));
      const runId = await startRun([trigger(), ...nodes]);
      const end = await api.pollToEnd(runId, { timeoutMs: 30_000 });
      assert.equal(end.data.data![nodes[1]!.id]!.result!.content, 'mended');
      const calls = ['/row-before', '/row-mended', '/row-after'].map((at) => target.requestsTo(at).length);
      assert.deepEqual(calls, [1, 2, 1]);
      const { local, normal } = await activitiesOf(stack, runId);
      assert.deepEqual(
        [local, normal],
        [['nodeChain', 'nodeChain'], ['httpRequest']],
        'the last node and the end are in the normal one',
      );
      assert.equal((await transactionsOf(stack, runId)).length, 4);
    });

    it('a node that fails in the middle of a row fails the run: called once, and nothing after it', async () => {
      const nodes = ['row-fine', 'status/404/row-fails', 'row-never'].map((at) => http(`${target.url}/${at}`));
      const runId = await startRun([trigger(), ...nodes]);
      const { status, data } = (await api.pollToEnd(runId)).data;
      assert.equal(status, 'failed');
      assert.equal(data![nodes[1]!.id]!.error!.code, 'http_status');
      assert.equal(data![nodes[2]!.id], undefined);
      const calls = ['/row-fine', '/status/404/row-fails', '/row-never'].map((at) => target.requestsTo(at).length);
      assert.deepEqual(calls, [1, 1, 0]);
      assert.equal((await transactionsOf(stack, runId)).length, 3);
    });

    it('a condition and the end of the run are in the activity of the call before them', async () => {
      const post = http(`${target.url}/row-post`, { method: 'POST', body: {} });
      const choice = condition(`{{ ${post.id}.result.status_code }}`, '==', '200');
      const runId = await startRun([trigger(), post, choice]);
      assert.equal((await api.pollToEnd(runId)).data.data![choice.id]!.result!.content, 'true');
      assert.deepEqual(await activitiesOf(stack, runId), { local: [], normal: ['nodeChain'] });
    });

    it('Retry-After is obeyed between the local try and the next one', async () => {
      target.on('/later', [{ status: 429, headers: { 'retry-after': '2' } }, { body: 'now' }]);
      const runId = await startRun([trigger(), http(`${target.url}/later`)]);
      assert.equal((await api.pollToEnd(runId, { timeoutMs: 30_000 })).data.status, 'succeed');
      const [first, second] = target.requestsTo('/later');
      assert.ok(second!.receivedAt - first!.receivedAt >= 1_900, `${second!.receivedAt - first!.receivedAt} ms`);
    });

    it('a failure for good fails the run without another call', async () => {
      const node = http(`${target.url}/status/404/for-good`);
      const runId = await startRun([trigger(), node]);
      const end = await api.pollToEnd(runId);
      assert.equal(end.data.data![node.id]!.error!.code, 'http_status');
      assert.equal(target.requestsTo('/status/404/for-good').length, 1);
      assert.deepEqual((await activitiesOf(stack, runId)).normal, []);
    });

    it('a try that turns out slow is cut, and the node goes on as a normal activity', async () => {
      const node = http(`${target.url}/delay/1600/turned-slow`);
      const runId = await startRun([trigger(), node, http(`${target.url}/after-the-slow-one`)]);
      assert.equal((await api.pollToEnd(runId, { timeoutMs: 30_000 })).data.status, 'succeed');
      assert.deepEqual((await activitiesOf(stack, runId)).normal, ['httpRequest']);
      const [first] = target.requestsTo('/delay/1600/turned-slow');
      await eventually(() => first!.aborted);
    });

    it('a POST and a model call are normal activities all the same', async () => {
      const post = http(`${target.url}/post-anyway`, { method: 'POST', body: { n: 1 } });
      const runId = await startRun([trigger(), post]);
      assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
      assert.deepEqual((await activitiesOf(stack, runId)).normal, ['nodeChain']);
    });

    it('after kill -9 of the worker no finished node is called again', async () => {
      const nodes = Array.from({ length: 12 }, (_, index) => http(`${target.url}/delay/250/killed-${index}`));
      const runId = await startRun([trigger(), ...nodes]);
      await eventually(() => target.requestsTo('/delay/250/killed-6').length === 1);
      const finished = await queryDatabase<{ node_id: string }>(
        stack,
        "SELECT node_id FROM node_results WHERE run_id = $1 AND status = 'succeed'",
        [runId],
      );
      const killedAt = Date.now();
      process.kill(stack.stack.pids.worker!, 'SIGKILL');
      await eventually(() => target.requestsTo('/delay/250/killed-7').length > 0, { timeoutMs: 30_000 });
      assert.ok(Date.now() - killedAt < 15_000, `went on after ${Date.now() - killedAt} ms`);
      assert.equal((await api.pollToEnd(runId, { timeoutMs: 60_000 })).data.status, 'succeed');
      const calls = nodes.map((_, index) => target.requestsTo(`/delay/250/killed-${index}`).length);
      assert.ok(finished.length >= 6, `${finished.length} finished`);
      assert.deepEqual(calls.slice(0, 6), [1, 1, 1, 1, 1, 1]);
      assert.ok(
        calls.every((count, index) => count === 1 || (count === 2 && (index === 6 || index === 7))),
        String(calls),
      );
      assert.equal((await transactionsOf(stack, runId)).length, 13);
    });

    it('a finished run that is begun once more finds all it has done, calls nothing, and ends as it did', async () => {
      const runId = await startRun([trigger(), http(`${target.url}/again-one`), http(`${target.url}/again-two`)]);
      assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
      await reset(stack, runId);
      const calls = ['/again-one', '/again-two'].map((path) => target.requestsTo(path).length);
      assert.deepEqual([calls, (await transactionsOf(stack, runId)).length], [[1, 1], 3]);
    });

    it('the end of a run is told by a normal activity when the API does not answer at once', async () => {
      const node = http(`${target.url}/delay/400/told-later`);
      const runId = await startRun([trigger(), node]);
      await eventually(() => target.requestsTo('/delay/400/told-later').length === 1);
      process.kill(stack.stack.pids.api!, 'SIGKILL');
      await eventually(async () => (await api.poll(runId).catch(() => undefined)) !== undefined, { timeoutMs: 20_000 });
      assert.equal((await api.pollToEnd(runId, { timeoutMs: 30_000 })).data.status, 'succeed');
    });

    it('a cancel ends a run of local nodes', async () => {
      const nodes = Array.from({ length: 60 }, (_, index) => http(`${target.url}/delay/200/cancelled-${index}`));
      const runId = await startRun([trigger(), ...nodes]);
      await eventually(() => target.requestsTo('/delay/200/cancelled-1').length === 1);
      const workflowId = await cancelRun(stack, runId);
      assert.equal((await api.pollToEnd(runId, { timeoutMs: 60_000 })).data.status, 'failed');
      assert.equal((await api.history(workflowId, runId)).status, 'Cancelled');
      assert.ok(target.requestsTo('/delay/200/cancelled-59').length === 0, 'it did not run to its end');
    });
  });
});
