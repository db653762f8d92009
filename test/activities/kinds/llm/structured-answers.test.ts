import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../../../harness/client/api-client.js';
import type { ModelAnswer } from '../../../../harness/target/fake-model-provider.js';
import { drawing, linkInRow, llm, node, resultOf, trigger } from '../../../../harness/drawing/drawing.js';
import { queryDatabase, transactionsOf } from '../../../support/inspect.js';
import { sharedStack } from '../../../support/shared-stack.js';
import type { TestStack } from '../../../../harness/stack/stack.js';

const PERSON = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
  required: ['name', 'age'],
  additionalProperties: false,
};
const FORMAT = { type: 'json_schema', json_schema: { name: 'person', schema: PERSON, strict: true } };
const ADA = { text: '{"name": "Ada", "age": 36}' };
const WRONG = { text: '{"name": "Ada"}' };
/** The costs of 10 prompt and 5 completion tokens a call at the prices of the test stack. */
const [ONE_CALL, TWO_CALLS] = ['0.00002', '0.00004'];

describe('LLM node whose answer must have a form', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
  });

  let models = 0;
  async function ask(answers: ModelAnswer[], format: unknown = FORMAT, input: unknown = {}) {
    const model_name = `structured-${++models}`;
    stack.modelProvider.script(model_name, answers);
    const asked = llm('Who?', { settings: { model_name, response_format: format } });
    const later = node('set', { value: resultOf(asked, 'json') });
    const run = await api.runToEnd(drawing(linkInRow([trigger(), asked, later])), input);
    const transactions = await transactionsOf(stack, run.runId);
    const ledger = await queryDatabase<{ turn: number; state: string; price_usd: string; input_tokens: number }>(
      stack,
      'SELECT turn, state, price_usd, input_tokens FROM provider_calls WHERE run_id = $1 ORDER BY turn',
      [run.runId],
    );
    const usage = await queryDatabase<{ cost_usd: string }>(stack, 'SELECT cost_usd FROM runs WHERE id = $1', [
      run.runId,
    ]);
    return {
      run,
      entry: run.nodes[asked.id]!,
      later: run.nodes[later.id],
      requests: stack.modelProvider.requestsFor(model_name),
      paid: transactions
        .filter(({ node_id }) => node_id === asked.id)
        .map(({ status, amount_usd }) => [status, amount_usd]),
      ledger: ledger.map(({ turn, state, price_usd }) => [turn, state, Number(price_usd)]),
      cost: Number(usage[0]!.cost_usd),
    };
  }

  it('gives the answer as JSON, too, and sends the format as it is', async () => {
    const { entry, later, requests, paid, ledger } = await ask([ADA]);
    assert.equal(entry.result!.content, ADA.text);
    assert.deepEqual(entry.result!['json'], { name: 'Ada', age: 36 });
    assert.deepEqual(later!.result!['value'], { name: 'Ada', age: 36 });
    assert.deepEqual(
      requests.map(({ body }) => body['response_format']),
      [FORMAT],
    );
    assert.deepEqual(paid, [['Succeeded', ONE_CALL]]);
    assert.deepEqual(ledger, [[0, 'applied', Number(ONE_CALL)]]);
  });

  it('tells the model once what is wrong, and charges both calls in one transaction', async () => {
    const { run, entry, requests, paid, ledger, cost } = await ask([WRONG, ADA]);
    assert.deepEqual(entry.result!['json'], { name: 'Ada', age: 36 });
    assert.deepEqual(entry.result!['usage'], { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 });
    assert.equal(requests.length, 2);
    const [question, own, correction] = requests[1]!.messages as { role: string; content: string }[];
    assert.deepEqual([question!.content, own], ['Who?', { role: 'assistant', content: WRONG.text }]);
    assert.equal(correction!.role, 'user');
    assert.match(correction!.content, /must have required property 'age'/);
    assert.ok(correction!.content.includes(JSON.stringify(PERSON)));
    assert.deepEqual(requests[1]!.body['response_format'], FORMAT);
    const keys = requests.map(({ headers }) => headers['idempotency-key']);
    assert.deepEqual(keys, [`${run.runId}/${entry.id}`, `${run.runId}/${entry.id}/1`]);
    assert.deepEqual(paid, [['Succeeded', TWO_CALLS]]);
    assert.deepEqual(ledger, [
      [0, 'applied', Number(ONE_CALL)],
      [1, 'applied', Number(ONE_CALL)],
    ]);
    assert.equal(cost, Number(TWO_CALLS));
  });

  const wrong: [title: string, text: string, message: RegExp][] = [
    ['no JSON', 'Ada, 36', /it is not JSON/],
    ['nothing', '', /it is not JSON/],
    ['JSON with words around it', 'Here: {"name": "Ada", "age": 36}', /it is not JSON/],
    ['a key too many', '{"name": "Ada", "age": 36, "x": 1}', /must NOT have additional properties: "x"/],
    ['another type', '{"name": "Ada", "age": "36"}', /\/age must be integer/],
    ['a list', '[]', /must be object/],
  ];
  for (const [title, text, message] of wrong) {
    it(`fails with invalid_output when the second answer is wrong, too, and charges both: ${title}`, async () => {
      const { run, entry, requests, paid, ledger } = await ask([{ text }]);
      assert.deepEqual([run.status, entry.error!.code], ['failed', 'invalid_output']);
      assert.match(entry.error!.message, message);
      assert.equal(requests.length, 2);
      assert.deepEqual(paid, [['Error', TWO_CALLS]]);
      assert.deepEqual(
        ledger.map(([, state]) => state),
        ['applied', 'applied'],
      );
    });
  }

  it('takes JSON in a Markdown code fence, as variables do', async () => {
    const { entry, requests } = await ask([{ text: '```json\n{"name": "Ada", "age": 36}\n```' }]);
    assert.deepEqual(entry.result!['json'], { name: 'Ada', age: 36 });
    assert.equal(requests.length, 1);
  });

  it('takes JSON between sentences in one fence, behind thoughts, and beside parts of the content that are none', async () => {
    const fenced = `Here it is:\n\n\`\`\`json title="a.json"\n${ADA.text}\n\`\`\`\nAnything else?`;
    const parts = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Who is it?' }] },
      { type: 'text', ...ADA },
    ];
    const answers: ModelAnswer[] = [
      { text: fenced },
      { text: `<think>Is it {"name": "Bob"}?</think>\n${ADA.text}` },
      { message: { content: parts }, streams: false },
      { message: { content: parts } },
    ];
    for (const answer of answers) {
      const { entry, requests } = await ask([answer]);
      assert.deepEqual(entry.result!['json'], { name: 'Ada', age: 36 });
      assert.equal(entry.result!.content, answer.text ?? ADA.text);
      assert.equal(requests.length, 1);
    }
  });

  it('gives the model its answer back as it came when it asks once more', async () => {
    const message = { role: 'assistant', content: WRONG.text, reasoning_content: 'It is Ada.', seed: 7 };
    for (const streams of [false, true]) {
      const { entry, requests } = await ask([{ message, streams }, ADA]);
      assert.deepEqual(entry.result!['json'], { name: 'Ada', age: 36 });
      assert.deepEqual(requests[1]!.messages[1], message);
    }
  });

  it('keeps integers beyond 2^53 of an answer', async () => {
    const { run, entry } = await ask([{ text: '{"name": "Ada", "age": 12345678901234567890}' }]);
    const headers = { 'x-api-key': stack.apiKey };
    const poll = await fetch(`${stack.apiUrl}/api/v1/workflows/workflow_result/?id=${run.runId}`, { headers });
    assert.ok((await poll.text()).includes('"json":{"name":"Ada","age":12345678901234567890}'), entry.id);
  });

  it('with json_object takes any object, and no other JSON', async () => {
    const format = { type: 'json_object' };
    const fits = await ask([{ text: '{"any": ["thing"]}' }], format);
    assert.deepEqual(fits.entry.result!['json'], { any: ['thing'] });
    const repaired = await ask([{ text: '[1]' }, { text: '{}' }], format);
    assert.deepEqual([repaired.entry.result!['json'], repaired.paid], [{}, [['Succeeded', TWO_CALLS]]]);
  });

  it('of the type text is not looked at', async () => {
    const { entry, requests } = await ask([{ text: 'Ada' }], { type: 'text' });
    assert.deepEqual([entry.result!.content, 'json' in entry.result!], ['Ada', false]);
    assert.equal(requests.length, 1);
  });

  it('says that the model has refused, and does not ask again', async () => {
    const message = { role: 'assistant', content: null, refusal: 'I cannot help with that' };
    const body = {
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    };
    const { entry, requests, paid } = await ask([{ body }]);
    assert.equal(entry.error!.code, 'invalid_output');
    assert.match(entry.error!.message, /refused to answer: I cannot help with that/);
    assert.equal(requests.length, 1);
    assert.deepEqual(paid, [['Error', ONE_CALL]]);
  });

  it('tells the model that its answer was cut off', async () => {
    const { entry, requests, paid } = await ask([{ text: '{"name": "Ad', finishReason: 'length' }, ADA]);
    assert.deepEqual(entry.result!['json'], { name: 'Ada', age: 36 });
    assert.match(String(requests[1]!.messages.at(-1)!.content), /cut off at its greatest length/);
    assert.deepEqual(paid, [['Succeeded', TWO_CALLS]]);
  });

  it('makes the second call again when the provider is away, not the first one, and charges each once', async () => {
    const { entry, requests, paid, ledger } = await ask([WRONG, { status: 503 }, ADA]);
    assert.deepEqual(entry.result!['json'], { name: 'Ada', age: 36 });
    assert.deepEqual(
      requests.map(({ messages }) => messages.length),
      [1, 3, 3],
    );
    assert.deepEqual(paid, [['Succeeded', TWO_CALLS]]);
    assert.equal(ledger.length, 2);
  });

  it('charges the first call when the second one is refused', async () => {
    const { entry, requests, paid, cost } = await ask([WRONG, { status: 400 }]);
    assert.equal(entry.error!.code, 'provider_error');
    assert.equal(requests.length, 2);
    assert.deepEqual(paid, [['Error', ONE_CALL]]);
    assert.equal(cost, Number(ONE_CALL));
  });

  it('takes its format out of variables, and fails before the call where that is none', async () => {
    const fits = await ask([ADA], '{{ input.format }}', { format: FORMAT });
    assert.deepEqual(fits.entry.result!['json'], { name: 'Ada', age: 36 });
    const bad = await ask([ADA], '{{ input.format }}', { format: { type: 'json_schema' } });
    assert.equal(bad.entry.error!.code, 'invalid_response_format');
    assert.deepEqual([bad.requests.length, bad.paid], [0, [['Error', '0']]]);
    const lost = { type: 'json_schema', json_schema: { name: 'a', schema: { $ref: '#/$defs/nobody' } } };
    const unresolved = await ask([ADA], lost);
    assert.equal(unresolved.entry.error!.code, 'invalid_response_format');
    assert.equal(unresolved.requests.length, 0);
  });

  it('says what is wrong with a format, in a 422', async () => {
    const asked = llm('Who?', {
      settings: { model_name: 'm', response_format: { type: 'json_schema', json_schema: {} } },
    });
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(linkInRow([trigger(), asked])));
    const { status, data } = await api.run(workflowId);
    assert.equal(status, 422);
    assert.deepEqual(data.data![asked.id]!.result, [
      { 'settings.response_format.json_schema.name': 'Field required' },
      { 'settings.response_format.json_schema.schema': 'Field required' },
    ]);
  });
});
