// An estimate shows what a test run reserves, before it starts (docs/use/test-runs.md, "What a test would cost").
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Decimal } from 'decimal.js';
import { weighFiles } from '../../../config/file-tokens.js';
import type { ApiClient, Envelope } from '../../../harness/client/api-client.js';
import {
  drawing,
  http,
  linkInRow,
  llm,
  node,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../../harness/drawing/drawing.js';
import { createPdf, PNG } from '../../support/media.js';
import { createFileClient } from '../../support/upload.js';
import { openResumeWorld, type ResumeWorld } from '../runs/resume/resume-world.js';

interface Estimate {
  calls: { node_id: string; kind: string; has_side_effects: boolean }[];
  reserved: Record<string, string> | null;
}

interface Invalid {
  code: string;
  errors: { node_id: string | null; path: string; message: string }[];
}

const MAX_TOKENS = 7;

function usd({ reserved }: Estimate): string {
  assert.ok(reserved?.['USD'] !== undefined);
  return reserved['USD'];
}

describe('an estimate', function () {
  this.timeout(120_000);
  let world: ResumeWorld;
  let api: ApiClient;

  before(async () => {
    world = await openResumeWorld();
    ({ api } = world);
  });
  after(() => world.close());

  const asks = (message: string, model = 'model-of-estimates', data: object = {}): DrawingNode =>
    node('llm', {
      messages: [{ role: 'user', message, ...data }],
      settings: { model_name: model, max_tokens: MAX_TOKENS },
    });

  async function estimate<T = Estimate>(workflowId: number, body: object, status = 200): Promise<T> {
    const answer = await api.post<T>(`/workflows/${workflowId}/estimate/`, { body });
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    return answer.body;
  }

  /**
   * Runs the test, and computes from the request that was sent the amount that must be reserved for it. `mark` is a
   * text in the message that identifies the request.
   */
  async function reservedBy(workflowId: number, body: object, mark: string): Promise<string> {
    const begun = await api.post<Envelope>(`/workflows/${workflowId}/test/`, { body });
    assert.equal(begun.status, 201, JSON.stringify(begun.body));
    await api.pollToEnd(begun.body.data.id);
    const sent = world.stack.modelProvider.requests.findLast(({ counted }) => counted.includes(mark))!;
    const asked = JSON.parse(sent.counted) as { messages: object[] };
    const { messages, tokens } = weighFiles(asked.messages);
    const input = Math.ceil(JSON.stringify({ ...asked, messages }).length / 3) + tokens;
    return new Decimal(input)
      .plus(2 * MAX_TOKENS)
      .div(1_000_000)
      .toFixed();
  }

  it('is what the test reserves, with its input, its defaults and its files', async () => {
    const mark = randomUUID();
    const fields = [
      { id: 'text', type: 'text' },
      { id: 'more', type: 'text', default_value: 'd'.repeat(3_000) },
      { id: 'docs', type: 'files' },
    ];
    const ask = asks(`${mark} {{ input.text }} {{ input.more }}`, undefined, { files: '{{ input.docs }}' });
    const workflowId = await world.workflowOf(drawing(linkInRow([trigger(fields), ask])));
    const files = createFileClient({ apiUrl: world.stack.apiUrl, apiKey: world.account.apiKey });
    const given: [string, Uint8Array | string][] = [
      ['a.png', PNG],
      ['b.csv', 'a,"b"\n'.repeat(500)],
      ['c.pdf', createPdf(['One page with some words'])],
    ];
    const none = usd(await estimate(workflowId, { mode: 'up_to', node: ask.id, input: {} }));
    for (const count of [0, 1, 2, 3]) {
      const docs = [];
      for (const [name, bytes] of given.slice(0, count))
        docs.push((await files.upload(world.project, bytes, name)).file_id);
      const body = { mode: 'up_to', node: ask.id, input: { text: 't'.repeat(9_000), docs } };
      const reserved = usd(await estimate(workflowId, body));
      assert.equal(reserved, await reservedBy(workflowId, body, mark));
      assert.ok(new Decimal(reserved).minus(none).gte('0.003'));
    }
  });

  it('uses the results that the test would take: pins, and results of the newest run, of loops too', async () => {
    const mark = randomUUID();
    const where = `/${randomUUID()}`;
    world.target.on(where, [{ body: ['first', 'second'.repeat(1_000)] }]);
    const list = http(`${world.target.url}${where}`);
    const inner = asks(`${mark} {{ LOOP.item }} of ${resultOf(list)}`);
    const loop = node('for_each', { items: `{{ ${list.id}.result.content }}`, body_node: inner.id });
    const [message] = inner.data['messages'] as { message: string }[];
    message!.message = message!.message.replace('LOOP', loop.id);
    const { workflowId } = await world.runToEnd(drawing([...linkInRow([trigger(), list, loop]), inner]));
    const body = { mode: 'node', node: inner.id, path: `${loop.id}[1]` };
    const taken = await estimate(workflowId, body);
    assert.equal(taken.reserved!['USD'], await reservedBy(workflowId, body, mark));
    await api.put(`/workflows/${workflowId}/pins/${list.id}/`, { body: { result: { content: 'p'.repeat(30_000) } } });
    const pinned = await estimate(workflowId, body);
    assert.ok(new Decimal(usd(pinned)).minus(usd(taken)).gte('0.007'));
    const whole = await estimate(workflowId, { mode: 'node', node: loop.id });
    assert.equal(whole.reserved, null, 'nobody knows how many items there will be');
  });

  it('counts the second call of a node whose answer must have a form', async () => {
    const mark = randomUUID();
    const model = `model-${mark}`;
    const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
    const withFormat = (response_format?: object): DrawingNode => {
      const ask = asks(mark, model);
      return { ...ask, data: { ...ask.data, settings: { ...(ask.data['settings'] as object), response_format } } };
    };
    const estimateOf = async (ask: DrawingNode): Promise<{ reserved: string; workflowId: number }> => {
      const workflowId = await world.workflowOf(drawing(linkInRow([trigger(), ask])));
      return { workflowId, reserved: usd(await estimate(workflowId, { mode: 'up_to', node: ask.id, input: {} })) };
    };
    const one = await estimateOf(withFormat());
    const [wrong, right] = [{ text: 'no' }, { text: '{"text":"a"}' }];
    world.stack.modelProvider.script(model, [wrong, right, wrong, right]);
    for (const format of [{ type: 'json_object' }, { type: 'json_schema', json_schema: { name: 'text', schema } }]) {
      const before = world.stack.modelProvider.requestsFor(model).length;
      const ask = withFormat(format);
      const { workflowId, reserved } = await estimateOf(ask);
      const begun = await api.post<Envelope>(`/workflows/${workflowId}/test/`, {
        body: { mode: 'up_to', node: ask.id, input: {} },
      });
      assert.equal((await api.pollToEnd(begun.body.data.id)).data.status, 'succeed');
      const sent = world.stack.modelProvider.requestsFor(model).slice(before);
      assert.equal(sent.length, 2);
      const input = sent.reduce((sum, { counted }) => sum + Math.ceil(counted.length / 3), 0);
      const needed = new Decimal(input).plus(2 * 2 * MAX_TOKENS).div(1_000_000);
      assert.ok(needed.lte(reserved), `${reserved} for calls that reserve ${needed.toFixed()}`);
      assert.ok(needed.plus('0.001').gt(reserved), 'a correction has few words besides the schema');
    }
    const text = await estimateOf(withFormat({ type: 'text' }));
    assert.ok(new Decimal(text.reserved).minus(one.reserved).lt('0.00002'), 'any text fits');
  });

  it('counts results that the test itself would produce as empty, and evaluates a variable method', async () => {
    const first = http(`${world.target.url}/${randomUUID()}`);
    const sends = http(`${world.target.url}/${randomUUID()}`, { method: '{{ input.method }}' });
    const ask = asks(`say ${resultOf(first)}`);
    const workflowId = await world.workflowOf(drawing(linkInRow([trigger(), first, sends, ask])));
    const alone = await world.workflowOf(drawing(linkInRow([trigger(), asks('say ')])));
    const { body: aloneNodes } = await api.get<{ data: { nodes: { id: string }[] } }>(`/workflows/${alone}/`);
    const least = await estimate(alone, { mode: 'node', node: aloneNodes.data.nodes[1]!.id, input: {} });
    for (const [method, hasSideEffects] of [
      ['get', false],
      ['POST', true],
      ['', true],
    ] as const) {
      const { calls, reserved } = await estimate(workflowId, { mode: 'up_to', node: ask.id, input: { method } });
      assert.deepEqual(reserved, least.reserved);
      assert.equal(calls.find(({ node_id: id }) => id === sends.id)!.has_side_effects, hasSideEffects);
    }
  });

  it('has no bound for a file that the model does not take or that is not there', async () => {
    const ask = asks('look', 'test-model', { files: '{{ input.docs }}' });
    const workflowId = await world.workflowOf(drawing(linkInRow([trigger(), ask])));
    const files = createFileClient({ apiUrl: world.stack.apiUrl, apiKey: world.account.apiKey });
    const other = await files.upload(world.project, Buffer.from([0, 1, 2, 3, 255]), 'a.bin');
    for (const docs of [[other], [{ file_id: randomUUID() }], ['no file']]) {
      const { reserved } = await estimate(workflowId, { mode: 'up_to', node: ask.id, input: { docs } });
      assert.equal(reserved, null, JSON.stringify(docs));
    }
  });
});

describe('a wrong drawing in a body', function () {
  this.timeout(120_000);
  let world: ResumeWorld;
  let api: ApiClient;

  before(async () => {
    world = await openResumeWorld();
    ({ api } = world);
  });
  after(() => world.close());

  it('is a 400 with the errors of check_workflow, whatever is asked with it', async () => {
    const [first, wrong] = [trigger(), http('')];
    const good = drawing(linkInRow([trigger(), llm('hello')]));
    const workflowId = await world.workflowOf(good);
    const cyclic = drawing([...linkInRow([first, wrong])]);
    wrong.data['next_nodes'] = [first.id];
    const [start, incomplete] = linkInRow([trigger(), http('')]) as [DrawingNode, DrawingNode];
    const drawings: [object, string, string][] = [
      [drawing([start, incomplete]), 'invalid_nodes', incomplete.id],
      [cyclic, 'invalid_workflow', first.id],
      [{ nodes: [] }, 'invalid_workflow', first.id],
    ];
    assert.equal((await api.post(`/workflows/${workflowId}/cases/`, { body: { name: 'one' } })).status, 201);
    for (const [data, code, nodeId] of drawings) {
      const stored = await world.workflowOf(data);
      const { body: checked } = await api.get<Invalid>(`/workflows/${stored}/check_workflow/`);
      assert.ok(checked.errors.length > 0);
      const tried = { mode: 'from', node: code === 'invalid_nodes' ? start.id : nodeId, input: {}, drawing: data };
      for (const [path, body] of [
        ['test/', tried],
        ['estimate/', tried],
        ['cases/run/', { drawing: data }],
      ] as const) {
        const answer = await api.post<Invalid>(`/workflows/${workflowId}/${path}`, { body });
        assert.equal(answer.status, 400, `${path} ${JSON.stringify(answer.body)}`);
        assert.deepEqual([answer.body.code, answer.body.errors], [code, checked.errors], path);
      }
    }
  });

  it('is checked only in its executed nodes: mocked nodes may be incomplete, and a wrong input is a 422', async () => {
    const workflowId = await world.workflowOf(drawing(linkInRow([trigger(), llm('hello')])));
    const required = { id: 'word', type: 'text', input_requirements: true };
    const [start, incomplete] = linkInRow([trigger([required]), http('')]) as [DrawingNode, DrawingNode];
    const data = drawing([start, incomplete]);
    const mocks = { [incomplete.id]: { content: 'mocked' } };
    const tried = { mode: 'from', node: start.id, drawing: data, mocks };
    const refused = await api.post(`/workflows/${workflowId}/test/`, { body: { ...tried, input: {} } });
    assert.equal(refused.status, 422, JSON.stringify(refused.body));
    const begun = await api.post<Envelope>(`/workflows/${workflowId}/test/`, {
      body: { ...tried, input: { word: 'x' } },
    });
    assert.equal(begun.status, 201, JSON.stringify(begun.body));
    await api.post(`/workflows/${workflowId}/cases/`, { body: { name: 'one', input: { word: 'x' }, mocks } });
    assert.equal((await api.post(`/workflows/${workflowId}/cases/run/`, { body: { drawing: data } })).status, 201);
  });
});
