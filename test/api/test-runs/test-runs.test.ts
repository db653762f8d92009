// Test runs of nodes in the editor (docs/use/test-runs.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient, Envelope, NodeEntry } from '../../../harness/client/api-client.js';
import {
  condition,
  drawing,
  http,
  link,
  linkInRow,
  node,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../../harness/drawing/drawing.js';
import { callBack, callbackUrlOf } from '../../support/waiting.js';
import { queryDatabase, transactionsOf } from '../../support/inspect.js';
import { openResumeWorld, type EndedRun, type ResumeWorld } from '../runs/resume/resume-world.js';

type Entry = NodeEntry & { reused?: true; mocked?: true; stale?: true; source?: string; handled?: true };

interface Tested {
  runId: string;
  status: string;
  nodes: Record<string, Entry>;
}

describe('test runs', function () {
  this.timeout(120_000);
  let world: ResumeWorld;
  let api: ApiClient;

  before(async () => {
    world = await openResumeWorld();
    ({ api } = world);
  });
  after(() => world.close());

  const path = (): string => `/${randomUUID()}`;
  const at = (where: string, data: Record<string, unknown> = {}): DrawingNode =>
    http(`${world.target.url}${where}`, data);

  const begin = <T = Envelope>(workflowId: number, body: object) =>
    api.post<T>(`/workflows/${workflowId}/test/`, { body });

  async function tryToEnd(workflowId: number, body: object): Promise<Tested> {
    const answer = await begin(workflowId, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    const { status, data } = (await api.pollToEnd(answer.body.data.id)).data;
    return { runId: answer.body.data.id, status, nodes: data ?? {} };
  }

  const pin = (workflowId: number, nodeId: string, body: object) =>
    api.put<Record<string, unknown>>(`/workflows/${workflowId}/pins/${nodeId}/`, { body });

  describe('of a chain', () => {
    const paths = [path(), path(), path()];
    let nodes: DrawingNode[];
    let whole: EndedRun;
    let workflowId: number;

    before(async () => {
      const [a, b, c] = paths.map((where) => at(where));
      b!.data['body'] = JSON.stringify({ said: resultOf(a!) });
      nodes = [a!, b!, c!];
      whole = await world.runRow(nodes, { word: 'hello' });
      ({ workflowId } = whole);
    });

    const calls = (): number[] => paths.map((where) => world.callsTo(where));

    it('execute one node alone, with the results of the newest run', async () => {
      const before = calls();
      const tested = await tryToEnd(workflowId, { mode: 'node', node: nodes[1]!.id });
      assert.equal(tested.status, 'succeed');
      assert.deepEqual(calls(), [before[0], before[1]! + 1, before[2]]);
      const [start] = Object.keys(tested.nodes).filter((id) => !nodes.some((each) => each.id === id));
      assert.deepEqual(Object.keys(tested.nodes).toSorted(), [start!, nodes[0]!.id, nodes[1]!.id].toSorted());
      const taken = tested.nodes[nodes[0]!.id]!;
      assert.deepEqual(
        [taken.reused, taken.source, taken.result],
        [true, whole.runId, whole.nodes[nodes[0]!.id]!.result],
      );
      assert.equal(tested.nodes[nodes[1]!.id]!.reused, undefined);
      assert.equal(tested.nodes[start!]!.source, whole.runId);
      const paid = await transactionsOf(world.stack, tested.runId);
      assert.deepEqual(
        paid.map(({ node_id: id }) => id),
        [nodes[1]!.id],
        'what was taken has no transaction',
      );
    });

    it('execute a node and what follows it', async () => {
      const before = calls();
      const tested = await tryToEnd(workflowId, { mode: 'from', node: nodes[1]!.id });
      assert.equal(tested.status, 'succeed');
      assert.deepEqual(calls(), [before[0], before[1]! + 1, before[2]! + 1]);
    });

    it('execute what a node needs, and take no result of runs for it', async () => {
      const before = calls();
      const tested = await tryToEnd(workflowId, { mode: 'up_to', node: nodes[1]!.id, input: { word: 'new' } });
      assert.equal(tested.status, 'succeed');
      assert.deepEqual(calls(), [before[0]! + 1, before[1]! + 1, before[2]]);
    });

    it('are in no list that does not ask for them, and change no figure', async () => {
      const listed = async (query: string) =>
        (
          await api.get<{ count?: number; items: { id: string; purpose: string }[] }>(
            `/workflows/${workflowId}/history/${query}`,
          )
        ).body;
      assert.deepEqual(
        (await listed('')).items.map(({ id }) => id),
        [whole.runId],
      );
      const tests = (await listed('?purpose=test')).items;
      assert.ok(tests.length >= 3);
      assert.ok(tests.every(({ purpose }) => purpose === 'test'));
      const all = await api.get<{ items: { id: string }[] }>(`/runs/?workflow=${workflowId}`);
      assert.deepEqual(
        all.body.items.map(({ id }) => id),
        [whole.runId],
      );
      const [figures] = await queryDatabase<{ run_count: number; recorded_count: number; last_run_id: string }>(
        world.stack,
        'SELECT run_count, recorded_count, last_run_id FROM workflow_statistics WHERE workflow_id = $1',
        [workflowId],
      );
      assert.deepEqual(figures, { run_count: 1, recorded_count: 1, last_run_id: whole.runId });
    });

    it('cannot be resumed, run again or marked', async () => {
      const { runId } = await tryToEnd(workflowId, { mode: 'node', node: nodes[2]!.id });
      for (const [action, body] of [
        ['resume', {}],
        ['re-run', undefined],
        ['toggle-marketplace-example', { use_in_marketplace_example: true }],
      ] as const) {
        const answer = await api.post<{ code: string }>(`/workflows/${workflowId}/history/${runId}/${action}/`, {
          ...(body && { body }),
        });
        assert.deepEqual([answer.status, answer.body.code], [400, 'run_is_test'], action);
      }
    });

    it('say which results are missing once the node before has changed', async () => {
      const changed = structuredClone(nodes);
      changed[0]!.data['body'] = '{"another":true}';
      const data = drawing(linkInRow([trigger(), ...changed]));
      const refused = await begin<{ code: string; detail: string; missing: string[] }>(workflowId, {
        mode: 'node',
        node: nodes[1]!.id,
        drawing: data,
      });
      assert.equal(refused.status, 400, JSON.stringify(refused.body));
      assert.deepEqual([refused.body.code, refused.body.missing], ['results_missing', [nodes[0]!.id]]);
      assert.equal(refused.body.detail, 'The test reads results that do not exist: 1 node has none.');
      const mocks = { [nodes[0]!.id]: { content: 'said by a mock' } };
      const tested = await tryToEnd(workflowId, { mode: 'node', node: nodes[1]!.id, drawing: data, mocks });
      const { mocked, reused, source, result } = tested.nodes[nodes[0]!.id]!;
      assert.deepEqual([mocked, reused, source, result], [true, true, 'mock', { content: 'said by a mock' }]);
      assert.match(world.target.requestsTo(paths[1]!).at(-1)!.body, /said by a mock/);
      const run = await api.history(workflowId, tested.runId);
      assert.equal(run['workflow_version'], null);
    });
  });

  it('take pins, which no other run reads, and say when they are stale', async () => {
    const paths = [path(), path()];
    const [a, b] = [at(paths[0]!), at(paths[1]!)];
    b.data['body'] = JSON.stringify({ said: resultOf(a) });
    const data = drawing(linkInRow([trigger(), a, b]));
    const workflowId = await world.workflowOf(data);
    const pinned = await pin(workflowId, a.id, { result: { content: 'pinned' } });
    assert.equal(pinned.status, 200, JSON.stringify(pinned.body));
    assert.deepEqual([pinned.body['result'], pinned.body['is_stale']], [{ content: 'pinned' }, false]);
    const tested = await tryToEnd(workflowId, { mode: 'up_to', node: b.id });
    assert.deepEqual([world.callsTo(paths[0]!), world.callsTo(paths[1]!)], [0, 1]);
    assert.deepEqual([tested.nodes[a.id]!.source, tested.nodes[a.id]!.stale], ['pin', undefined]);

    const { data: started } = await api.run(workflowId, {});
    await api.pollToEnd(started.id);
    assert.equal(world.callsTo(paths[0]!), 1, 'a run executes it');
    assert.doesNotMatch(world.target.requestsTo(paths[1]!).at(-1)!.body, /pinned/);

    a.data['body'] = '{"changed":true}';
    const saved = await api.patch(`/workflows/${workflowId}/`, { body: { data } });
    assert.equal(saved.status, 200);
    const [listed] = (await api.get<{ is_stale: boolean }[]>(`/workflows/${workflowId}/pins/`)).body;
    assert.equal(listed!.is_stale, true);
    const stale = await tryToEnd(workflowId, { mode: 'node', node: b.id });
    assert.deepEqual([stale.nodes[a.id]!.source, stale.nodes[a.id]!.stale], ['pin', true]);
    const own = await tryToEnd(workflowId, { mode: 'node', node: a.id });
    assert.equal(own.nodes[a.id]!.source, undefined, 'a pin never stands for the node that is tried');
  });

  it('mask what was secret when a node was pinned, even if the drawing has no secret later', async () => {
    const secret = 'very-secret-token';
    const echo = node('set', { value: '{{ input.token }}' });
    const output = node('output', { value: resultOf(echo) });
    const dataOf = (fields: Record<string, unknown>[]) => drawing(linkInRow([trigger(fields), echo, output]));
    const whole = await world.runToEnd(dataOf([{ id: 'token', type: 'text', is_secret: true }]), { token: secret });
    const pinned = await pin(whole.workflowId, echo.id, { from_run: whole.runId });
    assert.equal(pinned.status, 200, JSON.stringify(pinned.body));
    await api.patch(`/workflows/${whole.workflowId}/`, { body: { data: dataOf([]) } });
    const tested = await tryToEnd(whole.workflowId, { mode: 'node', node: output.id, input: {} });
    assert.deepEqual([tested.status, tested.nodes[echo.id]!.source], ['succeed', 'pin']);
    assert.match(JSON.stringify(tested.nodes), /\*{8}/);
    assert.ok(!JSON.stringify(tested.nodes).includes(secret), JSON.stringify(tested.nodes));
  });

  it('mask the secrets of the run whose results they take, although their own input has another secret', async () => {
    const [then, now] = ['very-secret-token', 'another-secret-token'];
    const echo = node('set', { value: '{{ input.token }}' });
    const output = node('output', { value: resultOf(echo) });
    const fields = [{ id: 'token', type: 'text', is_secret: true }];
    const whole = await world.runToEnd(drawing(linkInRow([trigger(fields), echo, output])), { token: then });
    const tested = await tryToEnd(whole.workflowId, { mode: 'node', node: output.id, input: { token: now } });
    assert.deepEqual([tested.status, tested.nodes[echo.id]!.source], ['succeed', whole.runId]);
    assert.match(JSON.stringify(tested.nodes[output.id]), /\*{8}/);
    assert.ok(!JSON.stringify(tested.nodes).includes(then), JSON.stringify(tested.nodes));
  });

  it('leave a pinned node by the branch that its content names in the tested drawing', async () => {
    const [yes, no] = [path(), path()];
    const asks = condition('a', '==', 'b');
    const [left, right] = [at(yes), at(no)];
    const start = trigger();
    const workflowId = await world.workflowOf(drawing([start]));
    // When the pin is written, the node is not saved yet, so that nothing is known of its branches.
    assert.equal((await pin(workflowId, asks.id, { result: { content: 'true' } })).status, 200);
    link(start, asks);
    link(asks, left, 'true');
    link(asks, right, 'false');
    const data = drawing([start, asks, left, right]);
    assert.equal((await api.patch(`/workflows/${workflowId}/`, { body: { data } })).status, 200);
    const tested = await tryToEnd(workflowId, { mode: 'up_to', node: left.id });
    assert.deepEqual([tested.status, tested.nodes[asks.id]!.source], ['succeed', 'pin']);
    assert.deepEqual([world.callsTo(yes), world.callsTo(no)], [1, 0]);
  });

  it('refuse the pins of a workflow beyond 8 MiB', async () => {
    const workflowId = await world.workflowOf(drawing(linkInRow([trigger(), at(path())])));
    const result = { content: 'x'.repeat(1_000_000) };
    for (let index = 0; index < 8; index += 1) {
      assert.equal((await pin(workflowId, `node ${index}`, { result })).status, 200);
    }
    const refused = await pin(workflowId, 'one more', { result });
    assert.deepEqual([refused.status, refused.body['code']], [413, 'too_large']);
    assert.equal((await pin(workflowId, 'node 0', { result })).status, 200, 'a pin takes the place of the earlier one');
    const listed = (await api.get<{ node_id: string }[]>(`/workflows/${workflowId}/pins/`)).body;
    assert.deepEqual(
      listed.map(({ node_id: id }) => id),
      Array.from({ length: 8 }, (_, index) => `node ${index}`),
    );
  });

  it('refuse an invalid pin by its field', async () => {
    const workflowId = await world.workflowOf(drawing(linkInRow([trigger(), at(path())])));
    for (const [body, field] of [
      [{ result: null }, 'result'],
      [{ error: {} }, 'error'],
      [{ from_run: 5 }, 'from_run'],
      [{}, 'result'],
    ] as const) {
      const refused = await pin(workflowId, 'any', body);
      assert.deepEqual([refused.status, Object.keys(refused.body)], [400, [field]]);
    }
    const longest = `${'l'.repeat(1_597)}[0]`;
    for (const [place, status] of [
      [longest, 200],
      [`l${longest}`, 400],
      [`${'\u{1f600}'.repeat(400)}[0]`, 400],
      ['loop', 400],
    ] as const) {
      const address = `/workflows/${workflowId}/pins/any/?path=${encodeURIComponent(place)}`;
      const answer = await api.put<Record<string, unknown>>(address, { body: { result: { content: '' } } });
      assert.equal(answer.status, status, JSON.stringify(answer.body));
      if (status === 400) assert.deepEqual(Object.keys(answer.body), ['path']);
    }
  });

  describe('are sources for others', () => {
    let whole: EndedRun;
    const sourceOf = async (body: object, source: DrawingNode): Promise<string | undefined> => {
      const tested = await tryToEnd(whole.workflowId, body);
      assert.equal(tested.status, 'succeed', JSON.stringify(tested.nodes));
      return tested.nodes[source.id]!.source;
    };

    it('only with what they executed themselves, with nothing pinned or mocked before it', async () => {
      const [a, b, c] = [at(path()), at(path()), at(path())];
      b.data['body'] = JSON.stringify({ said: resultOf(a) });
      c.data['body'] = JSON.stringify({ said: resultOf(b) });
      whole = await world.runRow([a, b, c]);
      const { workflowId, runId } = whole;
      await pin(workflowId, a.id, { result: { content: 'pinned' } });
      assert.equal(await sourceOf({ mode: 'node', node: b.id }, a), 'pin');
      assert.equal(await sourceOf({ mode: 'node', node: c.id }, b), runId, 'b was executed behind a pin');
      assert.equal(await sourceOf({ mode: 'node', node: b.id, use_pins: false }, a), runId);
      await api.delete(`/workflows/${workflowId}/pins/${a.id}/`);
      assert.equal(await sourceOf({ mode: 'node', node: b.id }, a), runId);
      // The last test run executes b, and reuses the result of a from the whole run.
      const last = await tryToEnd(workflowId, { mode: 'node', node: b.id });
      assert.equal(await sourceOf({ mode: 'node', node: c.id }, b), last.runId);
      // The call of sourceOf started a test run that reuses b.
      assert.equal(await sourceOf({ mode: 'node', node: c.id }, b), last.runId);
      await tryToEnd(workflowId, { mode: 'from', node: b.id, mocks: { [a.id]: { content: 'mocked' } } });
      assert.equal(await sourceOf({ mode: 'node', node: c.id }, b), last.runId);
    });

    it('not with what reads a mocked node without being linked to it', async () => {
      const start = trigger();
      const [a, reads, reader] = [at(path()), at(path()), at(path())];
      reads.data['body'] = JSON.stringify({ said: resultOf(a) });
      reader.data['body'] = JSON.stringify({ said: resultOf(reads) });
      link(start, [a, reads]);
      link(reads, reader);
      whole = await world.runToEnd(drawing([start, a, reads, reader]));
      const mocks = { [a.id]: { content: 'mocked' } };
      assert.equal(await sourceOf({ mode: 'node', node: reads.id, mocks }, a), 'mock');
      assert.equal(await sourceOf({ mode: 'node', node: reader.id }, reads), whole.runId);
    });

    it('not with a loop of which a part was mocked, or only one iteration was executed', async () => {
      const body = at(path());
      const loop = node('for_each', { items: [1, 2], body_node: body.id });
      const after = at(path());
      after.data['body'] = JSON.stringify({ said: resultOf(loop) });
      whole = await world.runToEnd(drawing([...linkInRow([trigger(), loop, after]), body]));
      const mocks = { [`${body.id}@${loop.id}[1]`]: { content: 'mocked' } };
      await tryToEnd(whole.workflowId, { mode: 'node', node: loop.id, mocks });
      await tryToEnd(whole.workflowId, { mode: 'node', node: body.id, path: `${loop.id}[1]` });
      assert.equal(await sourceOf({ mode: 'node', node: after.id }, loop), whole.runId);
    });
  });

  it('reuse results of two runs, of which one has a loop that the other has too', async () => {
    const [body, second, after] = [at(path()), at(path()), at(path())];
    const loop = node('for_each', { items: [1, 2, 3], body_node: body.id });
    body.data['body'] = `{"item":"{{ ${loop.id}.item }}"}`;
    after.data['body'] = JSON.stringify({ said: `${resultOf(loop)} ${resultOf(second)}` });
    const whole = await world.runToEnd(drawing([...linkInRow([trigger(), loop, second, after]), body]));
    const { workflowId } = whole;
    const ofLoop = await tryToEnd(workflowId, { mode: 'node', node: loop.id });
    assert.equal(ofLoop.status, 'succeed', JSON.stringify(ofLoop.nodes));
    const progressOf = (runId: string) =>
      queryDatabase(
        world.stack,
        'SELECT sum(changes)::integer AS changes, sum(failed)::integer AS failed FROM loop_progress WHERE run_id = $1',
        [runId],
      );
    // With an input of its own, the test takes no result of the trigger, and the loop is the first node that it takes.
    for (const input of [{}, undefined]) {
      const tested = await tryToEnd(workflowId, { mode: 'node', node: after.id, ...(input && { input }) });
      assert.equal(tested.status, 'succeed', JSON.stringify(tested.nodes));
      assert.deepEqual([tested.nodes[loop.id]!.source, tested.nodes[second.id]!.source], [ofLoop.runId, whole.runId]);
      assert.deepEqual(tested.nodes[loop.id]!.iterations, { total: 3, succeeded: 3, failed: 0, in_progress: 0 });
      assert.deepEqual(await progressOf(tested.runId), await progressOf(ofLoop.runId));
    }
  });

  it('reuse results of two runs that hold secrets', async () => {
    const secret = `secret-${randomUUID()}`;
    const fields = [{ id: 'token', type: 'text', is_secret: true }];
    const [first, last] = [node('set', { value: '{{ input.token }}' }), at(path(), { method: 'POST' })];
    const body = node('set', { value: '' });
    const loop = node('for_each', { items: [resultOf(first), 'b'], body_node: body.id, output: resultOf(body) });
    body.data['value'] = `{{ ${loop.id}.item }}`;
    const where = path();
    last.data['url'] = `${world.target.url}${where}`;
    last.data['body'] = JSON.stringify({ said: `${resultOf(first)} ${resultOf(loop)}` });
    const whole = await world.runToEnd(drawing([...linkInRow([trigger(fields), first, loop, last]), body]), {
      token: secret,
    });
    const ofLoop = await tryToEnd(whole.workflowId, { mode: 'node', node: loop.id });
    assert.equal(ofLoop.status, 'succeed', JSON.stringify(ofLoop.nodes));
    const tested = await tryToEnd(whole.workflowId, { mode: 'node', node: last.id });
    assert.equal(tested.status, 'succeed', JSON.stringify(tested.nodes));
    assert.deepEqual([tested.nodes[first.id]!.source, tested.nodes[loop.id]!.source], [whole.runId, ofLoop.runId]);
    const [sent, again] = world.target.requestsTo(where).map(({ body: text }) => text);
    assert.ok(sent!.includes(secret));
    assert.equal(again, sent);
  });

  it('execute nothing that only a mocked node would have read', async () => {
    const [before, tried] = [path(), path()];
    const [a, b] = [at(before), at(tried)];
    b.data['body'] = JSON.stringify({ said: resultOf(a) });
    const workflowId = await world.workflowOf(drawing(linkInRow([trigger(), a, b])));
    const tested = await tryToEnd(workflowId, { mode: 'up_to', node: b.id, mocks: { [b.id]: { content: 'mocked' } } });
    assert.deepEqual([tested.status, tested.nodes[b.id]!.source], ['succeed', 'mock']);
    assert.deepEqual([world.callsTo(before), world.callsTo(tried)], [0, 0]);
  });

  it('follow the branches that mocks choose', async () => {
    const [yes, no] = [path(), path()];
    const asks = condition('a', '==', 'b');
    const [left, right] = [at(yes), at(no)];
    link(asks, left, 'true');
    link(asks, right, 'false');
    const first = trigger();
    link(first, asks);
    const workflowId = await world.workflowOf(drawing([first, asks, left, right]));
    await tryToEnd(workflowId, { mode: 'from', node: first.id, mocks: { [asks.id]: { content: 'true' } } });
    assert.deepEqual([world.callsTo(yes), world.callsTo(no)], [1, 0]);
    const wrong = await begin<{ mocks: string[] }>(workflowId, {
      mode: 'from',
      node: first.id,
      mocks: { [asks.id]: { content: 'maybe' } },
    });
    assert.equal(wrong.status, 400);
    assert.match(wrong.body.mocks[0]!, /condition/);
    const unknown = await begin<{ mocks: string[] }>(workflowId, {
      mode: 'from',
      node: first.id,
      mocks: { nobody: { content: '' } },
    });
    assert.match(unknown.body.mocks[0]!, /no such node/);
    for (const place of ['loop', `${'l'.repeat(1_598)}[0]`]) {
      const mocks = { [`${left.id}@${place}`]: { content: '' } };
      const refused = await begin<{ mocks: string[] }>(workflowId, { mode: 'from', node: first.id, mocks });
      assert.deepEqual([refused.status, Object.keys(refused.body)], [400, ['mocks']]);
    }
  });

  it('let mocks fail a node, time a wait out, and answer a person', async () => {
    const [handled, late, agreed] = [path(), path(), path()];
    const fails = at('/status/500', { on_error: 'branch' });
    const caught = at(handled);
    fails.data['error_node'] = caught.id;
    const waits = node('wait', { mode: 'callback', timeout: 600 });
    const timedOut = at(late);
    waits.data['timeout_node'] = timedOut.id;
    const done = at(agreed);
    const asks = node('human', { message: 'Well?', actions: [{ id: 'yes', node: done.id }, { id: 'no' }] });
    const first = trigger();
    link(first, [fails, waits, asks]);
    const workflowId = await world.workflowOf(drawing([first, fails, caught, waits, timedOut, asks, done]));
    const tested = await tryToEnd(workflowId, {
      mode: 'from',
      node: first.id,
      mocks: {
        [fails.id]: { error: { code: 'http_status', message: 'It said no.' } },
        [waits.id]: { error: { code: 'wait_timeout', message: 'Nobody came.' } },
        [asks.id]: { action: 'yes', values: {} },
      },
    });
    assert.equal(tested.status, 'succeed', JSON.stringify(tested.nodes));
    assert.deepEqual(
      [handled, late, agreed].map((where) => world.callsTo(where)),
      [1, 1, 1],
    );
    const { error, mocked, handled: isHandled } = tested.nodes[fails.id]!;
    assert.deepEqual([error, mocked, isHandled], [{ code: 'http_status', message: 'It said no.' }, true, true]);
    assert.equal(tested.nodes[asks.id]!.result!['action'], 'yes');
  });

  it('read the mock of a person as the task reads an answer', async () => {
    const fields = [
      { id: 'name', input_requirements: true },
      { id: 'count', type: 'number' },
      { id: 'bill', type: 'file' },
      { id: 'note', default_value: 'none' },
    ];
    const asks = node('human', { message: 'Well?', fields });
    const first = trigger();
    link(first, asks);
    const workflowId = await world.workflowOf(drawing([first, asks]));
    const tried = (mock: object): object => ({ mode: 'from', node: first.id, mocks: { [asks.id]: mock } });
    for (const [mock, message] of [
      [{ action: 'done' }, /values.name: Field required/],
      [{ action: 'done', values: { name: 'N', count: 'many' } }, /values.count: Input should be a valid number/],
      [
        { action: 'done', values: { name: 'N', bill: { file_id: randomUUID() } } },
        /values.bill: The project has no such/,
      ],
      [{ action: 'done', values: { name: 'N' }, comment: 5 }, /"comment"/],
      [{ action: 'other', values: { name: 'N' } }, /no action/],
    ] as const) {
      const refused = await begin<{ mocks: string[] }>(workflowId, tried(mock));
      assert.equal(refused.status, 400, JSON.stringify(refused.body));
      assert.match(refused.body.mocks[0]!, message);
    }
    const refused = await pin(workflowId, asks.id, { result: { action: 'done', values: {} } });
    assert.deepEqual([refused.status, Object.keys(refused.body)], [400, ['result']]);
    const mock = { action: 'done', values: { name: 'N', count: 5, undeclared: true } };
    const tested = await tryToEnd(workflowId, tried(mock));
    assert.deepEqual(tested.nodes[asks.id]!.result!['values'], { name: 'N', count: 5, note: 'none' });
  });

  it('mock nodes of bodies, everywhere or in one iteration', async () => {
    const [each, once] = [path(), path()];
    const inner = [at(each), at(once)];
    link(inner[0]!, inner[1]!);
    const loop = node('for_each', { items: [1, 2, 3], body_node: inner[0]!.id, output: resultOf(inner[1]!) });
    const workflowId = await world.workflowOf(drawing([...linkInRow([trigger(), loop]), ...inner]));
    const mocks = { [inner[0]!.id]: { content: 'all' }, [`${inner[1]!.id}@${loop.id}[1]`]: { content: 'one' } };
    const tested = await tryToEnd(workflowId, { mode: 'from', node: loop.id, mocks });
    assert.equal(tested.status, 'succeed', JSON.stringify(tested.nodes));
    assert.deepEqual([world.callsTo(each), world.callsTo(once)], [0, 2]);
    assert.equal((tested.nodes[loop.id]!.result!['items'] as unknown[])[1], 'one');
  });

  describe('of nodes in bodies', () => {
    let paths: string[];
    let first: DrawingNode;
    let inner: DrawingNode[];
    let loop: DrawingNode;
    let after: DrawingNode;
    let workflowId: number;

    beforeEach(async () => {
      paths = [path(), path(), path(), path()];
      world.target.on(paths[0]!, [{ body: ['a', 'b', 'c'] }]);
      first = at(paths[0]!);
      inner = [at(paths[1]!), at(paths[2]!)];
      loop = node('for_each', { items: `{{ ${first.id}.result.content }}`, body_node: inner[0]!.id });
      inner[0]!.data['body'] = `{"item":"{{ ${loop.id}.item }}"}`;
      inner[1]!.data['body'] = JSON.stringify({ said: resultOf(inner[0]!) });
      link(inner[0]!, inner[1]!);
      after = at(paths[3]!);
      workflowId = await world.workflowOf(drawing([...linkInRow([trigger(), first, loop, after]), ...inner]));
      const { data } = await api.run(workflowId, {});
      assert.equal((await api.pollToEnd(data.id)).data.status, 'succeed');
    });

    const calls = (): number[] => paths.map((where) => world.callsTo(where));
    const bodyOf = (place: number): string => world.target.requestsTo(paths[place]!).at(-1)!.body;

    it('execute it in the iteration that is named, or in the first one', async () => {
      const of = async (iteration?: string): Promise<Tested> =>
        tryToEnd(workflowId, { mode: 'node', node: inner[0]!.id, ...(iteration !== undefined && { path: iteration }) });
      const named = await of(`${loop.id}[1]`);
      assert.equal(named.status, 'succeed', JSON.stringify(named.nodes));
      assert.deepEqual(calls(), [1, 4, 3, 1]);
      assert.equal(bodyOf(1), '{"item":"b"}');
      await of();
      assert.equal(bodyOf(1), '{"item":"a"}');
      const wrong = await begin<{ path: string[] }>(workflowId, { mode: 'node', node: inner[0]!.id, path: 'x[0]' });
      assert.deepEqual([wrong.status, Object.keys(wrong.body)], [400, ['path']]);
    });

    it('take what it reads of its iteration', async () => {
      for (const [iteration, item] of ['a', 'b', 'c'].entries()) {
        const of = `${loop.id}[${iteration}]`;
        const tested = await tryToEnd(workflowId, { mode: 'node', node: inner[1]!.id, path: of });
        assert.equal(tested.status, 'succeed', JSON.stringify(tested.nodes));
        assert.deepEqual(calls(), [1, 3, 4 + iteration, 1]);
        assert.match(bodyOf(2), new RegExp(`\\Witem\\W+${item}\\W`));
      }
    });

    it('execute the nodes that follow in the body, and end with the iteration', async () => {
      await tryToEnd(workflowId, { mode: 'from', node: inner[0]!.id, path: `${loop.id}[1]` });
      assert.deepEqual(calls(), [1, 4, 4, 1]);
    });

    it('execute what is before the loop, where what it needs is executed', async () => {
      const tested = await tryToEnd(workflowId, { mode: 'up_to', node: inner[0]!.id, path: `${loop.id}[2]` });
      assert.equal(tested.status, 'succeed', JSON.stringify(tested.nodes));
      assert.deepEqual(calls(), [2, 4, 3, 1]);
      assert.equal(bodyOf(1), '{"item":"c"}');
    });

    it('say that the items are missing once the loop has changed', async () => {
      const changed = structuredClone([...linkInRow([trigger(), first, loop, after]), ...inner]);
      const body = changed.find(({ id }) => id === inner[1]!.id)!;
      body.data['body'] = '{"another":1}';
      const refused = await begin<{ missing: string[] }>(workflowId, {
        mode: 'node',
        node: inner[0]!.id,
        drawing: drawing(changed),
      });
      assert.deepEqual([refused.status, refused.body.missing], [400, [loop.id]]);
    });
  });

  it('give a node of a round the output of the round before', async () => {
    const where = path();
    const asks = at(where);
    const loop = node('loop', {
      max_rounds: 3,
      body_node: asks.id,
      output: '{{ LOOP.index }}',
      until: { left: 'a', operator: '==', right: 'b' },
    });
    loop.data['output'] = `round {{ ${loop.id}.index }}`;
    asks.data['body'] = `{"last":"{{ ${loop.id}.last }}"}`;
    const workflowId = await world.workflowOf(drawing([...linkInRow([trigger(), loop]), asks]));
    const { data } = await api.run(workflowId, {});
    await api.pollToEnd(data.id);
    assert.equal(world.callsTo(where), 3);
    const tested = await tryToEnd(workflowId, { mode: 'node', node: asks.id, path: `${loop.id}[2]` });
    assert.equal(tested.status, 'succeed', JSON.stringify(tested.nodes));
    assert.equal(world.callsTo(where), 4);
    assert.equal(world.target.requestsTo(where).at(-1)!.body, '{"last":"round 1"}');
  });

  it('skip waits for a time, and no others', async () => {
    const waits = node('wait', { mode: 'duration', seconds: 86_400 });
    const called = node('wait', { mode: 'callback' });
    const [between, after] = [path(), path()];
    const workflowId = await world.workflowOf(drawing(linkInRow([trigger(), waits, at(between), called, at(after)])));
    const { body } = await begin(workflowId, { mode: 'from', node: waits.id, skip_waits: true });
    const url = await callbackUrlOf(api, body.data.id, called.id);
    assert.deepEqual([world.callsTo(between), world.callsTo(after)], [1, 0]);
    assert.equal((await callBack(url)).status, 200);
    assert.equal((await api.pollToEnd(body.data.id)).data.status, 'succeed');
    assert.equal(world.callsTo(after), 1);
  });

  it('can be estimated before they start', async () => {
    const [reads, writes] = [at(path()), at(path(), { method: 'POST' })];
    const workflowId = await world.workflowOf(drawing(linkInRow([trigger(), reads, writes])));
    const { body } = await api.post<{ calls: unknown; reserved: Record<string, string> }>(
      `/workflows/${workflowId}/estimate/`,
      {
        body: { mode: 'up_to', node: writes.id },
      },
    );
    assert.deepEqual(body.calls, [
      { node_id: reads.id, kind: 'http', has_side_effects: false },
      { node_id: writes.id, kind: 'http', has_side_effects: true },
    ]);
    assert.equal(Number(body.reserved['USD']), 0);
  });
});
