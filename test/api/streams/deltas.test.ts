import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createClient, followRun } from '../../../clients/typescript/src/index.js';
import type { TextDelta } from '../../../api/streams/text-reader.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { createGate } from '../../../harness/timing/gate.js';
import { openEventStream, type OpenStream, type StreamedEvent } from '../../support/event-stream.js';
import { agent, drawing, linkInRow, llm, trigger, type DrawingNode } from '../../../harness/drawing/drawing.js';
import { queryDatabase, transactionsOf } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import type { ModelAnswer } from '../../../harness/target/fake-model-provider.js';
import type { StreamPart } from '../../../harness/target/stream-completion.js';
import { startToolServer, type ToolServer } from '../../../harness/target/tool-server.js';
import { createAccount, type Account } from '../accounts.js';

const LONG_TEXT = 'in one long piece '.repeat(3_000);

describe('the streamed answer of a model', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let tools: ToolServer;
  let account: Account;

  before(async () => {
    stack = await sharedStack();
    [tools, account] = await Promise.all([startToolServer(), createAccount(stack)]);
  });
  after(() => tools.close());

  const open = (runId: string): Promise<OpenStream> =>
    openEventStream(stack.apiUrl, account.apiKey, runId, { withDeltas: true });

  async function start(...nodes: DrawingNode[]): Promise<string> {
    const begin = trigger();
    linkInRow([begin, ...nodes]);
    const { api } = account;
    return (await api.run(await api.createWorkflow(await api.createProject(), drawing([begin, ...nodes])))).data.id;
  }

  const deltasIn = (events: StreamedEvent[]): TextDelta[] =>
    events.filter(({ event }) => event === 'delta').map(({ data }) => data as unknown as TextDelta);

  const endOf = (events: StreamedEvent[], node: DrawingNode): StreamedEvent =>
    events.find(({ event, data }) => event === 'node' && data.id === node.id && data.status !== 'in progress')!;

  /** The text that a reader has of the last step of a node. */
  function joined(events: StreamedEvent[], node: DrawingNode): string {
    const before = events.slice(0, events.indexOf(endOf(events, node)));
    const deltas = deltasIn(before).filter(({ id }) => id === node.id);
    const last = deltas.at(-1)!;
    const ofStep = deltas.filter(({ attempt, step }) => attempt === last.attempt && step === last.step);
    assert.deepEqual(
      ofStep.map(({ index }) => index),
      [...ofStep.keys()],
    );
    return ofStep
      .slice(
        Math.max(
          0,
          ofStep.findLastIndex(({ reset }) => reset === true),
        ),
      )
      .map(({ text = '' }) => text)
      .join('');
  }

  const slowly = (words: string[], waitMs = 60): StreamPart[] => words.flatMap((word) => [word, { waitMs }]);

  function scripted(...answers: ModelAnswer[]): { node: DrawingNode; model: string } {
    const model = `m-${randomUUID()}`;
    stack.modelProvider.script(model, answers);
    return { node: llm('say', { settings: { model_name: model } }), model };
  }

  const rowsOf = (runId: string): Promise<unknown[]> =>
    queryDatabase(stack, 'SELECT number FROM run_deltas WHERE run_id = $1', [runId]);

  it('comes word by word, ends before the node, and is gone from the database with its result', async () => {
    const { node } = scripted({ parts: slowly(['one ', 'two ', 'three ', 'four ', 'five ', 'six ']) });
    const runId = await start(node);
    const stream = await open(runId);
    await stream.ended;
    const deltas = deltasIn(stream.events);
    assert.ok(deltas.length >= 2, `${deltas.length} deltas`);
    assert.deepEqual([deltas[0]!.attempt, deltas[0]!.step, deltas[0]!.path], [1, 0, '']);
    assert.ok(stream.events.filter(({ event }) => event === 'delta').every(({ id }) => Number.isNaN(id)));
    assert.equal(joined(stream.events, node), 'one two three four five six ');
    assert.equal(endOf(stream.events, node).data.result?.content, 'one two three four five six ');
    assert.deepEqual(await rowsOf(runId), []);
  });

  it('is sent in one delta with reset, as far as it has come, to a reader who joins during it, and to none after its end', async () => {
    const [begins, goesOn, ends] = [createGate(), createGate(), createGate()];
    const { node } = scripted({ parts: [begins, 'begun and ', goesOn, 'went on ', ends, 'to the end'] });
    const runId = await start(node);
    const first = await open(runId);
    begins.open();
    await eventually(() => deltasIn(first.events).length > 0);
    const second = await open(runId);
    await eventually(() => deltasIn(second.events).length > 0);
    const [late] = deltasIn(second.events);
    assert.deepEqual([late!.reset, late!.index, late!.text!.startsWith('begun and')], [true, 0, true]);
    goesOn.open();
    await eventually(() => [first, second].every(({ events }) => /went on/.test(JSON.stringify(deltasIn(events)))));
    ends.open();
    await Promise.all([first.ended, second.ended]);
    for (const { events } of [first, second]) assert.equal(joined(events, node), 'begun and went on to the end');
    const after = await open(runId);
    await after.ended;
    assert.deepEqual(deltasIn(after.events), []);
  });

  it('comes before the end of the node even if the provider sends it at once or not as a stream', async () => {
    const [quick, whole] = [scripted({ text: 'at once' }), scripted({ text: 'in one piece', streams: false })];
    // A result of more than 16 KiB is not in its event.
    const long = scripted({ text: LONG_TEXT, streams: false });
    const wait = scripted({ parts: slowly(['wait'], 200) });
    const stream = await open(await start(wait.node, quick.node, whole.node, long.node));
    await stream.ended;
    assert.ok(joined(stream.events, long.node) === LONG_TEXT);
    assert.equal(joined(stream.events, quick.node), 'at once');
    assert.equal(joined(stream.events, whole.node), 'in one piece');
  });

  it('shows nothing of a secret that comes in single characters', async () => {
    const secret = 'canary/9f3+A7 "zebra"=&';
    const text = `It is ${secret}, or ${Buffer.from(secret).toString('base64')}. That is all`;
    const { node } = scripted({ parts: Array.from(text).flatMap((letter) => [letter, { waitMs: 4 }]) });
    const begin = trigger([{ id: 'token', type: 'text', is_secret: true, input_requirements: true }]);
    linkInRow([begin, node]);
    const { api } = account;
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([begin, node]));
    const stream = await open((await api.run(workflowId, { token: secret })).data.id);
    await stream.ended;
    assert.equal(joined(stream.events, node), 'It is ********, or ********=. That is all');
    assert.equal(endOf(stream.events, node).data.result?.content, 'It is ********, or ********=. That is all');
    assert.ok(deltasIn(stream.events).length > 2);
    assert.equal(JSON.stringify(stream.events).includes('canary'), false);
  });

  it('begins anew with a later attempt', async () => {
    const failing: ModelAnswer = { parts: ['wrong ', { waitMs: 300 }, { reset: true }] };
    const { node } = scripted(failing, { parts: slowly(['right ', 'this ', 'time']) });
    const stream = await open(await start(scripted({ parts: slowly(['wait'], 200) }).node, node));
    await stream.ended;
    const deltas = deltasIn(stream.events).filter(({ id }) => id === node.id);
    assert.deepEqual([deltas[0]!.text?.trim(), deltas[0]!.attempt, deltas[0]!.reset], ['wrong', 1, undefined]);
    const second = deltas.filter(({ attempt }) => attempt === 2);
    assert.deepEqual(
      second.map(({ reset }) => reset),
      [true, ...second.slice(1).map(() => undefined)],
    );
    assert.equal(joined(stream.events, node), 'right this time');
  });

  it('has the tool calls of an agent whole, with the arguments masked, and its steps', async () => {
    const model = `m-${randomUUID()}`;
    stack.modelProvider.script(model, [
      { text: 'I add. ', toolCalls: [{ name: 'add', arguments: { a: 2, b: 3 } }] },
      { parts: slowly(['It ', 'is ', '5']) },
    ]);
    const node = agent('add', { model_name: model }, [{ endpoint_url: tools.url, require_approval: 'never' }]);
    const stream = await open(await start(scripted({ parts: slowly(['wait'], 200) }).node, node));
    await stream.ended;
    const deltas = deltasIn(stream.events).filter(({ id }) => id === node.id);
    assert.deepEqual(
      deltas.filter(({ step }) => step === 0).map(({ text, tool_call }) => text ?? tool_call),
      ['I add. ', { id: 'call_0_add', name: 'add', arguments: '{"a":2,"b":3}' }],
    );
    assert.equal(joined(stream.events, node), 'It is 5');
    assert.equal(endOf(stream.events, node).data.result?.content, 'It is 5');
  });

  it('is requested without a stream if the provider refuses one, or if several answers are requested', async () => {
    const error = { message: "'stream' is not supported with this model", param: 'stream' };
    const refusing = scripted({ status: 400, error }, { text: 'in one piece' });
    const several = scripted({ text: 'one of two' });
    Object.assign(several.node.data, { settings: { model_name: several.model, n: 2 } });
    const { status, nodes } = await account.api.runToEnd(drawing(linkInRow([trigger(), refusing.node, several.node])));
    assert.equal(status, 'succeed');
    assert.equal(nodes[refusing.node.id]?.result?.content, 'in one piece');
    const asked = (model: string) => stack.modelProvider.requestsFor(model).map(({ body }) => body['stream']);
    assert.deepEqual([asked(refusing.model), asked(several.model)], [[true, false], [false]]);
  });

  it('costs the same as an answer that is not streamed', async () => {
    const usage = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 };
    const counted = scripted({ text: 'counted', usage });
    const streams = { streams: false, usage };
    const whole = scripted({ text: 'counted', ...streams });
    const { runId } = await account.api.runToEnd(drawing(linkInRow([trigger(), counted.node, whole.node])));
    const paid = await transactionsOf(stack, runId);
    const of = ({ id }: DrawingNode) => {
      const { amount_usd, is_estimated } = paid.find(({ node_id }) => node_id === id)! as unknown as Record<
        string,
        unknown
      >;
      return [amount_usd, is_estimated];
    };
    assert.deepEqual(of(counted.node), of(whole.node));
    assert.notEqual(Number(of(counted.node)[0]), 0);
  });

  it('comes to the typed client', async () => {
    const { node } = scripted({ parts: slowly(['for ', 'the ', 'client']) });
    const client = createClient({ baseUrl: stack.apiUrl, apiKey: account.apiKey });
    const said: string[] = [];
    for await (const event of followRun(client, await start(node), { include: 'deltas' })) {
      if (event.type === 'delta') said.push(event.delta.text ?? '');
    }
    assert.equal(said.join(''), 'for the client');
  });

  it('is requested by include=deltas; other names are a 400', async () => {
    const { api } = account;
    const { data } = await api.run(await api.createWorkflow(await api.createProject(), drawing([trigger()])));
    for (const include of ['words', 'deltas,words']) {
      const { status } = await api.get(`/workflows/workflow_result/events/?id=${data.id}&include=${include}`);
      assert.equal(status, 400, include);
    }
  });
});
