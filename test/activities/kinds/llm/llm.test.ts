import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../../../harness/client/api-client.js';
import { eventually } from '../../../../harness/timing/eventually.js';
import type { ModelAnswer } from '../../../../harness/target/fake-model-provider.js';
import { drawing, link, llm, trigger } from '../../../../harness/drawing/drawing.js';
import { queryDatabase, transactionsOf } from '../../../support/inspect.js';
import { sharedStack } from '../../../support/shared-stack.js';
import type { TestStack } from '../../../../harness/stack/stack.js';

describe('LLM node', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
  });

  /** The price of `calls` calls at 1 USD a million input tokens and 2 USD a million output tokens. */
  function priceOf(calls: number, { counted }: { counted: string }, output: number): number {
    return Number(((calls * (Math.ceil(counted.length / 3) + 2 * output)) / 1e6).toFixed(9));
  }

  let models = 0;
  async function runScripted(answers: ModelAnswer[], settings: Record<string, unknown> = {}, data: object = {}) {
    const model_name = `llm-test-${++models}`;
    stack.modelProvider.script(model_name, answers);
    const [start, node] = [
      trigger(),
      llm('Hello {{ input.name }}', { ...data, settings: { model_name, ...settings } }),
    ];
    link(start, node);
    const run = await api.runToEnd(drawing([start, node]), { name: 'Ada' });
    const transactions = await transactionsOf(stack, run.runId);
    const record = await api.history(run.workflowId, run.runId);
    return {
      run,
      record,
      entry: run.nodes[node.id]!,
      requests: stack.modelProvider.requestsFor(model_name),
      paid: transactions.filter(({ node_id }) => node_id === node.id),
    };
  }

  it('gives the answer with model, usage and finish reason, and bills its exact price', async () => {
    const { entry, requests, paid, record, run } = await runScripted([{ text: 'Hi!', finishReason: 'length' }], {
      temperature: 0.5,
      max_tokens: 7,
      seed: 42,
    });
    assert.equal(entry.result!.content, 'Hi!');
    assert.equal(entry.result!['finish_reason'], 'length');
    assert.deepEqual(entry.result!['usage'], { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
    const [{ body }] = requests as [(typeof requests)[0]];
    assert.deepEqual(body['messages'], [{ role: 'user', content: 'Hello Ada' }]);
    assert.deepEqual([body['temperature'], body['max_tokens'], body['seed']], [0.5, 7, 42]);
    assert.equal('timeout' in body, false, 'our own settings are not sent');
    assert.deepEqual(
      paid.map(({ operation, status, amount_usd }) => [operation, status, amount_usd]),
      [['llm', 'Succeeded', '0.00002']],
    );
    assert.equal(record.cost['USD'], '0.00002');
    const project = await api.get<{ total_spent: Record<string, string> }>(`/projects/${run.projectId}/`);
    assert.equal(project.body.total_spent['USD'], '0.00002');
  });

  it('sends each try of a node as the same request by an Idempotency-Key', async () => {
    const { run, entry, requests } = await runScripted([{ status: 503 }, { text: 'Hi!' }]);
    assert.deepEqual(
      requests.map(({ headers }) => headers['idempotency-key']),
      Array.from({ length: 2 }, () => `${run.runId}/${entry.id}`),
    );
  });

  for (const status of [408, 409, 429, 500, 503]) {
    it(`tries again on ${status} and bills once`, async () => {
      const { entry, requests, paid } = await runScripted([{ status }, { text: 'ok' }]);
      assert.equal(entry.result!.content, 'ok');
      assert.equal(requests.length, 2);
      assert.equal(requests[0]!.headers['idempotency-key'], requests[1]!.headers['idempotency-key']);
      assert.deepEqual(
        paid.map(({ amount_usd }) => amount_usd),
        ['0.00002'],
      );
    });
  }

  it('makes five attempts at most and bills nothing for a failure', async () => {
    const { run, entry, requests, paid, record } = await runScripted([{ status: 500 }]);
    assert.equal(run.status, 'failed');
    assert.equal(entry.error!.code, 'provider_error');
    assert.equal(requests.length, 5);
    assert.deepEqual(
      paid.map(({ status, amount_usd }) => [status, amount_usd]),
      [['Error', '0']],
    );
    assert.equal(record.cost['USD'], '0');
  });

  for (const status of [400, 401, 404]) {
    it(`fails at once on ${status} with the provider's message`, async () => {
      const { entry, requests } = await runScripted([{ status, error: { message: 'the reason why' } }]);
      assert.equal(entry.error!.code, 'provider_error');
      assert.match(entry.error!.message, /the reason why/);
      assert.equal(requests.length, 1);
    });
  }

  it('tries again when the connection is cut, and after its own time limit', async () => {
    const cut = await runScripted([{ reset: true }, { text: 'ok' }]);
    assert.equal(cut.entry.result!.content, 'ok');
    const slow = await runScripted([{ delayMs: 120_000 }, { text: 'in time' }], { timeout: 2 });
    assert.equal(slow.entry.result!.content, 'in time');
  });

  it('obeys Retry-After', async () => {
    const { requests } = await runScripted([{ status: 429, headers: { 'retry-after': '2' } }, {}]);
    assert.ok(requests[1]!.receivedAt - requests[0]!.receivedAt >= 1_900);
  });

  it('fails on an answer that is no completion, and still bills the usage that it reports', async () => {
    const empty = await runScripted([{ body: { usage: { prompt_tokens: 10, completion_tokens: 5 }, choices: [] } }]);
    assert.equal(empty.entry.error!.code, 'invalid_response');
    assert.deepEqual(
      empty.paid.map(({ status, amount_usd }) => [status, amount_usd]),
      [['Error', '0.00002']],
    );
    const nothing = await runScripted([{ body: null }]);
    assert.equal(nothing.entry.error!.code, 'invalid_response');
    assert.equal(nothing.requests.length, 1);
    const text = await runScripted([{ body: 'nonsense' }]);
    assert.equal(text.entry.error!.code, 'invalid_response');
    let deep: unknown = [];
    for (let depth = 0; depth < 1_000; depth += 1) deep = [deep];
    const nested = await runScripted([{ body: { choices: [{ message: { content: deep } }] } }]);
    assert.equal(nested.entry.error!.code, 'invalid_response');
    assert.equal(nested.requests.length, 1);
  });

  it('takes of a content in parts the text, and refuses what is neither text nor list', async () => {
    const parts = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'Good ' },
    ];
    for (const streams of [false, true]) {
      const { entry } = await runScripted([{ message: { content: [...parts, { text: 'day' }] }, streams }]);
      assert.equal(entry.result!.content, 'Good day');
      const silent = await runScripted([{ message: { content: [] }, streams }]);
      assert.equal(silent.entry.result!.content, '');
    }
    for (const content of [{ text: 'x' }, 7, true]) {
      const { entry, paid } = await runScripted([{ message: { content }, streams: false }]);
      assert.equal(entry.error!.code, 'invalid_response');
      assert.deepEqual(
        paid.map(({ status, amount_usd }) => [status, amount_usd]),
        [['Error', '0.00002']],
      );
    }
  });

  it('takes content null as empty text and hostile usage as none, so that the amount is estimated', async () => {
    const message = { role: 'assistant', content: null };
    const { entry, paid, requests } = await runScripted([
      {
        body: {
          model: 'm',
          choices: [{ index: 0, message, finish_reason: 'stop' }],
          usage: { prompt_tokens: -1e9, completion_tokens: 'many' },
        },
      },
    ]);
    assert.equal(entry.result!.content, '');
    assert.deepEqual(
      paid.map(({ amount_usd, is_estimated }) => [Number(amount_usd), is_estimated]),
      [[priceOf(1, requests[0]!, 0), true]],
    );
  });

  it('pays for each call that its time limit has cut off, as estimated at what was reserved, and limits count it', async () => {
    const slow = { settings: { timeout: 4, max_tokens: 50 }, retry: { max_attempts: 2, delay: 0 } };
    // A call may be cut off before the provider has read its request, and is charged all the same. The expected price
    // is therefore computed from the same request of another run.
    const {
      requests: [sent],
    } = await runScripted([{}], { max_tokens: 50 });
    const { run, entry, paid } = await runScripted([{ text: 'late', delayMs: 120_000 }], slow.settings, slow);
    assert.equal(entry.error!.code, 'timeout');
    const cut = "SELECT attempts FROM provider_calls WHERE run_id = $1 AND state = 'cut' ORDER BY attempts";
    assert.deepEqual(await queryDatabase(stack, cut, [run.runId]), [{ attempts: 1 }, { attempts: 2 }]);
    assert.deepEqual(
      paid.map(({ status, amount_usd, is_estimated }) => [status, Number(amount_usd), is_estimated]),
      [['Error', priceOf(2, sent!, 50), true]],
    );
  });

  it('pays for a call that is on the wire when its run is cancelled, once, and nothing is reserved any more', async () => {
    const model_name = `llm-test-${++models}`;
    stack.modelProvider.script(model_name, { text: 'late', delayMs: 20_000 });
    const [start, node] = [trigger(), llm('Hello', { settings: { model_name, max_tokens: 50 } })];
    link(start, node);
    const workflow = await api.createWorkflow(await api.createProject(), drawing([start, node]));
    const { id } = (await api.run(workflow)).data;
    await eventually(() => stack.modelProvider.requestsFor(model_name).length > 0);
    assert.equal((await api.post(`/workflows/${workflow}/history/${id}/cancel/`)).status, 200);
    const paid = async () => (await transactionsOf(stack, id)).filter(({ node_id }) => node_id === node.id);
    await eventually(async () => (await paid()).length === 1);
    const [request] = stack.modelProvider.requestsFor(model_name);
    assert.deepEqual(
      (await paid()).map(({ status, amount_usd, is_estimated }) => [status, Number(amount_usd), is_estimated]),
      [['Error', priceOf(1, request!, 50), true]],
    );
    const reserved = 'SELECT turn FROM provider_calls WHERE run_id = $1 AND reserved_usd IS NOT NULL';
    assert.deepEqual(await queryDatabase(stack, reserved, [id]), []);
  });

  it('keeps the call in the ledger with its usage and price', async () => {
    const { run } = await runScripted([{}]);
    const [call] = await queryDatabase<Record<string, unknown>>(
      stack,
      'SELECT * FROM provider_calls WHERE run_id = $1',
      [run.runId],
    );
    assert.equal(call!['state'], 'applied');
    assert.equal(call!['price_usd'], '0.00002');
    assert.deepEqual(call!['usage'], { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
  });
});
