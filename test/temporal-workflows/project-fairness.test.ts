// One project has far more work than a worker can do. The runs of other projects must hardly be delayed.
import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { chain, fanOut, http, type Drawing } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { queryDatabase, withTemporal } from '../support/inspect.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';

/** The number of nodes that one run may have in flight. */
const IN_FLIGHT = 32;

describe('projects that share a worker', function () {
  this.timeout(180_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;

  function useStack(env: Record<string, string>): void {
    before(async () => {
      target = await startHttpTarget();
      stack = await startStack({ env: { EXECUTION: 'visible', ...env } });
      api = createApiClient(stack.apiUrl, stack.apiKey);
    });
    after(async () => {
      await stack.stop();
      await target.close();
    });
  }

  async function start(data: Drawing, runs = 1): Promise<string[]> {
    const workflowId = await api.createWorkflow(await api.createProject(), data);
    const ids: string[] = [];
    for (let started = 0; started < runs; started++) ids.push((await api.run(workflowId)).data.id);
    return ids;
  }

  /**
   * The number of activities that have been scheduled and have not ended; 0 for a run that Temporal does not have yet.
   */
  function countActivities(runIds: string[]): Promise<number> {
    return withTemporal(stack, async (client) => {
      const counts = runIds.map(async (runId) => {
        const found = await client.workflow
          .getHandle(runId)
          .describe()
          .catch(() => undefined);
        return found?.raw.pendingActivities?.length ?? 0;
      });
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    });
  }

  async function metricOf(name: string): Promise<number> {
    const port = /"port":(\d+),[^\n]*"worker started"/.exec(stack.logs())?.[1];
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  }

  describe('when one of them has 2,000 nodes with long calls in the queue', () => {
    /** Each call takes longer than the test. */
    const [queued, callMs] = [2_000, 280_000];
    useStack({});

    it('lets a run of another one, with three nodes in a row, end within 3 s', async () => {
      const slow = fanOut(IN_FLIGHT, (index) => http(`${target.url}/delay/${callMs}/${index}`, { timeout: 300 }));
      const runIds = await start(slow, Math.ceil(queued / IN_FLIGHT));
      await eventually(async () => (await countActivities(runIds)) >= queued, { timeoutMs: 90_000, intervalMs: 500 });
      const slots = await metricOf('worker_project_slots');
      await eventually(async () => (await metricOf('worker_largest_project_slots')) === slots);
      for (let round = 0; round < 5; round++) {
        const quick = chain(4, (index) => http(`${target.url}/quick/${round}/${index}`));
        const startedAt = performance.now();
        const [runId] = await start(quick);
        const { data } = await api.pollToEnd(runId!, { timeoutMs: 20_000, intervalMs: 50 });
        const tookMs = performance.now() - startedAt;
        assert.equal(data.status, 'succeed');
        assert.ok(tookMs < 3_000, `run ${round} took ${Math.round(tookMs)} ms`);
      }
    });

    it('counts those that wait for a slot apart from those under way', async () => {
      const slots = await metricOf('worker_project_slots');
      assert.equal(await metricOf('worker_largest_project_slots'), slots);
      const inFlight = await metricOf('worker_activities_in_flight');
      assert.ok(inFlight > 0 && inFlight <= slots, `${inFlight} of ${slots}`);
      assert.ok((await metricOf('worker_activities_handed_back_total')) > 0);
    });
  });

  describe('when there are five slots for all of them', () => {
    useStack({ WORKER_ACTIVITY_SLOTS: '5' });

    it('go on with what went back to the queue as if it had never been delivered: no attempt is counted', async () => {
      const [runId] = await start(fanOut(12, (index) => http(`${target.url}/delay/1500/${index}`)));
      const { data } = await api.pollToEnd(runId!, { timeoutMs: 60_000 });
      assert.equal(data.status, 'succeed');
      assert.ok((await metricOf('worker_activities_handed_back_total')) > 0);
      assert.equal(new Set(target.requests.map(({ path }) => path)).size, 12);
      assert.equal(target.requests.length, 12);
      const text = 'SELECT max(attempts)::int AS attempts FROM node_results WHERE run_id = $1';
      assert.deepEqual(await queryDatabase(stack, text, [runId]), [{ attempts: 1 }]);
    });

    it('get them in turn, whoever has queued more and earlier', async () => {
      const [many, few] = [4 * IN_FLIGHT, 8];
      const runIds = await start(
        fanOut(IN_FLIGHT, (index) => http(`${target.url}/delay/500/many/${index}`)),
        many / IN_FLIGHT,
      );
      await eventually(async () => (await countActivities(runIds)) > many / 2, { timeoutMs: 60_000, intervalMs: 100 });
      const [runId] = await start(fanOut(few, (index) => http(`${target.url}/delay/500/few/${index}`)));
      await api.pollToEnd(runId!, { timeoutMs: 60_000, intervalMs: 50 });
      const order = target.requests.map(({ path }) => (path.includes('/few/') ? 'few' : 'many'));
      const between = order.slice(order.indexOf('few'), order.lastIndexOf('few') + 1);
      const others = between.filter((who) => who === 'many').length;
      assert.equal(between.length - others, few);
      assert.ok(order.lastIndexOf('few') < many, 'the others had not come to their end');
      assert.ok(others >= few / 2 && others <= 2 * few, between.join(' '));
    });
  });
});
