// Nodes that wait (docs/use/nodes.md, "Wait").
import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  drawing,
  http,
  link,
  linkInRow,
  node,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { historyOf, transactionsOf } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { callBack, callbackUrlOf, untilWaiting } from '../support/waiting.js';

describe('a node that waits', function () {
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

  function waits(data: Record<string, unknown>): DrawingNode {
    return node('wait', data);
  }

  async function start(data: object, input: unknown = {}): Promise<{ runId: string; workflowId: number }> {
    const workflowId = await api.createWorkflow(await api.createProject(), data);
    return { workflowId, runId: (await api.run(workflowId, input)).data.id };
  }

  for (const execution of ['visible', 'dense']) {
    it(`waits as long as it says, shows until when, and goes on (${execution})`, async () => {
      const [begin, pause] = [trigger(), waits({ mode: 'duration', seconds: '{{ input.seconds }}' })];
      const [before, after] = [http(`${target.url}/before-${execution}`), http(`${target.url}/after-${execution}`)];
      const data = { ...drawing(linkInRow([begin, before, pause, after])), settings: { execution } };
      const { runId } = await start(data, { seconds: 5 });
      const { status, waiting, started_at: startedAt } = await untilWaiting(api, runId, pause.id);
      assert.equal(status, 'in progress');
      assert.equal(waiting!.for, 'time');
      const lasts = Date.parse(waiting!.until!) - Date.parse(startedAt!);
      assert.ok(lasts > 4_000 && lasts < 50_000, `${lasts} ms`);
      const end = await api.pollToEnd(runId);
      assert.equal(end.data.status, 'succeed', JSON.stringify(end));
      const entry = end.data.data![pause.id]!;
      assert.deepEqual(entry.result, { content: waiting!.until });
      assert.ok(entry.finished_at! >= waiting!.until!, `${entry.finished_at} is before ${waiting!.until}`);
      assert.ok(!('waiting' in entry));
      const [called] = target.requestsTo(`/after-${execution}`);
      assert.ok(called!.receivedAt >= Date.parse(waiting!.until!));
      assert.equal((await transactionsOf(stack, runId)).length, 4, 'one for each node');
    });
  }

  it('waits until a moment; one that has passed ends at once', async () => {
    const moment = new Date(Date.now() + 2_500).toISOString();
    const [begin, past] = [trigger(), waits({ mode: 'until', until: '2020-01-01' })];
    const future = waits({ mode: 'until', until: '{{ input.moment }}' });
    const run = await api.runToEnd(drawing(linkInRow([begin, past, future])), { moment });
    assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
    assert.ok(Date.parse(run.nodes[past.id]!.result!.content) <= Date.parse(moment));
    assert.equal(run.nodes[future.id]!.result!.content, moment);
    assert.ok(run.nodes[future.id]!.finished_at! >= moment);
  });

  it('fails with invalid_wait where its variables give no such time; on_error counts', async () => {
    for (const [data, input] of [
      [{ mode: 'duration', seconds: '{{ input.v }}' }, -1],
      [{ mode: 'duration', seconds: '{{ input.v }}' }, 2_592_001],
      [{ mode: 'duration', seconds: '{{ input.v }}' }, 'soon'],
      [{ mode: 'until', until: '{{ input.v }}' }, 'tomorrow'],
    ] as const) {
      const [begin, pause, after] = [
        trigger(),
        waits({ ...data, on_error: 'continue' }),
        http(`${target.url}/invalid`),
      ];
      const run = await api.runToEnd(drawing(linkInRow([begin, pause, after])), { v: input });
      assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
      const { status, error, handled } = run.nodes[pause.id]!;
      assert.deepEqual([status, error!.code, handled], ['failed', 'invalid_wait', true]);
    }
    const [begin, pause] = [trigger(), waits({ seconds: '{{ input.v }}' })];
    const failed = await api.runToEnd(drawing(linkInRow([begin, pause])), { v: -1 });
    assert.deepEqual([failed.status, failed.nodes[pause.id]!.error!.code], ['failed', 'invalid_wait']);
  });

  it('is a 422 where what is written in it is no such wait', async () => {
    for (const data of [{ seconds: -1 }, { seconds: 2_592_001 }, { mode: 'until', until: 'soon' }, {}]) {
      const [begin, pause] = [trigger(), waits(data)];
      const workflowId = await api.createWorkflow(await api.createProject(), drawing(linkInRow([begin, pause])));
      assert.equal((await api.run(workflowId)).status, 422, JSON.stringify(data));
    }
  });

  for (const execution of ['visible', 'dense']) {
    it(`goes on with the body of its callback, as text and as JSON (${execution})`, async () => {
      const path = `/callback-${execution}`;
      const [begin, pause] = [trigger(), waits({ mode: 'callback', timeout: 600 })];
      const tell = http(`${target.url}${path}`, {
        method: 'POST',
        body: { url: `{{ ${pause.id}.callback_url }}` },
      });
      const after = http(`${target.url}${path}-after`, {
        method: 'POST',
        body: { text: resultOf(pause), field: resultOf(pause, 'json.paid') },
      });
      const data = { ...drawing(linkInRow([begin, tell, pause, after])), settings: { execution } };
      const { runId } = await start(data);
      const { waiting } = await untilWaiting(api, runId, pause.id);
      assert.equal(waiting!.for, 'callback');
      const [told] = target.requestsTo(path);
      const { url } = JSON.parse(told!.body) as { url: string };
      assert.equal(waiting!.callback_url, url, 'the same address before the wait and during it');
      assert.ok(url.startsWith(`${stack.apiUrl}/api/v1/callbacks/`), url);
      assert.deepEqual(await callBack(url, '{"paid":"yes"}'), { status: 200, accepted: true });
      const end = await api.pollToEnd(runId);
      assert.equal(end.data.status, 'succeed', JSON.stringify(end));
      assert.deepEqual(end.data.data![pause.id]!.result, { content: '{"paid":"yes"}', json: { paid: 'yes' } });
      const [called] = target.requestsTo(`${path}-after`);
      assert.deepEqual(JSON.parse(called!.body), { text: '{"paid":"yes"}', field: 'yes' });
      const token = url.split('/').at(-2)!;
      const history = await historyOf(stack, runId);
      assert.ok(
        !history.some(({ text }) => text.includes(token) || text.includes('"paid"')),
        'nothing of it in Temporal',
      );
      assert.ok(!stack.logs().includes(token), 'nor in the logs');
    });
  }

  it('takes a callback that comes before it waits, and ends at once', async () => {
    const [begin, pause] = [trigger(), waits({ mode: 'callback' })];
    const tell = http(`${target.url}/early`, { method: 'POST', body: { url: `{{ ${pause.id}.callback_url }}` } });
    const slow = http(`${target.url}/hold/early`);
    const { runId } = await start(drawing(linkInRow([begin, tell, slow, pause])));
    const told = await eventually(() => target.requestsTo('/early')[0]);
    const { url } = JSON.parse(told.body) as { url: string };
    assert.deepEqual(await callBack(url, 'early'), { status: 200, accepted: true });
    assert.deepEqual(await callBack(url, 'twice'), { status: 200, accepted: false });
    target.release('/hold/early');
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.status, 'succeed', JSON.stringify(end));
    assert.deepEqual(end.data.data![pause.id]!.result, { content: 'early' });
  });

  describe('whose callback does not come', () => {
    it('is left by timeout_node: failed, handled, and the run goes on', async () => {
      for (const isDrawn of [false, true]) {
        const [begin, never, instead] = [trigger(), http(`${target.url}/never`), http(`${target.url}/instead`)];
        const told = `/timed-out-${isDrawn}`;
        const named = isDrawn ? {} : { timeout_node: instead.id };
        const pause = waits({ mode: 'callback', timeout: 1, ...named });
        const body = `{{ ${pause.id}.callback_url }}`;
        const tell = http(`${target.url}${told}`, { method: 'POST', body });
        link(begin, tell);
        link(tell, pause);
        link(pause, never);
        const drawn = drawing([begin, tell, pause, never, instead]);
        const edge = { id: 'e', source: pause.id, target: instead.id, sourceHandle: 'timeout' };
        const data = isDrawn ? { ...drawn, edges: [...drawn.edges, edge] } : drawn;
        const { runId } = await start(data);
        const end = await api.pollToEnd(runId);
        const url = target.requestsTo(told)[0]!.body;
        assert.equal(end.data.status, 'succeed', JSON.stringify(end));
        const { status, error, handled } = end.data.data![pause.id]!;
        assert.deepEqual([status, error!.code, handled], ['failed', 'wait_timeout', true]);
        assert.equal(end.data.data![instead.id]!.status, 'succeed');
        assert.equal(end.data.data![never.id], undefined);
        assert.equal((await callBack(url)).status, 410);
      }
    });

    it('fails the run without one, unless on_error says otherwise', async () => {
      const [begin, pause] = [trigger(), waits({ mode: 'callback', timeout: 1 })];
      const run = await api.runToEnd(drawing(linkInRow([begin, pause])));
      assert.equal(run.status, 'failed');
      const { error, handled } = run.nodes[pause.id]!;
      assert.deepEqual([error!.code, handled], ['wait_timeout', undefined]);
      const other = waits({ mode: 'callback', timeout: 1, on_error: 'continue' });
      const after = http(`${target.url}/after-timeout`);
      const goesOn = await api.runToEnd(drawing(linkInRow([trigger(), other, after])));
      assert.equal(goesOn.status, 'succeed');
      assert.equal(goesOn.nodes[other.id]!.handled, true);
    });
  });

  it('ends as cancelled with its run, whose callback is too late then', async () => {
    const [begin, pause] = [trigger(), waits({ mode: 'callback' })];
    const { runId, workflowId } = await start(drawing(linkInRow([begin, pause])));
    const url = await callbackUrlOf(api, runId, pause.id);
    assert.equal((await api.post(`/workflows/${workflowId}/history/${runId}/cancel/`)).status, 200);
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.data![pause.id]!.error!.code, 'cancelled');
    assert.equal((await callBack(url)).status, 410);
  });

  it('holds no slot: others go on while more of them wait than may be in flight', async () => {
    // The waits for a time are over long after the test, and those for a callback when the test calls back.
    for (const data of [{ mode: 'duration', seconds: 600 }, { mode: 'callback' }]) {
      const begin = trigger();
      const pauses = Array.from({ length: 40 }, () => waits(data));
      const pathOf = (index: number): string => `/beside-${data.mode}-${index}`;
      const beside = linkInRow(Array.from({ length: 3 }, (_, index) => http(`${target.url}${pathOf(index)}`)));
      link(begin, [...pauses, beside[0]!]);
      const { runId, workflowId } = await start(drawing([begin, ...pauses, ...beside]));
      await eventually(() => target.requestsTo(pathOf(2)).length === 1);
      for (const { id } of pauses) await untilWaiting(api, runId, id);
      if (data.mode === 'duration') {
        assert.equal((await api.post(`/workflows/${workflowId}/history/${runId}/cancel/`)).status, 200);
        await api.pollToEnd(runId);
        continue;
      }
      for (const { id } of pauses)
        assert.equal((await callBack(await callbackUrlOf(api, runId, id), 'ok')).status, 200);
      const end = await api.pollToEnd(runId);
      assert.equal(end.data.status, 'succeed', JSON.stringify(end));
      const waited = Object.values(end.data.data!).filter(({ result }) => result?.content === 'ok');
      assert.equal(waited.length, 40);
    }
  });
});
