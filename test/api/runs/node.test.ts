import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient, NodeEntry } from '../../../harness/client/api-client.js';
import {
  agent,
  chain,
  condition,
  drawing,
  http,
  linkInRow,
  llm,
  resultOf,
  trigger,
} from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { queryDatabase } from '../../support/inspect.js';
import { endedDaysAgo, openRetention } from '../../support/retention-round.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startToolServer } from '../../../harness/target/tool-server.js';
import { createAccount } from '../accounts.js';
import { NOT_FOUND } from '../bodies.js';

interface Attempt {
  number: number;
  started_at: string;
  finished_at: string | null;
  status: string;
  error: { code: string; message: string } | null;
}

interface NodeDetail extends NodeEntry {
  path: string;
  started_at: string | null;
  finished_at: string | null;
  queued_ms: number | null;
  attempts: Attempt[];
  input: Record<string, unknown> | null;
  input_missing?: string;
  transactions: { id: string; operation: string; amount: Record<string, string> }[];
}

describe('one node of a run', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let project: number;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    project = await api.createProject();
    target = await startHttpTarget();
  });
  after(() => target.close());

  const pathOf = (workflowId: number, runId: string, nodeId: string): string =>
    `/workflows/${workflowId}/history/${runId}/nodes/${encodeURIComponent(nodeId)}/`;
  const read = async (run: { workflowId: number; runId: string }, nodeId: string): Promise<NodeDetail> => {
    const { status, body } = await api.get<NodeDetail>(pathOf(run.workflowId, run.runId, nodeId));
    assert.equal(status, 200, JSON.stringify(body).slice(0, 500));
    return body;
  };
  const outcomes = ({ attempts }: NodeDetail) =>
    attempts.map(({ number, status, error }) => [number, status, error?.code ?? null]);

  it('has its entry of the poll, one attempt, its input, and its transaction as billing shows it', async () => {
    const call = http(`${target.url}/echo`, { method: 'POST', body: { who: '{{ input.name }}', all: '{{ input }}' } });
    const nodes = linkInRow([trigger(), call]);
    const run = await api.runToEnd(drawing(nodes), { name: 'Ada', n: 5 });
    const detail = await read(run, call.id);
    const { path, attempts, queued_ms: queuedMs, input, transactions, ...shown } = detail;
    const { started_at: from, finished_at: to, ...entry } = shown;
    const times = { started_at: from, finished_at: to };
    assert.deepEqual({ ...entry, ...times }, { ...run.nodes[call.id], ...times });
    assert.equal(path, '');
    assert.deepEqual(attempts, [{ number: 1, started_at: from, finished_at: to, status: 'succeed', error: null }]);
    assert.ok(new Date(from!).getTime() <= new Date(to!).getTime());
    assert.ok(queuedMs !== null && queuedMs >= 0 && queuedMs < 60_000, `${queuedMs}`);
    const { url, method, body, label } = input!;
    assert.deepEqual([url, method, label], [`${target.url}/echo`, 'POST', 'http']);
    assert.deepEqual(body, { who: 'Ada', all: { name: 'Ada', n: 5 } });
    const billed = await api.get<{ items: { id: string; operation: string }[] }>(
      `/billing-history/workflowrun/${run.runId}/?size=100`,
    );
    assert.deepEqual(
      transactions,
      billed.body.items.filter(({ operation }) => operation === 'http'),
    );
  });

  it('of a node that is executed where the run decides has waited in no queue', async () => {
    const nodes = linkInRow([trigger([{ id: 'a' }]), condition('{{ input.a }}', '==', '1')]);
    const run = await api.runToEnd(drawing(nodes), { a: 1 });
    for (const { id } of nodes) {
      const detail = await read(run, id);
      assert.deepEqual([detail.queued_ms, outcomes(detail)], [0, [[1, 'succeed', null]]]);
    }
    const { input } = await read(run, nodes[1]!.id);
    assert.deepEqual(input!['condition'], { left: '1', operator: '==', right: '1' });
  });

  it('shows each attempt of a call that was retried, with its own times and its own error', async () => {
    target.on('/shaky', [{ status: 503, body: 'not now' }, { status: 502 }, { body: 'fine' }]);
    const call = http(`${target.url}/shaky`);
    const run = await api.runToEnd(drawing(linkInRow([trigger(), call])));
    const detail = await read(run, call.id);
    assert.deepEqual(outcomes(detail), [
      [1, 'failed', 'http_status'],
      [2, 'failed', 'http_status'],
      [3, 'succeed', null],
    ]);
    assert.match(detail.attempts[0]!.error!.message, /503: not now/);
    const times = detail.attempts.flatMap((attempt) => [attempt.started_at, attempt.finished_at!]);
    assert.deepEqual(times, times.toSorted());
    assert.equal(detail.started_at, detail.attempts[0]!.started_at);
    assert.equal(detail.finished_at, detail.attempts[2]!.finished_at);
  });

  it('has the same fields if it shared an activity with other nodes', async () => {
    target.on('/dense-shaky', [{ status: 503 }, { body: 'fine' }]);
    const calls = [http(`${target.url}/one`), http(`${target.url}/dense-shaky`)];
    const nodes = linkInRow([trigger(), ...calls, condition(1, '==', 1)]);
    const run = await api.runToEnd({ ...drawing(nodes), settings: { execution: 'dense' } });
    const found = await Promise.all(nodes.map(({ id }) => read(run, id)));
    assert.deepEqual(
      found.map(({ attempts }) => attempts.map(({ status }) => status)),
      [['succeed'], ['succeed'], ['failed', 'succeed'], ['succeed']],
    );
    for (const { queued_ms: queuedMs } of found) assert.ok(queuedMs !== null && queuedMs >= 0 && queuedMs < 10_000);
  });

  it('while it waits to be attempted again has no attempt in progress', async () => {
    target.on('/later', [{ status: 503, headers: { 'retry-after': '5' } }, { body: 'fine' }]);
    const call = http(`${target.url}/later`);
    const workflowId = await api.createWorkflow(project, drawing(linkInRow([trigger(), call])));
    const runId = (await api.run(workflowId)).data.id;
    const waiting = await eventually(async () => {
      const { status, body } = await api.get<NodeDetail>(pathOf(workflowId, runId, call.id));
      return status === 200 && body.attempts[0]?.status === 'failed' && body;
    });
    assert.deepEqual([waiting.status, waiting.finished_at], ['in progress', null]);
    assert.deepEqual(outcomes(waiting), [[1, 'failed', 'http_status']]);
    await api.pollToEnd(runId);
    assert.deepEqual(outcomes(await read({ workflowId, runId }, call.id)).length, 2);
  });

  it('of an agent counts as attempts only what had to be repeated, not its steps', async () => {
    const tools = await startToolServer();
    try {
      const model = `node-${randomUUID()}`;
      const toolCalls = [{ name: 'add', arguments: { a: 1, b: 2 } }];
      stack.modelProvider.script(model, [{ toolCalls }, { status: 503 }, { toolCalls }, { text: 'done' }]);
      const server = { endpoint_url: tools.url, require_approval: 'never' };
      const helper = agent('Add for {{ input.name }}', { model_name: model }, [server]);
      const run = await api.runToEnd(drawing(linkInRow([trigger(), helper])), { name: 'Ada' });
      const detail = await read(run, helper.id);
      assert.deepEqual(
        detail.attempts.map(({ number, status }) => [number, status]),
        [
          [1, 'failed'],
          [2, 'succeed'],
        ],
      );
      assert.deepEqual(detail.input!['messages'], [{ role: 'user', message: 'Add for Ada' }]);
    } finally {
      await tools.close();
    }
  });

  it('masks every secret of the input, however short, and what came back of it in any result', async () => {
    const [long, short] = [`canary-${randomUUID()}`, 'p1'];
    const start = trigger([
      { id: 'long', is_secret: true },
      { id: 'pin', is_secret: true },
    ]);
    const first = http(`${target.url}/echo`, {
      method: 'POST',
      headers: { authorization: 'Bearer {{ input.long }}' },
      body: { token: '{{ input.long }}', pin: '{{ input.pin }}', again: `{{ ${start.id}.result.pin }}` },
    });
    const second = http(`${target.url}/echo?said=1`, { method: 'POST', body: { said: resultOf(first) } });
    const run = await api.runToEnd(drawing(linkInRow([start, first, second])), { long, pin: short });
    assert.equal(JSON.parse(target.requestsTo('/echo').find(({ body }) => body.includes(long))!.body).pin, short);
    const given = (await read(run, first.id)).input!;
    assert.deepEqual(given['body'], { token: '********', pin: '********', again: '********' });
    assert.deepEqual(given['headers'], { authorization: 'Bearer ********' });
    const { input } = await read(run, second.id);
    const { said } = input!['body'] as { said: string };
    assert.ok(said.includes('********') && !JSON.stringify(input).includes(long), said);
  });

  it('is rendered from what had ended when the node began: what a concurrent node put out was not there', async () => {
    const start = trigger();
    target.on('/slow', { body: 'at last', after: ['/beside-slow'] });
    const slow = http(`${target.url}/slow`);
    const quick = http(`${target.url}/beside-slow`, { method: 'POST', body: { of: resultOf(slow) } });
    start.data.next_nodes = [slow.id, quick.id];
    const run = await api.runToEnd(drawing([start, slow, quick]));
    assert.deepEqual((await read(run, quick.id)).input!['body'], { of: '' });
  });

  it('leaves out a result that is too large, says so, and shows the rest of the input', async () => {
    const large = http(`${target.url}/bytes/1500000`);
    const call = http(`${target.url}/echo`, { method: 'POST', body: { n: 1, large: resultOf(large) } });
    const run = await api.runToEnd(drawing(linkInRow([trigger(), large, call])));
    const { body } = (await read(run, call.id)).input! as { body: { n: number; large: string } };
    assert.equal(body.n, 1);
    assert.match(body.large, /^\[not shown: a result of 15\d+ bytes\]$/);
    const whole = await read(run, large.id);
    assert.equal(whole.result!.content.length, 1_500_000, 'its result stands whole, as in the poll');
  });

  it('has no input where that is too large in all', async () => {
    const text = http(`${target.url}/bytes/600000`);
    const call = http(`${target.url}/echo`, { method: 'POST', body: [resultOf(text), resultOf(text)] });
    const run = await api.runToEnd(drawing(linkInRow([trigger(), text, call])));
    const { status, input, input_missing: why } = await read(run, call.id);
    assert.deepEqual([status, input, why], ['succeed', null, 'too_large']);
  });

  it('has its input while it is in flight', async () => {
    const call = http(`${target.url}/hold/flight`, { headers: { a: '{{ input.a }}' } });
    const workflowId = await api.createWorkflow(project, drawing(linkInRow([trigger(), call])));
    const runId = (await api.run(workflowId, { a: 'b' })).data.id;
    const detail = await eventually(async () => {
      const { status, body } = await api.get<NodeDetail>(pathOf(workflowId, runId, call.id));
      return status === 200 && body.attempts.length > 0 && body;
    });
    assert.deepEqual([detail.status, detail.finished_at], ['in progress', null]);
    assert.deepEqual(detail.input!['headers'], { a: 'b' });
    target.release('/hold/flight');
    await api.pollToEnd(runId);
  });

  it('of a draft has the errors of the validation, and nothing that would need an execution', async () => {
    const broken = llm('');
    const workflowId = await api.createWorkflow(
      project,
      chain(2, () => broken),
    );
    const runId = (await api.run(workflowId)).data.id;
    const { body } = await api.get<NodeDetail>(pathOf(workflowId, runId, broken.id));
    assert.deepEqual(body.result, (await api.poll(runId)).data.data![broken.id]!.result);
    assert.deepEqual(
      [body.status, body.attempts, body.input, body.input_missing, body.queued_ms],
      ['failed', [], null, 'not_started', null],
    );
  });

  it('whose contents have expired keeps how it ended; input, result and earlier attempts are gone', async () => {
    target.on('/expires', [{ status: 503, body: 'word-to-expire' }, { body: 'word-to-expire' }]);
    const call = http(`${target.url}/expires`);
    const run = await api.runToEnd(drawing(linkInRow([trigger(), call])));
    assert.equal((await read(run, call.id)).attempts.length, 2);
    await endedDaysAgo(stack, 31, run.runId);
    const retention = openRetention(stack);
    const rows = () => queryDatabase(stack, 'SELECT * FROM node_attempts WHERE run_id = $1', [run.runId]);
    try {
      for (const round of [async () => undefined, () => retention.round()]) {
        await round();
        const detail = await read(run, call.id);
        assert.ok(!JSON.stringify(detail).includes('word-to-expire'));
        assert.deepEqual([detail.status, detail.input, detail.input_missing], ['succeed', null, 'expired']);
        assert.deepEqual(outcomes(detail), [[2, 'succeed', null]]);
        assert.equal(detail.transactions.length, 1);
      }
      assert.deepEqual(await rows(), []);
    } finally {
      await retention.close();
    }
  });

  it('is a 404 where the poll does not list it, for other runs and workflows, and for strangers', async () => {
    const [no, never] = [condition('1', '==', '2'), http(`${target.url}/never`)];
    const start = trigger();
    linkInRow([start, no]);
    no.data.true_node = never.id;
    const run = await api.runToEnd(drawing([start, no, never]));
    const other = await api.runToEnd(chain(1));
    const stranger = await createAccount(stack);
    const asked: [ApiClient, string][] = [
      [api, pathOf(run.workflowId, run.runId, never.id)],
      [api, pathOf(run.workflowId, run.runId, randomUUID())],
      [api, pathOf(run.workflowId, run.runId, 'a/b\u0000')],
      [api, pathOf(run.workflowId, run.runId, 'x'.repeat(5_000))],
      [api, pathOf(run.workflowId, run.runId, '__proto__')],
      [api, pathOf(run.workflowId, randomUUID(), start.id)],
      [api, pathOf(run.workflowId, 'no-run', start.id)],
      [api, pathOf(run.workflowId, other.runId, start.id)],
      [api, pathOf(other.workflowId, run.runId, start.id)],
      [stranger.api, pathOf(run.workflowId, run.runId, start.id)],
      [api, `${pathOf(run.workflowId, run.runId, start.id)}?path=${start.id}[0]`],
    ];
    for (const [by, path] of asked) {
      const { status, body } = await by.get(path);
      assert.deepEqual([status, body], [404, NOT_FOUND], path.slice(0, 200));
    }
  });

  it('takes a path of the form of an iteration only', async () => {
    const run = await api.runToEnd(chain(1));
    const node = Object.keys(run.nodes)[0]!;
    const wrong = ['x', 'x[', 'x[-1]', 'x[01]', 'x[1]/', '[1]', 'x[1]y', 'x[1e3]', `${'x'.repeat(2_000)}[1]`, '%00'];
    for (const path of wrong) {
      const asked = `${pathOf(run.workflowId, run.runId, node)}?path=${path}`;
      const { status, body } = await api.get<{ path?: string[] }>(asked);
      assert.equal(status, 400, path.slice(0, 100));
      assert.equal(body.path?.length, 1);
    }
    assert.equal((await api.get(`${pathOf(run.workflowId, run.runId, node)}?path=`)).status, 200);
  });
});
