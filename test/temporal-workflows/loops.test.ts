import assert from 'node:assert/strict';
import { createApiClient, type ApiClient, type FinishedRun } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  agent,
  condition,
  drawing,
  http,
  link,
  node,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { transactionsOf } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { startToolServer } from '../../harness/target/tool-server.js';

interface LoopResult {
  content: string;
  items: unknown[];
  count: number;
  errors: { index: number; code: string; message: string }[];
  rounds: number;
  value: unknown;
}

interface Iterations {
  total: number;
  items: {
    path: string;
    index: number;
    status: string;
    nodes: Record<
      string,
      {
        status: string;
        iterations?: unknown;
        waiting?: { for: string };
        approval_requests?: { request_id: string; status: string; required: number }[];
      }
    >;
  }[];
}

describe('loops in a run', function () {
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

  const item = (of: DrawingNode, path = '') => `{{ ${of.id}.item${path} }}`;
  const set = (value: unknown, data = {}) => node('set', { value, ...data });
  const forEach = (items: unknown, body: DrawingNode, data = {}) =>
    node('for_each', { items, body_node: body.id, ...data });

  /** A trigger, the loop, and a node after it that puts out the loop's whole result. */
  function around(loop: DrawingNode, inside: DrawingNode[]): DrawingNode[] {
    const [start, last] = [trigger(), set(`{{ ${loop.id}.result }}`)];
    link(start, loop);
    link(loop, last);
    return [start, loop, ...inside, last];
  }

  async function runOf(nodes: DrawingNode[], settings = {}): Promise<FinishedRun> {
    return api.runToEnd({ ...drawing(nodes), settings }, {});
  }

  function resultOfLoop(run: FinishedRun, loop: DrawingNode): LoopResult {
    assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
    return run.nodes[loop.id]!.result as unknown as LoopResult;
  }

  async function iterationsOf(run: FinishedRun, loop: DrawingNode, query = ''): Promise<Iterations> {
    const path = `/workflows/${run.workflowId}/history/${run.runId}/iterations/?node=${loop.id}${query}`;
    const { status, body } = await api.get<Iterations>(path);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }

  it('outputs of 7 MB fit, and more than 10 MiB as JSON do not', async () => {
    const body = set('{{ input.text }}');
    const loop = forEach(
      Array.from({ length: 15 }, (_, index) => index),
      body,
      { on_error: 'continue', concurrency: 20 },
    );
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(around(loop, [body])));
    for (const [size, code] of [
      [500_000, undefined],
      [750_000, 'output_too_large'],
    ] as const) {
      const { data } = await api.run(workflowId, { text: 'x'.repeat(size) });
      const end = await api.pollToEnd(data.id, { timeoutMs: 60_000, intervalMs: 500 });
      assert.equal(end.data.data![loop.id]!.error?.code, code, String(size));
    }
  });

  it('iterations of a loop whose id holds brackets and slashes can be read', async () => {
    const inner = set('{{ a[0]/b].index }}');
    const loop = { ...forEach([7], inner), id: 'a[0]/b]' };
    loop.data = { ...loop.data, id: loop.id };
    const outer = { ...forEach([1], loop), id: 'x/y' };
    outer.data = { ...outer.data, id: outer.id };
    const run = await runOf(around(outer, [loop, inner]));
    assert.equal(run.status, 'succeed');
    const [first] = (await iterationsOf(run, outer)).items;
    assert.equal(first!.path, 'x%2Fy[0]');
    const { items } = await iterationsOf(run, loop, `&path=${encodeURIComponent('x%2Fy[0]')}`);
    assert.equal(items[0]!.path, 'x%2Fy[0]/a%5B0%5D%2Fb%5D[0]');
  });

  for (const execution of ['visible', 'dense']) {
    it(`runs the body for each item, and keeps their order (${execution})`, async () => {
      const url = `${target.url}/each-${execution}`;
      target.on(`/each-${execution}`, ({ body }) => ({ body, delayMs: 100 - 10 * Number(JSON.parse(body).index) }));
      const call = http(url, { method: 'POST' });
      const given = Array.from({ length: 10 }, (_, index) => ({ name: `n${index}` }));
      const each = forEach(given, call, { concurrency: 4 });
      call.data['body'] = { item: item(each), index: `{{ ${each.id}.index }}`, text: `<${item(each, '.name')}>` };
      const run = await runOf(around(each, [call]), { execution });
      const { items, count, errors, content } = resultOfLoop(run, each);
      assert.deepEqual(
        items,
        given.map((of, index) => ({ item: of, index, text: `<n${index}>` })),
      );
      assert.deepEqual([count, errors, JSON.parse(content)], [10, [], items]);
      const calls = target.requestsTo(`/each-${execution}`);
      assert.equal(calls.length, 10);
      assert.equal(new Set(calls.map(({ headers }) => headers['idempotency-key'])).size, 10);
      assert.equal(Object.keys(run.nodes).length, 3, 'nodes of the body are not in the map');
      assert.deepEqual(run.nodes[each.id]!.iterations, { total: 10, succeeded: 10, failed: 0, in_progress: 0 });
      const transactions = await transactionsOf(stack, run.runId);
      const paths = transactions.map(({ path }) => path).toSorted();
      assert.deepEqual(paths, ['', '', '', ...given.map((_, index) => `${each.id}[${index}]`)].toSorted());
    });
  }

  it('takes lists, objects and JSON as text, and nothing else', async () => {
    const cases: [items: unknown, outputs: unknown[] | string][] = [
      ['[1, "two", null]', [1, 'two', null]],
      [
        '```json\n{"a": 1, "b": {"c": 2}}\n```',
        [
          { key: 'a', value: 1 },
          { key: 'b', value: { c: 2 } },
        ],
      ],
      ['So:\n\n```json\n[1, 2]\n```\n\nThat is all.', [1, 2]],
      [{ only: '{{ input.x }}' }, [{ key: 'only', value: 'given' }]],
      ['[]', []],
      ['{{ input.x }}', 'not_a_list'],
      ['{{ input.nothing }}', 'not_a_list'],
      ['7', 'not_a_list'],
    ];
    for (const [items, expected] of cases) {
      const body = set('');
      const each = forEach(items, body);
      body.data['value'] = item(each);
      const run = await api.runToEnd(drawing(around(each, [body])), { x: 'given' });
      if (typeof expected === 'string') {
        const { code, message } = run.nodes[each.id]!.error!;
        assert.deepEqual([code, message], [expected, '`items` is neither a list nor an object.']);
      } else assert.deepEqual(resultOfLoop(run, each).items, expected);
    }
    const body = set('');
    const many = forEach([1, 2, 3], body, { max_items: 2 });
    assert.equal((await runOf(around(many, [body]))).nodes[many.id]!.error!.code, 'too_many_items');
  });

  it('fails, leaves null or leaves out where an item fails, as on_item_error says', async () => {
    const outcomes: Record<string, unknown> = {};
    for (const onItemError of ['fail', 'null', 'skip']) {
      const call = http('');
      const each = forEach([200, 418, 200, 404], call, { on_item_error: onItemError, concurrency: 1 });
      call.data['url'] = `${target.url}/status/${item(each)}/${onItemError}`;
      const after = set('after');
      link(call, after);
      const run = await runOf(around(each, [call, after]));
      const calls = target.requests.filter(({ path }) => path.endsWith(`/${onItemError}`)).length;
      const { error, iterations, result } = run.nodes[each.id]! as unknown as {
        error?: { code: string; message: string };
        iterations: object;
        result?: LoopResult;
      };
      const found = result && [result.items, result.count, result.errors.map(({ index, code }) => [index, code])];
      outcomes[onItemError] = [run.status, calls, error?.code ?? found, iterations];
      if (error !== undefined) assert.match(error.message, /^Iteration 1: .*418/);
      assert.equal((await transactionsOf(stack, run.runId)).length, onItemError === 'fail' ? 2 + 3 : 3 + 6);
    }
    const counts = { total: 4, succeeded: 2, failed: 2, in_progress: 0 };
    const errors = [
      [1, 'http_status'],
      [3, 'http_status'],
    ];
    assert.deepEqual(outcomes, {
      fail: ['failed', 2, 'http_status', { total: 4, succeeded: 1, failed: 1, in_progress: 0 }],
      null: ['succeed', 4, [['after', null, 'after', null], 4, errors], counts],
      skip: ['succeed', 4, [['after', 'after'], 4, errors], counts],
    });
  });

  it('stops the other items of a loop that fails, and goes on where the failure is caught', async () => {
    const call = http('');
    const each = forEach([1, 2, 3], call, { on_error: 'branch', concurrency: 3 });
    call.data['url'] = `{{ ${each.id}.index }}`;
    target.on('/stops', { status: 418, after: ['/delay/60000/a', '/delay/60000/b'] });
    const urls = [`${target.url}/stops`, `${target.url}/delay/60000/a`, `${target.url}/delay/60000/b`];
    each.data['items'] = urls;
    call.data['url'] = item(each);
    const rescue = set(`{{ ${each.id}.error.code }}: {{ ${each.id}.error.message }}`);
    each.data['error_node'] = rescue.id;
    const start = trigger();
    link(start, each);
    const run = await runOf([start, each, call, rescue]);
    assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
    assert.match(run.nodes[rescue.id]!.result!.content, /^http_status: Iteration 0: /);
    assert.equal((run.nodes[each.id] as { handled?: boolean }).handled, true);
    const { items } = await iterationsOf(run, each);
    assert.deepEqual(
      items.map(({ status, nodes }) => [status, nodes[call.id]!.status]),
      [
        ['failed', 'failed'],
        ['failed', 'failed'],
        ['failed', 'failed'],
      ],
    );
    assert.equal((await transactionsOf(stack, run.runId)).length, 1 + 1 + 3 + 1);
  });

  it('leaves out an item that fails while a loop beside the failing node begins', async () => {
    const [both, fails, leaf] = [set(''), condition('', 'matches', ''), set('')];
    // Storing this many items takes longer than finding the error.
    const many = Array.from({ length: 1_000 }, (_, index) => index);
    const inner = forEach(many, leaf);
    const outer = forEach(['('], both, { on_item_error: 'skip', output: 'kept' });
    fails.data['condition'] = { left: 'a', operator: 'matches', right: item(outer) };
    link(both, [fails, inner]);
    const { items, errors } = resultOfLoop(await runOf(around(outer, [both, fails, inner, leaf])), outer);
    assert.deepEqual([items, errors.map(({ code }) => code)], [[], ['invalid_pattern']]);
  });

  it('repeats until a condition holds, with the output of the round before', async () => {
    const add = set('');
    const loop = node('loop', { body_node: add.id, max_rounds: 20, output: `{{ ${add.id}.result.value }}` });
    add.data['value'] = `{{ ${loop.id}.last }}x`;
    loop.data['until'] = { left: `{{ ${loop.id}.last }}`, operator: '==', right: 'xxxx' };
    const run = await runOf(around(loop, [add]));
    const { content, rounds, value } = resultOfLoop(run, loop);
    assert.deepEqual([content, rounds, value], ['xxxx', 4, 'xxxx']);
    assert.deepEqual(run.nodes[loop.id]!.iterations, { total: 4, succeeded: 4, failed: 0, in_progress: 0 });
  });

  it('fails or goes on after the last round, as on_limit says', async () => {
    for (const onLimit of ['fail', 'continue']) {
      const body = set('');
      const until = { left: '1', operator: '==', right: '2' };
      const loop = node('loop', { body_node: body.id, until, max_rounds: 3, on_limit: onLimit });
      body.data['value'] = `{{ ${loop.id}.index }}`;
      const run = await runOf(around(loop, [body]));
      const { error, result } = run.nodes[loop.id]! as { error?: { code: string }; result?: { rounds?: number } };
      assert.deepEqual(
        [run.status, error?.code ?? result?.rounds],
        onLimit === 'fail' ? ['failed', 'too_many_rounds'] : ['succeed', 3],
      );
    }
  });

  it('shows the approvals of an agent in a body beside its iteration, as the poll does', async () => {
    const tools = await startToolServer();
    stack.modelProvider.script('asks-in-loop', ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { text: 'noted' }
        : { toolCalls: [{ name: 'note', arguments: { text: 'hi' } }] },
    );
    const asks = agent('Note it', { model_name: 'asks-in-loop' }, [{ endpoint_url: tools.url }]);
    const each = forEach([1, 2], asks);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(around(each, [asks])));
    const runId = (await api.run(workflowId, {})).data.id;
    const address = `/workflows/${workflowId}/history/${runId}/iterations/?node=${each.id}`;
    const waiting = await eventually(async () => {
      const entries = (await api.get<Iterations>(address)).body.items.map(({ nodes }) => nodes[asks.id]);
      return entries.length === 2 && entries.every((entry) => entry?.approval_requests?.length === 1) && entries;
    });
    for (const entry of waiting) {
      const [request] = entry!.approval_requests!;
      assert.deepEqual([request!.status, request!.required, entry!.waiting?.for], ['pending', 1, 'approval']);
      await api.post(`/workflows/workflow_run/${runId}/agent-approval/${request!.request_id}/approve/`);
    }
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    assert.equal(tools.callsOf('note').length, 2);
    const steps = `/workflows/${workflowId}/history/${runId}/nodes/${asks.id}/steps/?path=${each.id}[1]`;
    assert.equal((await api.get<{ total: number }>(steps)).body.total, 2);
    await tools.close();
  });

  it('nests: inner nodes read the items of all loops around them, and their iterations are listed by path', async () => {
    const leaf = set('');
    const inner = forEach('', leaf);
    const outer = forEach([{ rows: [1, 2] }, { rows: [] }, { rows: [3] }], inner);
    inner.data['items'] = item(outer, '.rows');
    const before = set('before');
    leaf.data['value'] = {
      at: `{{ ${outer.id}.index }}/{{ ${inner.id}.index }}`,
      row: item(inner),
      outside: resultOf(before),
      rows: item(outer, '.rows'),
    };
    const [start] = [trigger()];
    link(start, before);
    link(before, outer);
    const run = await runOf([start, before, outer, inner, leaf]);
    const row = (at: string, value: number, rows: number[]) => ({ at, row: value, outside: 'before', rows });
    assert.deepEqual(resultOfLoop(run, outer).items, [
      [row('0/0', 1, [1, 2]), row('0/1', 2, [1, 2])],
      [],
      [row('2/0', 3, [3])],
    ]);
    const listed = await iterationsOf(run, outer);
    assert.deepEqual(
      listed.items.map(({ path, index }) => [path, index]),
      [
        [`${outer.id}[0]`, 0],
        [`${outer.id}[1]`, 1],
        [`${outer.id}[2]`, 2],
      ],
    );
    assert.deepEqual(listed.items[0]!.nodes[inner.id]!.iterations, {
      total: 2,
      succeeded: 2,
      failed: 0,
      in_progress: 0,
    });
    const within = await iterationsOf(run, inner, `&path=${outer.id}[0]&size=1&page=2`);
    assert.deepEqual([within.total, within.items.map(({ path }) => path)], [2, [`${outer.id}[0]/${inner.id}[1]`]]);
    const one = `/workflows/${run.workflowId}/history/${run.runId}/nodes/${leaf.id}/?path=${outer.id}[2]/${inner.id}[0]`;
    const { body } = await api.get<{ input: { value: unknown }; transactions: unknown[] }>(one);
    assert.deepEqual([body.input.value, body.transactions.length], [row('2/0', 3, [3]), 1]);
  });

  it('has conditions, joins and caught failures in its body, each iteration for itself', async () => {
    const even = condition('', '==', '1');
    const each = forEach([1, 2, 1], even, { output: '' });
    even.data['condition'] = { left: item(each), operator: '==', right: '1' };
    const [one, other, join] = [
      http(`${target.url}/status/418/caught`, { on_error: 'continue' }),
      set('other'),
      set(''),
    ];
    even.data.true_node = one.id;
    even.data.false_node = other.id;
    link(one, join);
    link(other, join);
    join.data['value'] = `{{ ${one.id}.error.code }}{{ ${other.id}.result.content }}`;
    each.data['output'] = { joined: resultOf(join), of: item(each) };
    const run = await runOf(around(each, [even, one, other, join]));
    assert.deepEqual(resultOfLoop(run, each).items, [
      { joined: 'http_status', of: 1 },
      { joined: 'other', of: 2 },
      { joined: 'http_status', of: 1 },
    ]);
  });

  it('is cancelled with its run', async () => {
    const call = http(`${target.url}/delay/60000/cancelled`);
    const each = forEach([1, 2, 3], call);
    const id = await api.createWorkflow(await api.createProject(), drawing(around(each, [call])));
    const { data } = await api.run(id);
    await eventually(() => target.requestsTo('/delay/60000/cancelled').length === 3);
    const { body } = await api.post<{ status: string }>(`/workflows/${id}/history/${data.id}/cancel/`, {});
    assert.equal(body.status, 'Cancelled', JSON.stringify(body));
    const run = (await api.pollToEnd(data.id)).data;
    assert.equal(run.status, 'failed');
    assert.equal((await transactionsOf(stack, data.id)).length, 2 + 3);
  });
});
