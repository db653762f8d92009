// Set and output nodes, the output of a run, and the operators of conditions, in whole runs.
import assert from 'node:assert/strict';
import { createApiClient, type ApiClient, type Envelope } from '../../harness/client/api-client.js';
import { openEventStream } from '../support/event-stream.js';
import { eventually } from '../../harness/timing/eventually.js';
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
} from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { transactionsOf } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

const ID = '12345678901234567890';

describe('values of a run', function () {
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

  const set = (value: unknown): DrawingNode => node('set', { value });
  const output = (value: unknown): DrawingNode => node('output', { value });
  const inRow = (...nodes: DrawingNode[]): DrawingNode[] => linkInRow([trigger(), ...nodes]);

  /** The text of the answer: a parser would round numbers. */
  async function pollText(runId: string): Promise<string> {
    const headers = { 'x-api-key': stack.apiKey };
    return (await fetch(`${stack.apiUrl}/api/v1/workflows/workflow_result/?id=${runId}`, { headers })).text();
  }

  async function startRun(nodes: DrawingNode[], input: unknown = {}): Promise<{ workflowId: number; runId: string }> {
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(nodes));
    const { status, data } = await api.run(workflowId, input);
    assert.equal(status, 201);
    return { workflowId, runId: data.id };
  }

  describe('set node', () => {
    it('gives JSON with its variables filled in, and as text what is a text', async () => {
      const json = set({ who: 'Hello {{ input.name }}', all: ['{{ input.tags }}', '{{ input.age }}', null, 1.5] });
      const text = set('{{ input.name }} is {{ input.age }}');
      const { nodes, status, runId } = await api.runToEnd(drawing(inRow(json, text)), {
        name: 'Ada',
        age: 36,
        tags: ['a'],
      });
      assert.equal(status, 'succeed');
      const value = { who: 'Hello Ada', all: [['a'], 36, null, 1.5] };
      assert.deepEqual(nodes[json.id]!.result, { content: JSON.stringify(value), value });
      assert.deepEqual(nodes[text.id]!.result, { content: 'Ada is 36', value: 'Ada is 36' });
      const paid = (await transactionsOf(stack, runId)).filter(({ node_id }) => node_id === json.id);
      assert.deepEqual(
        paid.map(({ operation, status: outcome, amount_usd }) => [operation, outcome, Number(amount_usd)]),
        [['set', 'Succeeded', 0]],
      );
    });

    const kept: [title: string, given: unknown][] = [
      ['an object', { a: { b: [1] } }],
      ['a list', [1, 'a', null]],
      ['a number', 0],
      ['a boolean', false],
      ['null', null],
      ['a text', '007'],
    ];
    for (const [title, given] of kept) {
      it(`keeps the type of a value that is exactly one variable: ${title}`, async () => {
        const valued = set('{{ input.x }}');
        const { nodes } = await api.runToEnd(drawing(inRow(valued)), { x: given });
        const content = typeof given === 'string' ? given : JSON.stringify(given);
        assert.deepEqual(nodes[valued.id]!.result, { content, value: given });
      });
    }

    it('gives nothing for a variable that is missing', async () => {
      const valued = set('{{ input.nobody }}');
      const { nodes } = await api.runToEnd(drawing(inRow(valued)));
      assert.deepEqual(nodes[valued.id]!.result, { content: '', value: '' });
    });

    it('keeps integers beyond 2^53, and hands them on', async () => {
      const first = set({ id: '{{ input.id }}' });
      const second = output(resultOf(first, 'value.id'));
      const { runId } = await startRun(inRow(first, second), { id: 1 });
      await api.pollToEnd(runId);
      const workflow = await api.createWorkflow(await api.createProject(), drawing(inRow(first, second)));
      const started = await api.post<Envelope>(`/workflows/${workflow}/run/`, { text: `{"id":${ID}}` });
      await api.pollToEnd(started.body.data.id);
      const text = await pollText(started.body.data.id);
      assert.ok(text.includes(`"result":{"content":"{\\"id\\":${ID}}","value":{"id":${ID}}}`), text);
      assert.ok(text.includes(`"output":${ID}}`), text);
    });

    it('can be read by the nodes after it, by its value and by its content', async () => {
      const first = set({ list: [{ name: 'Ada' }] });
      const call = http(`${target.url}/named/${resultOf(first, 'value.list[0].name')}`, {
        method: 'POST',
        body: { all: resultOf(first, 'value'), text: resultOf(first) },
      });
      await api.runToEnd(drawing(inRow(first, call)));
      const [request] = target.requestsTo('/named/Ada');
      const value = { list: [{ name: 'Ada' }] };
      assert.deepEqual(JSON.parse(request!.body), { all: value, text: JSON.stringify(value) });
    });

    it('fails with output_too_large when its variables make it larger than a result may be', async () => {
      const large = set('{{ input.x }}'.repeat(12));
      const { nodes, status } = await api.runToEnd(drawing(inRow(large)), { x: 'x'.repeat(1024 * 1024) });
      assert.deepEqual([status, nodes[large.id]!.error!.code], ['failed', 'output_too_large']);
    });

    it('says that its value is missing', async () => {
      const empty = node('set', {});
      const workflowId = await api.createWorkflow(await api.createProject(), drawing(inRow(empty)));
      const { status, data } = await api.run(workflowId);
      assert.equal(status, 422);
      assert.deepEqual(data.data![empty.id]!.result, [{ value: 'Field required' }]);
    });
  });

  describe('the output of a run', () => {
    it('is the value of its output node, in the poll, with Prefer: wait, in a re-run and in the stream', async () => {
      const nodes = inRow(output({ hello: '{{ input.name }}' }));
      const { workflowId, runId } = await startRun(nodes, { name: 'Ada' });
      const ended = await api.pollToEnd(runId);
      assert.deepEqual(ended.data.output, { hello: 'Ada' });
      assert.deepEqual(ended.data.data![nodes[1]!.id]!.result!['value'], { hello: 'Ada' });

      const headers = { prefer: 'wait=50' };
      const waited = await api.post<Envelope>(`/workflows/${workflowId}/run/`, { body: { name: 'Bob' }, headers });
      assert.deepEqual([waited.body.data.status, waited.body.data.output], ['succeed', { hello: 'Bob' }]);
      const again = await api.post<Envelope>(`/workflows/${workflowId}/history/${runId}/re-run/`, { headers });
      assert.deepEqual([again.status, again.body.data.output], [201, { hello: 'Ada' }]);

      const stream = await openEventStream(stack.apiUrl, stack.apiKey, runId);
      await stream.ended;
      const last = stream.events.at(-1)!;
      assert.deepEqual([last.event, last.data.status, last.data.output], ['run', 'succeed', { hello: 'Ada' }]);
    });

    it('is no key of an answer before there is one, and none of a run without an output node', async () => {
      const slow = http(`${target.url}/hold/before-the-output`);
      const { runId } = await startRun(inRow(slow, output(1)));
      await eventually(() => target.requestsTo('/hold/before-the-output').length === 1);
      assert.equal('output' in (await api.poll(runId)).data, false);
      target.release('/hold/before-the-output');
      assert.equal((await api.pollToEnd(runId)).data.output, 1);
      const without = await startRun(inRow(set(1)));
      assert.equal('output' in (await api.pollToEnd(without.runId)).data, false);
    });

    it('is there while the run goes on, raises its version, and never changes', async () => {
      const [begin, first] = [trigger(), output('first')];
      const [slow, second] = [http(`${target.url}/hold/after-the-output`), output('second')];
      link(begin, [first, slow]);
      link(slow, second);
      const { runId } = await startRun([begin, first, slow, second]);
      const early = await eventually(async () => {
        const poll = await api.get<Envelope>(`/workflows/workflow_result/?id=${runId}`);
        return poll.body.data.output !== undefined && poll;
      });
      assert.deepEqual([early.body.data.status, early.body.data.output], ['in progress', 'first']);
      target.release('/hold/after-the-output');
      const ended = await api.pollToEnd(runId);
      assert.equal(ended.data.data![second.id]!.result!.content, 'second');
      assert.equal(ended.data.output, 'first');
      assert.ok(ended.data.version! > early.body.data.version!);
      const headers = { 'if-none-match': early.headers.get('etag')! };
      assert.equal((await api.get(`/workflows/workflow_result/?id=${runId}`, { headers })).status, 200);
      const now = (await api.get(`/workflows/workflow_result/?id=${runId}`)).headers.get('etag')!;
      const known = { 'if-none-match': now };
      assert.equal((await api.get(`/workflows/workflow_result/?id=${runId}`, { headers: known })).status, 304);
    });

    it('stays when the run fails after it', async () => {
      const { runId } = await startRun(inRow(output('kept'), http(`${target.url}/status/404`)));
      const ended = await api.pollToEnd(runId);
      assert.deepEqual([ended.data.status, ended.data.output], ['failed', 'kept']);
    });

    it('shows no secret', async () => {
      const begin = trigger([{ id: 'token', is_secret: true }]);
      const said = output({ token: '{{ input.token }}', text: 'it is {{ input.token }}' });
      link(begin, said);
      const { runId } = await startRun([begin, said], { token: 'a-secret-of-this-test' });
      const ended = await api.pollToEnd(runId);
      assert.deepEqual(ended.data.output, { token: '********', text: 'it is ********' });
      assert.equal((await pollText(runId)).includes('a-secret-of-this-test'), false);
    });

    it('that is large is whole, in the poll and in the stream', async () => {
      const value = { text: '🙂'.repeat(400_000) };
      const { runId } = await startRun(inRow(output('{{ input }}')), value);
      assert.deepEqual((await api.pollToEnd(runId)).data.output, value);
      const stream = await openEventStream(stack.apiUrl, stack.apiKey, runId);
      await stream.ended;
      assert.deepEqual(stream.events.at(-1)!.data.output, value);
    });
  });

  describe('operators', () => {
    const cases: [left: string, operator: string, right: string | undefined, content: string][] = [
      ['{{ input.text }}', 'contains', 'Ada', 'true'],
      ['{{ input.text }}', 'not_contains', 'Ada', 'false'],
      ['{{ input.text }}', 'starts_with', 'hello', 'false'],
      ['{{ input.text }}', 'ends_with', '{{ input.name }}', 'true'],
      ['{{ input.text }}', 'matches', '^Hello,? {{ input.name }}$', 'true'],
      ['{{ input.name }}', 'in', '{{ input.names }}', 'true'],
      ['{{ input.name }}', 'in', 'Bob, Eve', 'false'],
      ['{{ input.nobody }}', 'is_empty', undefined, 'true'],
      ['{{ input.names }}', 'is_not_empty', undefined, 'true'],
    ];
    it('decide which way a run goes', async () => {
      const nodes = cases.map(([left, operator, right]) => condition(left, operator, right));
      const begin = trigger();
      link(begin, nodes);
      const input = { text: 'Hello, Ada', name: 'Ada', names: ['Bob', 'Ada'] };
      const { nodes: ended, status } = await api.runToEnd(drawing([begin, ...nodes]), input);
      assert.equal(status, 'succeed');
      assert.deepEqual(
        nodes.map(({ id }) => ended[id]!.result!.content),
        cases.map(([, , , content]) => content),
      );
    });

    it('a literal pattern that is not valid is a 422, one out of a variable fails the node', async () => {
      const literal = condition('a', 'matches', '[a');
      const workflowId = await api.createWorkflow(await api.createProject(), drawing(inRow(literal)));
      const refused = await api.run(workflowId);
      assert.equal(refused.status, 422);
      assert.deepEqual(refused.data.data![literal.id]!.result, [
        { 'condition.right': 'Input should be a valid RE2 pattern: missing closing ]: `[a`' },
      ]);
      const variable = condition('a', 'matches', '{{ input.pattern }}');
      const { nodes, status } = await api.runToEnd(drawing(inRow(variable)), { pattern: '[a' });
      assert.deepEqual([status, nodes[variable.id]!.error!.code], ['failed', 'invalid_pattern']);
    });
  });
});
