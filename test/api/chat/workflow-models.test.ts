// Workflows as models of the chat-completion protocol, called by the official client (docs/use/api.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import OpenAI, { APIError, BadRequestError, InternalServerError, NotFoundError } from 'openai';
import { answerStream, answerWhole, type AnswerDeps } from '../../../api/chat/answer-workflow.js';
import { createSharedReads } from '../../../api/live/shared-reads.js';
import { RunHub } from '../../../api/live/run-hub.js';
import type { ApiError } from '../../../api/http/errors.js';
import { createLogger } from '../../../telemetry/logger.js';
import { createDatabase } from '../../../db/core/client.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { createGate } from '../../../harness/timing/gate.js';
import { drawing, http, linkInRow, llm, node as nodeOf, resultOf, trigger } from '../../../harness/drawing/drawing.js';
import type { DrawingNode } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { PNG } from '../../support/media.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, type Account } from '../accounts.js';

const PNG_URI = `data:image/png;base64,${PNG.toString('base64')}`;

describe('a workflow as a model', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let project: number;
  let openai: OpenAI;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    project = await account.api.createProject('Talking');
    openai = clientOf(account);
  });

  const clientOf = ({ apiKey }: Account): OpenAI =>
    new OpenAI({ baseURL: `${stack.apiUrl}/v1`, apiKey, maxRetries: 2 });

  async function chat(nodes: DrawingNode[], settings?: object): Promise<{ id: number; model: string }> {
    const data = { ...drawing(linkInRow(nodes)), ...(settings && { settings }) };
    const id = await account.api.createWorkflow(project, data, 'Chat');
    const { status } = await account.api.patch(`/workflows/${id}/`, { body: { is_chat: true } });
    assert.equal(status, 200);
    return { id, model: `workflow:${id}` };
  }
  const echo = (): DrawingNode[] => [trigger(), nodeOf('output', { value: '{{ input }}' })];
  const runsOf = async (workflowId: number): Promise<{ id: string; status: string }[]> =>
    queryDatabase(stack, 'SELECT id, status FROM runs WHERE workflow_id = $1', [workflowId]);
  const user = (content: OpenAI.ChatCompletionUserMessageParam['content']) => ({ role: 'user' as const, content });

  it('gets the messages as its input, and its output is the answer', async () => {
    const { model, id } = await chat(echo());
    const answer = await openai.chat.completions.create({
      model,
      messages: [
        { role: 'system', content: 'Be kind.' },
        user('One'),
        { role: 'assistant', content: null, tool_calls: [] },
        user([
          { type: 'text', text: 'Two' },
          { type: 'text', text: '{{ input.secret }}' },
        ]),
      ],
    });
    assert.deepEqual(JSON.parse(answer.choices[0]!.message.content!), {
      message: 'Two\n{{ input.secret }}',
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'One' },
        { role: 'assistant', content: '' },
        { role: 'user', content: 'Two\n{{ input.secret }}' },
      ],
    });
    assert.deepEqual(
      [answer.object, answer.model, answer.choices[0]!.finish_reason],
      ['chat.completion', model, 'stop'],
    );
    assert.deepEqual(await runsOf(id), [{ id: answer.id, status: 'Succeeded' }]);
  });

  it('reports the usage of its run, and is billed by the transactions of the run alone', async () => {
    const asked = llm('{{ input.message }}');
    const { model } = await chat([trigger(), asked]);
    const answer = await openai.chat.completions.create({ model, messages: [user('Say it')] });
    assert.equal(answer.choices[0]!.message.content, 'echo: Say it');
    assert.deepEqual(answer.usage, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
    const paid = await queryDatabase<{ operation: string }>(
      stack,
      'SELECT operation FROM billing_transactions WHERE user_id = $1 AND (run_id = $2 OR run_id IS NULL)',
      [account.userId, answer.id],
    );
    assert.deepEqual(paid.map(({ operation }) => operation).toSorted(), ['llm', 'trigger']);
  });

  it('streams the role, the output as one chunk, the end, and the usage if it is requested', async () => {
    const { model } = await chat([trigger(), nodeOf('output', { value: { text: 'Hello' } })]);
    for (const withUsage of [true, false]) {
      const stream = await openai.chat.completions.create({
        model,
        messages: [user('hi')],
        stream: true,
        ...(withUsage && { stream_options: { include_usage: true } }),
      });
      const chunks: OpenAI.ChatCompletionChunk[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      const [first, words, end, usage] = chunks;
      assert.deepEqual(first!.choices[0]!.delta, { role: 'assistant', content: '' });
      assert.deepEqual(words!.choices[0]!.delta, { content: '{"text":"Hello"}' });
      assert.deepEqual([end!.choices[0]!.delta, end!.choices[0]!.finish_reason], [{}, 'stop']);
      assert.equal(chunks.length, withUsage ? 4 : 3);
      if (withUsage) assert.deepEqual([usage!.choices, usage!.usage!.total_tokens], [[], 0]);
      assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
      assert.equal((await account.api.poll(first!.id)).data.status, 'succeed');
    }
  });

  async function wordsOf(model: string, onPiece = (): void => undefined): Promise<{ id: string; pieces: string[] }> {
    const stream = await openai.chat.completions.create({ model, messages: [user('hi')], stream: true });
    const told: { id: string; pieces: string[] } = { id: '', pieces: [] };
    for await (const { id, choices } of stream) {
      told.id = id;
      if (!choices[0]?.delta.content) continue;
      told.pieces.push(choices[0].delta.content);
      onPiece();
    }
    return told;
  }
  const writer = (name: string): DrawingNode => llm('hi', { settings: { model_name: name } });

  it('streams the text of the answering node while it is written, each part once', async () => {
    const told = createGate();
    stack.modelProvider.script('chat-words', { parts: ['One ', told, 'two ', 'three'] });
    const [first, answers] = [llm('x'), writer('chat-words')];
    const { model } = await chat([trigger(), first, answers, nodeOf('output', { value: resultOf(answers) })]);
    const { pieces } = await wordsOf(model, told.open);
    assert.equal(pieces.join(''), 'One two three');
    assert.ok(pieces.length >= 2, JSON.stringify(pieces));
  });

  it('streams the text of the node that answer_node names; without a stream the output is the answer', async () => {
    const [named, last] = [llm('named'), llm('last')];
    const { model } = await chat([trigger(), named, last], { answer_node: named.id });
    assert.equal((await wordsOf(model)).pieces.join(''), 'echo: named');
    const whole = await openai.chat.completions.create({ model, messages: [user('hi')] });
    assert.equal(whole.choices[0]!.message.content, 'echo: last');
  });

  it('cannot retract text: an attempt that fails after some text ends the stream, and the run goes on', async () => {
    const told = createGate();
    const broken = { parts: ['Wrong', told], finishReason: '' };
    stack.modelProvider.script('chat-breaks', [broken, { text: 'Right' }]);
    const { model, id } = await chat([trigger(), writer('chat-breaks')]);
    await assert.rejects(wordsOf(model, told.open), (error: APIError) => {
      return error instanceof APIError && error.code === 'attempt_failed';
    });
    const [run] = await runsOf(id);
    assert.equal((await account.api.pollToEnd(run!.id)).data.status, 'succeed');
  });

  it('gets images and files as files of its project; other URLs are refused, and leave no file', async () => {
    const { model, id } = await chat([trigger(), nodeOf('output', { value: '{{ input.files }}' })]);
    const image = { type: 'image_url' as const, image_url: { url: PNG_URI } };
    const file = { type: 'file' as const, file: { file_data: 'data:text/plain,a%20b', filename: 'note.txt' } };
    const answer = await openai.chat.completions.create({ model, messages: [user([image, file])] });
    const files = JSON.parse(answer.choices[0]!.message.content!) as Record<string, unknown>[];
    const facts = files.map(({ name, type, size }) => [name, type, size]);
    assert.deepEqual(facts, [
      ['image.png', 'image/png', PNG.length],
      ['note.txt', 'text/plain', 3],
    ]);
    const stored = () =>
      queryDatabase<{ n: string }>(stack, 'SELECT count(*) AS n FROM files WHERE project_id = $1', [project]);
    const before = await stored();
    for (const url of ['https://example.com/a.png', 'data:image/png;base64,%%%', 'file:///etc/passwd']) {
      const asked = openai.chat.completions.create({
        model,
        messages: [user([image, { type: 'image_url', image_url: { url } }])],
      });
      await assert.rejects(asked, (error: BadRequestError) => {
        return error instanceof BadRequestError && error.param === 'messages[0].content[1].image_url.url';
      });
    }
    assert.deepEqual([await stored(), (await runsOf(id)).length], [before, 1]);
  });

  it('refuses messages that are no conversation or do not fit its trigger, before a run starts', async () => {
    const { model, id } = await chat([
      trigger([{ id: 'place', title: 'Place', type: 'text', input_requirements: true }]),
    ]);
    const ask = (messages: unknown): Promise<unknown> =>
      openai.chat.completions.create({ model, messages: messages as OpenAI.ChatCompletionMessageParam[] });
    const wrong: [unknown, string, string | null][] = [
      [[], 'messages', 'invalid_value'],
      [[{ role: 'system', content: 'x' }], 'messages', 'invalid_value'],
      [[7], 'messages[0]', 'invalid_value'],
      [[{ role: 'wizard', content: 'x' }], 'messages[0].role', 'invalid_value'],
      [[{ role: 'user', content: 7 }], 'messages[0].content', 'invalid_value'],
      [[{ role: 'user', content: null }], 'messages[0].content', 'invalid_value'],
      [[{ role: 'assistant' }, { role: 'system' }], 'messages[1].content', 'invalid_value'],
      [[{ role: 'user', content: 'a\0b' }], 'messages[0].content', 'invalid_value'],
      [[{ role: 'user', content: [{ type: 'input_audio' }] }], 'messages[0].content[0].type', 'invalid_value'],
      [[{ role: 'user', content: 'x' }], 'messages', 'invalid_input'],
    ];
    for (const [messages, param, code] of wrong) {
      await assert.rejects(ask(messages), (error: BadRequestError) => {
        assert.deepEqual([error.status, error.param, error.code], [400, param, code], JSON.stringify(messages));
        return true;
      });
    }
    assert.deepEqual(await runsOf(id), []);
  });

  it('is unknown to users who may not run it, and if it is no chat; no provider is called', async () => {
    const { model, id } = await chat(echo());
    const viewer = await createAccount(stack);
    await giveRole(stack, viewer, project, 'viewer');
    const hidden = await account.api.createWorkflow(project, drawing(linkInRow(echo())));
    // The question is unique, because other tests call the provider at the same time.
    const question = `nobody answers this ${randomUUID()}`;
    const refused: [OpenAI, string][] = [
      [clientOf(viewer), model],
      [clientOf(await createAccount(stack)), model],
      ...[`workflow:${hidden}`, 'workflow:', 'workflow:0', 'workflow:99999999999', `${model}/x`].map(
        (name): [OpenAI, string] => [openai, name],
      ),
    ];
    for (const [client, name] of refused) {
      await assert.rejects(
        client.chat.completions.create({ model: name, messages: [user(question)] }),
        (error: APIError) => {
          return error instanceof NotFoundError && error.code === 'model_not_found' && error.param === 'model';
        },
      );
    }
    assert.ok(!JSON.stringify(stack.modelProvider.requests).includes(question));
    const listed = async (client: OpenAI) => (await client.models.list()).data.filter((each) => each.id === model);
    assert.deepEqual(
      (await listed(openai)).map(({ owned_by: by, object }) => [by, object]),
      [['Talking', 'model']],
    );
    assert.deepEqual(await listed(clientOf(viewer)), []);
    await giveRole(stack, viewer, project, 'editor');
    assert.equal((await listed(clientOf(viewer))).length, 1);
    await account.api.delete(`/workflows/${id}/`);
    assert.deepEqual(await listed(openai), []);
  });

  it('answers with U+FFFD in place of half a surrogate pair, even in a long output', async () => {
    const long = 'x'.repeat(600_000);
    stack.modelProvider.script('half-a-character', [{ text: `${long}\ud83d` }]);
    const { model } = await chat([trigger(), llm('Long', { settings: { model_name: 'half-a-character' } })]);
    const answer = await openai.chat.completions.create({ model, messages: [user('Long')] });
    assert.equal(answer.choices[0]!.message.content === `${long}\uFFFD`, true);
  });

  it('cannot be the model of a node', async () => {
    const { model } = await chat(echo());
    const asks = llm('hi', { settings: { model_name: model } });
    const id = await account.api.createWorkflow(project, drawing(linkInRow([trigger(), asks])));
    const { status, data } = await account.api.run(id);
    assert.equal(status, 422);
    assert.deepEqual(data.data?.[asks.id]?.result, [
      { 'settings.model_name': 'Input should be a model, and no workflow' },
    ]);
    const hides = llm('hi', { settings: { model_name: '{{ input.model }}' } });
    const run = await account.api.runToEnd(drawing(linkInRow([trigger(), hides])), { model });
    assert.equal(run.nodes[hides.id]?.error?.code, 'model_not_found');
  });

  it('fails with the error code of its node, in a stream as the last event, and clients do not retry', async () => {
    const { model, id } = await chat([trigger(), http(`${stack.apiUrl}/nowhere`)]);
    const ask = { model, messages: [user('x')] };
    await assert.rejects(openai.chat.completions.create(ask), (error: APIError) => {
      assert.ok(error instanceof InternalServerError);
      assert.deepEqual([error.status, error.code, error.headers.get('x-should-retry')], [500, 'http_status', 'false']);
      return true;
    });
    assert.equal((await runsOf(id)).length, 1);
    const stream = await openai.chat.completions.create({ ...ask, stream: true });
    await assert.rejects(
      async () => {
        for await (const _ of stream);
      },
      (error: APIError) => error instanceof APIError && error.code === 'http_status',
    );
    assert.equal((await runsOf(id)).length, 2);
  });

  it('is a 402 if a cost limit stops its run or a run below it, and clients do not retry', async () => {
    const { id, model } = await chat([trigger(), llm('hello', { settings: { model_name: 'test-model' } })]);
    const limited = await account.api.patch(`/workflows/${id}/`, { body: { max_run_cost: '0.0000001' } });
    assert.equal(limited.status, 200);
    const above = await chat([trigger(), nodeOf('workflow', { workflow_id: id, input: {} })]);
    for (const asked of [model, above.model]) {
      await assert.rejects(
        openai.chat.completions.create({ model: asked, messages: [user('x')] }),
        (error: APIError) => {
          const { type, code, status, headers } = error;
          assert.deepEqual([status, code, type], [402, 'budget_exceeded', 'insufficient_quota']);
          assert.equal(headers!.get('x-should-retry'), 'false');
          return true;
        },
      );
    }
    const stream = await openai.chat.completions.create({ model, messages: [user('x')], stream: true });
    await assert.rejects(
      async () => {
        for await (const _ of stream);
      },
      (error: APIError) => error instanceof APIError && error.code === 'budget_exceeded',
    );
  });

  it('is a 402 if the limit of its project stops its run, with a stream and without', async () => {
    const limited = await account.api.createProject('Limited');
    const body = { spending_limit: { amount: '0.0000001', period: 'day' } };
    assert.equal((await account.api.patch(`/projects/${limited}/`, { body })).status, 200);
    const question = `nobody pays for this ${randomUUID()}`;
    const data = drawing(linkInRow([trigger(), llm(question, { settings: { model_name: 'test-model' } })]));
    const id = await account.api.createWorkflow(limited, data, 'Chat');
    assert.equal((await account.api.patch(`/workflows/${id}/`, { body: { is_chat: true } })).status, 200);
    const asked = { model: `workflow:${id}`, messages: [user('x')] };
    await assert.rejects(openai.chat.completions.create(asked), (error: APIError) => {
      const { type, code, status, headers } = error;
      assert.deepEqual([status, code, type], [402, 'budget_exceeded', 'insufficient_quota']);
      assert.equal(headers!.get('x-should-retry'), 'false');
      return true;
    });
    const stream = await openai.chat.completions.create({ ...asked, stream: true });
    await assert.rejects(
      async () => {
        for await (const _ of stream);
      },
      (error: APIError) => error instanceof APIError && error.code === 'budget_exceeded',
    );
    assert.ok(!JSON.stringify(stack.modelProvider.requests).includes(question));
  });

  it('is started once per Idempotency-Key; the same key with another body is refused', async () => {
    const { model, id } = await chat(echo());
    const ask = (content: string) =>
      openai.chat.completions
        .create({ model, messages: [user(content)] }, { headers: { 'Idempotency-Key': `key-${id}` } })
        .withResponse();
    const [one, two] = await Promise.all([ask('a'), ask('a')]);
    assert.equal(one.data.id, two.data.id);
    assert.deepEqual(one.data.choices, two.data.choices);
    assert.deepEqual((await ask('a')).data.choices, one.data.choices, 'long after the run has ended');
    const repeats = [one, two].filter(({ response }) => response.headers.get('idempotent-replayed') === 'true');
    assert.equal(repeats.length, 1);
    await assert.rejects(ask('b'), (error: APIError) => error.code === 'idempotency_mismatch');
    assert.equal((await runsOf(id)).length, 1);
  });

  it('answers with the request when it waits for a person, and continues after the decision', async () => {
    const human = nodeOf('human', { message: 'May {{ input.message }} go?', actions: [{ id: 'yes', label: 'Yes' }] });
    const { model } = await chat([trigger(), human, nodeOf('output', { value: resultOf(human) })]);
    for (const stream of [false, true]) {
      const asked = await openai.chat.completions.create({ model, messages: [user('Ada')], stream });
      let [id, text] = ['', ''];
      if (stream) {
        for await (const chunk of asked as AsyncIterable<OpenAI.ChatCompletionChunk>) {
          id = chunk.id;
          text += chunk.choices[0]?.delta.content ?? '';
        }
      } else {
        const whole = asked as OpenAI.ChatCompletion;
        [id, text] = [whole.id, whole.choices[0]!.message.content!];
      }
      assert.match(text, /^May Ada go\?\n\nAnswer here: http\S+\/inbox\/[0-9a-f-]{36} \(until /);
      const task = /inbox\/([0-9a-f-]{36})/.exec(text)![1]!;
      const { status } = await account.api.post(`/human-tasks/${task}/answer/`, { body: { action: 'yes' } });
      assert.equal(status, 200);
      assert.equal((await account.api.pollToEnd(id)).data.status, 'succeed');
    }
  });

  it('is cancelled when its client disconnects, with a stream and without', async () => {
    const { model, id } = await chat([trigger(), nodeOf('wait', { mode: 'callback' })]);
    for (const stream of [false, true]) {
      const hangUp = new AbortController();
      const ask = async (): Promise<void> => {
        const options = { signal: hangUp.signal };
        const answer = await openai.chat.completions.create({ model, messages: [user('x')], stream }, options);
        if (stream) for await (const _ of answer as AsyncIterable<unknown>);
      };
      const asked = ask().catch(() => undefined);
      await eventually(async () => (await runsOf(id)).some(({ status }) => status === 'In Progress'));
      hangUp.abort();
      await asked;
      await eventually(async () => (await runsOf(id)).every(({ status }) => status === 'Cancelled'));
    }
    assert.equal((await runsOf(id)).length, 2);
  });

  it('is cancelled when it has no answer in time; until then comments keep a stream open', async () => {
    const { id, model } = await chat([trigger(), nodeOf('wait', { mode: 'callback' })]);
    const db = createDatabase({
      url: stack.stack.database_url,
      poolMax: 4,
      applicationName: 'test',
      onError: () => undefined,
    });
    const logger = createLogger('api', 'fatal');
    const memory = new ByteBudget({ totalBytes: 2 ** 30, uncountedBytes: 0 });
    const runHub = new RunHub({ db, memory, logger, onReaders: () => undefined });
    // This Temporal client sends no cancellation, so the reconciler of the stack cancels the run, as after a crash.
    const temporal = { workflow: { getHandle: () => ({ cancel: () => Promise.resolve() }) } };
    const deps = { db, logger, runHub, memory, temporal, sharedReads: createSharedReads(db, 30), config: {} };
    try {
      const runId = (await account.api.run(id)).data.id;
      const hangUp = new AbortController();
      const doer = { userId: account.userId, via: 'key', keyId: account.keyId, address: '' };
      const run = { runId, workflowId: id, model, created: 1, reader: { userId: account.userId }, log: logger };
      const asked = { ...run, signal: hangUp.signal, doer } as unknown as Parameters<typeof answerWhole>[1];
      const from = deps as unknown as AnswerDeps;
      const { body } = answerStream(
        from,
        asked,
        { withUsage: false, answering: new Set() },
        { maxMs: 1, aliveEveryMs: 50 },
      );
      const read: string[] = [];
      for await (const frame of body as AsyncIterable<Buffer>) if (read.push(String(frame)) === 4) break;
      assert.deepEqual(read.slice(1), [':\n', ':\n', ':\n']);
      const whole = answerWhole(from, asked, { maxMs: 100, aliveEveryMs: 50 });
      await assert.rejects(whole, (error: ApiError) => {
        assert.deepEqual([error.status, error.code, error.headers], [504, 'timeout', { 'x-should-retry': 'false' }]);
        return true;
      });
      const [row] = await queryDatabase<{ asked: boolean }>(
        stack,
        'SELECT cancel_requested_at IS NOT NULL AS asked FROM runs WHERE id = $1',
        [runId],
      );
      assert.equal(row!.asked, true);
      assert.equal(memory.heldBytes, 0);
    } finally {
      await runHub.stop();
      await db.destroy();
    }
  });
});
