// Tests resumed runs, which reuse the results of an earlier run (docs/use/resume.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient, Envelope } from '../../../../harness/client/api-client.js';
import { openEventStream } from '../../../support/event-stream.js';
import { eventually } from '../../../../harness/timing/eventually.js';
import {
  chain,
  drawing,
  http,
  link,
  linkInRow,
  llm,
  node,
  resultOf,
  trigger,
} from '../../../../harness/drawing/drawing.js';
import type { HttpTarget } from '../../../../harness/target/http-target.js';
import { queryDatabase, transactionsOf } from '../../../support/inspect.js';
import type { TestStack } from '../../../../harness/stack/stack.js';
import { createAccount, giveRole, type Account } from '../../accounts.js';
import { openResumeWorld, reusedOf, type EndedRun, type ResumeWorld } from './resume-world.js';

describe('resume', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let target: HttpTarget;
  let world: ResumeWorld;

  before(async () => {
    world = await openResumeWorld();
    ({ stack, account, api, target } = world);
  });
  after(() => world.close());

  /** Returns the address of the path, which answers the first request with 418 and all others with 200. */
  const failsOnce = (path: string): string => {
    target.on(path, [{ status: 418 }, { body: { mended: true } }]);
    return `${target.url}${path}`;
  };

  describe('a chain of ten whose eighth node fails once', () => {
    let nodes: ReturnType<typeof http>[];
    let failed: EndedRun;
    let resumed: EndedRun;

    before(async () => {
      const name = randomUUID();
      nodes = Array.from({ length: 10 }, (_, index) => http(`${target.url}/${name}/${index + 1}`));
      // The second and the ninth node call a model, which costs money.
      nodes[1] = llm('two');
      nodes[8] = llm(`nine {{ ${nodes[1].id}.result.content }}`);
      failsOnce(`/${name}/8`);
      failed = await world.runRow(nodes);
      assert.equal(failed.status, 'failed');
      resumed = await world.resumeToEnd(failed);
    });
    const pathOf = (index: number): string => new URL(String(nodes[index]!.data['url'])).pathname;

    it('calls the eighth, the ninth and the tenth, and nothing else', () => {
      assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
      const calls = nodes.map(({ data }, index) => (data['url'] === undefined ? 0 : world.callsTo(pathOf(index))));
      assert.deepEqual(calls, [1, 0, 1, 1, 1, 1, 1, 2, 0, 1]);
      const texts = stack.modelProvider.requests.map(({ body }) => JSON.stringify(body));
      assert.equal(texts.filter((text) => text.includes('"nine ')).length, 1);
    });

    it('shows the results of the others as reused, as they were', () => {
      const [start, ...kept] = [...reusedOf(resumed)];
      assert.deepEqual(new Set(kept), new Set(nodes.slice(0, 7).map(({ id }) => id)));
      for (const id of [start!, ...kept]) assert.deepEqual(resumed.nodes[id], { ...failed.nodes[id], reused: true });
    });

    it('costs what ran: reused results have no transaction and no call', async () => {
      const paid = await transactionsOf(stack, resumed.runId);
      assert.deepEqual(new Set(paid.map(({ node_id: id }) => id)), new Set(nodes.slice(7).map(({ id }) => id)));
      assert.equal(paid.length, 3);
      const own = (await api.history(resumed.workflowId, resumed.runId)).cost['USD'];
      const before = (await api.history(failed.workflowId, failed.runId)).cost['USD'];
      assert.ok(Number(own) > 0);
      assert.equal(own, before, 'each of the two runs has paid for one answer');
      const calls = 'SELECT node_id FROM provider_calls WHERE run_id = $1';
      const rows = await queryDatabase<{ node_id: string }>(stack, calls, [resumed.runId]);
      assert.deepEqual(rows, [{ node_id: nodes[8]!.id }]);
    });

    it('says in its history which run it resumes, and with which drawing', async () => {
      const run = await api.history(resumed.workflowId, resumed.runId);
      assert.equal(run['resumed_from'], failed.runId);
      assert.equal(run.status, 'Succeeded');
      assert.ok(Date.parse(String(run['run_started_at'])) >= Date.parse(run['created_at']));
      assert.ok(run.duration! >= 0);
      const { body } = await api.get<{ items: { id: string; resumed_from: string | null }[] }>(
        `/workflows/${resumed.workflowId}/history/`,
      );
      assert.deepEqual(
        body.items.map(({ id, resumed_from: from }) => [id, from]),
        [
          [resumed.runId, failed.runId],
          [failed.runId, null],
        ],
      );
      const light = await api.get<{ items: { resumed_from: string | null }[] }>(
        `/runs/?workflow=${resumed.workflowId}`,
      );
      assert.deepEqual(
        light.body.items.map(({ resumed_from: from }) => from),
        [failed.runId, null],
      );
    });

    it('the page of a reused node has its input and its result, and no attempt', async () => {
      const { body } = await api.get<Record<string, unknown>>(
        `/workflows/${resumed.workflowId}/history/${resumed.runId}/nodes/${nodes[2]!.id}/`,
      );
      assert.equal(body['reused'], true);
      assert.deepEqual([body['attempts'], body['transactions'], body['queued_ms']], [[], [], 0]);
      assert.deepEqual((body['input'] as { url: string }).url, nodes[2]!.data['url']);
      const ninth = await api.get<{ input: { messages: { message: string }[] } }>(
        `/workflows/${resumed.workflowId}/history/${resumed.runId}/nodes/${nodes[8]!.id}/`,
      );
      assert.notEqual(ninth.body.input.messages[0]!.message, 'nine ', 'what it was given came from a reused result');
    });

    it('its events tell of reused nodes, too, and its version counts them', async () => {
      const stream = await openEventStream(stack.apiUrl, account.apiKey, resumed.runId);
      await stream.ended;
      const reused = stream.events.filter(({ data }) => 'reused' in data);
      assert.deepEqual(new Set(reused.map(({ data }) => data.id)), reusedOf(resumed));
      assert.equal(reused.length, 8);
      const ids = stream.events.map(({ id }) => id);
      assert.deepEqual(
        ids,
        ids.toSorted((x, y) => x - y),
      );
      assert.equal(ids.at(-1), (await api.poll(resumed.runId)).data.version);
    });

    it('can be resumed from chosen nodes, with all that follow them', async () => {
      const again = await world.resumeToEnd(resumed, { from: [nodes[9]!.id] });
      assert.equal(again.status, 'succeed');
      assert.equal(reusedOf(again).size, 10);
      assert.equal(world.callsTo(pathOf(9)), 2);
      assert.equal(world.callsTo(pathOf(7)), 2);
      assert.equal((await api.history(again.workflowId, again.runId)).cost['USD'], '0');
    });

    it('from the trigger it runs as a whole', async () => {
      const start = (await api.history(failed.workflowId, failed.runId)) as unknown as { data: { start_node: string } };
      const whole = await world.resumeToEnd(failed, { from: [start.data.start_node] });
      assert.equal(whole.status, 'succeed');
      assert.equal(reusedOf(whole).size, 0);
      assert.equal(world.callsTo(pathOf(0)), 2);
    });
  });

  it('keeps the output of an output node, and the input with its secrets', async () => {
    const secret = `canary-${randomUUID()}`;
    const path = `/${randomUUID()}`;
    const start = trigger([{ id: 'token', is_secret: true }]);
    const output = node('output', { value: { of: '{{ input.token }}' } });
    const call = http(failsOnce(path), { headers: { 'X-Token': resultOf(output, 'value.of') } });
    const failed = await world.runToEnd(drawing(linkInRow([start, output, call])), { token: secret });
    assert.equal(failed.status, 'failed');
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.deepEqual(resumed.output, { of: '********' });
    assert.equal(target.requestsTo(path).at(-1)?.headers['x-token'], secret);
    assert.ok(!JSON.stringify(await api.history(resumed.workflowId, resumed.runId)).includes(secret));
  });

  it('with Prefer: wait the answer has the results; a repeated request with its key starts nothing', async () => {
    const failed = await world.runRow([http(failsOnce(`/${randomUUID()}`))]);
    const headers = { prefer: 'wait=30', 'idempotency-key': randomUUID() };
    const first = await world.resume(failed, { body: {}, headers });
    assert.equal(first.status, 201);
    assert.equal(first.headers.get('preference-applied'), 'wait=30');
    assert.equal(first.body.data.status, 'succeed');
    const again = await world.resume(failed, { body: {}, headers });
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(again.body.data.id, first.body.data.id);
    const other = await world.resume<{ code: string }>(failed, { body: { drawing: 'now' }, headers });
    assert.deepEqual([other.status, other.body.code], [400, 'idempotency_mismatch']);
    const count = 'SELECT count(*) AS runs FROM runs WHERE resumed_from = $1';
    const [row] = await queryDatabase<{ runs: string }>(stack, count, [failed.runId]);
    assert.equal(Number(row!.runs), 1);
  });

  it('two requests at once with one key start one run', async () => {
    const failed = await world.runRow([http(failsOnce(`/${randomUUID()}`))]);
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all([1, 2, 3].map(() => world.resume(failed, { body: {}, headers })));
    assert.deepEqual(new Set(answers.map(({ body }) => body.data.id)).size, 1);
    await api.pollToEnd(answers[0]!.body.data.id);
  });

  /** Simulates a worker that died while the call of the failed node was in flight. */
  const loseOutcome = (runId: string): Promise<unknown> =>
    queryDatabase(
      stack,
      `UPDATE node_results SET error_code = 'outcome_unknown' WHERE run_id = $1 AND status = 'failed'`,
      [runId],
    );

  describe('400', () => {
    it('run_open while the run goes on', async () => {
      const workflowId = await world.workflowOf(drawing(linkInRow([trigger(), http(`${target.url}/hold/open`)])));
      const { data } = await api.run(workflowId);
      assert.equal(await world.refusalOf({ workflowId, runId: data.id }), 'run_open');
      target.release('/hold/open');
    });

    it('nothing_left where every node has its result', async () => {
      const done = await world.runToEnd(chain(3));
      assert.equal(await world.refusalOf(done), 'nothing_left');
      assert.equal(await world.refusalOf(done, { from: [] }), 'nothing_left');
      assert.equal(await world.refusalOf(done, { drawing: 'now' }), 'nothing_left');
    });

    it('outcome_unknown unless that is accepted', async () => {
      const path = `/${randomUUID()}`;
      const failed = await world.runRow([http(failsOnce(path), { method: 'POST', body: { n: 1 } })]);
      await loseOutcome(failed.runId);
      assert.equal(await world.refusalOf(failed), 'outcome_unknown');
      assert.equal(world.callsTo(path), 1);
      const resumed = await world.resumeToEnd(failed, { accept_unknown: true });
      assert.equal(resumed.status, 'succeed');
      assert.equal(world.callsTo(path), 2);
    });

    it('unknown_node for a node in a body, and for one that the run never had', async () => {
      const inner = http(failsOnce(`/${randomUUID()}`));
      const each = node('for_each', { body_node: inner.id, items: [1] });
      const start = trigger();
      link(start, each);
      const failed = await world.runToEnd(drawing([start, each, inner]));
      for (const id of [inner.id, randomUUID()]) {
        assert.equal(await world.refusalOf(failed, { from: [id] }), 'unknown_node');
      }
    });

    it('run_expired when the results are gone', async () => {
      const failed = await world.runRow([http(failsOnce(`/${randomUUID()}`))]);
      await queryDatabase(stack, 'UPDATE runs SET results_expired_at = now() WHERE id = $1', [failed.runId]);
      assert.equal(await world.refusalOf(failed), 'run_expired');
    });

    it('run_refused for a draft, which never ran', async () => {
      const workflowId = await world.workflowOf(drawing(linkInRow([trigger(), http('')])));
      const { status, data } = await api.run(workflowId);
      assert.equal(status, 422);
      assert.equal(await world.refusalOf({ workflowId, runId: data.id }), 'run_refused');
    });

    it('fields that are not valid', async () => {
      const done = await world.runToEnd(chain(2));
      for (const body of [{ from: 'all' }, { from: [1] }, { drawing: 'later' }, { accept_unknown: 'yes' }]) {
        assert.equal((await world.resume(done, { body })).status, 400, JSON.stringify(body));
      }
    });
  });

  it('404 for an unknown run, a run of another workflow, and a deleted workflow; 403 for a viewer', async () => {
    const failed = await world.runRow([http(`${target.url}/status/418`)]);
    const other = await world.workflowOf(chain(1));
    assert.equal((await world.resume({ ...failed, runId: randomUUID() })).status, 404);
    assert.equal((await world.resume({ ...failed, workflowId: other })).status, 404);
    const viewer = await createAccount(stack);
    await giveRole(stack, viewer, world.project, 'viewer');
    const path = `/workflows/${failed.workflowId}/history/${failed.runId}/resume/`;
    assert.equal((await viewer.api.post(path, { body: {} })).status, 403);
    await api.delete(`/workflows/${failed.workflowId}/`);
    assert.equal((await world.resume(failed)).status, 404);
  });

  it('a cancelled run goes on with what was stopped', async () => {
    const [before, path] = [`/${randomUUID()}`, `/${randomUUID()}`];
    target.on(path, (request) => ({ body: request.path, delayMs: world.callsTo(path) === 1 ? 20_000 : 0 }));
    const nodes = [http(`${target.url}${before}`), http(`${target.url}${path}`)];
    const workflowId = await world.workflowOf(drawing(linkInRow([trigger(), ...nodes])));
    const { data } = await api.run(workflowId);
    await eventually(() => world.callsTo(path) === 1);
    await api.post(`/workflows/${workflowId}/history/${data.id}/cancel/`);
    await api.pollToEnd(data.id);
    const { body } = await world.resume({ workflowId, runId: data.id });
    const end: Envelope = await api.pollToEnd(body.data.id);
    assert.equal(end.data.status, 'succeed');
    assert.deepEqual([world.callsTo(before), world.callsTo(path)], [1, 2]);
  });
});
