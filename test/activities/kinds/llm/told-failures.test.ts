import assert from 'node:assert/strict';
import { createApiClient, type NodeEntry } from '../../../../harness/client/api-client.js';
import type { ModelAnswer, ModelRequest } from '../../../../harness/target/fake-model-provider.js';
import { agent, fanOut, llm } from '../../../../harness/drawing/drawing.js';
import { queryDatabase, transactionsOf, type TransactionRow } from '../../../support/inspect.js';
import { sharedStack } from '../../../support/shared-stack.js';

const tired = (code: unknown, more: object = {}): ModelAnswer => ({
  body: { error: { message: 'Upstream is tired', code }, ...more },
});
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const USED = { input: 10, output: 5 };
const FAILED = (code: unknown) => ({ raw: `data: ${JSON.stringify({ error: { message: 'tired', code } })}\n\n` });
const PING = { raw: 'event: ping\ndata:\n\n' };

/** A complete answer with this usage. */
const counted = (usage: object): ModelAnswer => ({
  body: { choices: [{ index: 0, message: { role: 'assistant', content: 'answer' }, finish_reason: 'stop' }], usage },
});
const withoutOptions = ({ body }: ModelRequest): ModelAnswer =>
  'stream_options' in body
    ? { status: 422, body: { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] } }
    : { text: 'without usage' };

interface Case {
  answers: ModelAnswer[] | ((request: ModelRequest) => ModelAnswer);
  /** The content of the answer, or the code of the error. */
  end: string;
  says?: RegExp;
  calls: number;
  /**
   * The charged tokens, at 1 USD a million for input and 2 USD for output. `reserved`: the number of calls charged at
   * the amount reserved.
   */
  pays: { input?: number; output?: number; reserved?: number; estimatedInput?: boolean };
  isEstimated?: boolean;
}

const CASES: Record<string, Case> = {
  'retries what counts as 429': { answers: [tired('429'), {}], end: 'echo: ask', calls: 2, pays: USED },
  'quotes what counts as 503, and charges nothing': {
    answers: [tired(503)],
    end: 'provider_error',
    says: /^The provider answered: 503 Upstream is tired$/,
    calls: 2,
    pays: {},
  },
  'does not retry what counts as 400': { answers: [tired(400)], end: 'provider_error', calls: 1, pays: {} },
  'does not retry an error without a status': {
    answers: [tired('tired')],
    end: 'provider_error',
    says: /^The provider answered with an error: Upstream is tired$/,
    calls: 1,
    pays: {},
  },
  'charges the usage that comes with each error': {
    answers: [tired(503, { usage: USAGE })],
    end: 'provider_error',
    calls: 2,
    pays: { input: 20, output: 10 },
  },
  'charges the one count that comes with an error': {
    answers: [tired(400, { usage: { prompt_tokens: 10 } })],
    end: 'provider_error',
    calls: 1,
    pays: { input: 10 },
    isEstimated: true,
  },
  'retries an error without a status in a stream': {
    answers: [{ parts: [FAILED('overloaded')] }, {}],
    end: 'echo: ask',
    calls: 2,
    pays: USED,
  },
  'says what a stream has said at the last attempt': {
    answers: [{ parts: [FAILED(null)] }],
    end: 'network_error',
    says: /^The stream of the provider has failed: tired$/,
    calls: 2,
    pays: {},
  },
  'charges as estimated a stream that had brought words': {
    answers: [{ parts: ['half', FAILED(503)] }],
    end: 'provider_error',
    calls: 2,
    pays: { reserved: 2 },
    isEstimated: true,
  },
  'charges the words of a stream that failed for good once': {
    answers: [{ parts: ['half', FAILED(400)] }],
    end: 'provider_error',
    calls: 1,
    pays: { reserved: 1 },
    isEstimated: true,
  },
  'retries an answer that ends in an error, and charges its usage': {
    answers: [{ text: '', finishReason: 'error' }, {}],
    end: 'echo: ask',
    calls: 2,
    pays: { input: 20, output: 10 },
  },
  'charges nothing for what is no completion': { answers: [{ body: {} }], end: 'invalid_response', calls: 1, pays: {} },
  'passes over pings': { answers: [{ parts: [PING, 'fi', PING, 'ne', PING] }], end: 'fine', calls: 1, pays: USED },
  'estimates a missing count of the answer': {
    answers: [counted({ prompt_tokens: 10, completion_tokens: null })],
    end: 'answer',
    calls: 1,
    pays: { input: 10, output: 2 },
    isEstimated: true,
  },
  'estimates a missing count of the prompt': {
    answers: [counted({ completion_tokens: 5 })],
    end: 'answer',
    calls: 1,
    pays: { estimatedInput: true, output: 5 },
    isEstimated: true,
  },
  'asks again without the usage of a stream': {
    answers: withoutOptions,
    end: 'without usage',
    calls: 2,
    pays: { estimatedInput: true, output: 5 },
    isEstimated: true,
  },
};

describe('a failure that a provider tells with the status 200', function () {
  this.timeout(120_000);
  const names = Object.keys(CASES);
  const modelOf = (name: string): string => `told-${names.indexOf(name)}`;
  const ended = new Map<string, { entry: NodeEntry; paid: TransactionRow; requests: ModelRequest[] }>();
  let steps: { entry: NodeEntry; paid: TransactionRow; requests: ModelRequest[] };
  let reserved: unknown[];

  before(async () => {
    const stack = await sharedStack();
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    const once = { on_error: 'continue', retry: { max_attempts: 2, delay: 0 } };
    const nodes = names.map((name) => {
      stack.modelProvider.script(modelOf(name), CASES[name]!.answers);
      return llm('ask', { settings: { model_name: modelOf(name), max_tokens: 50 }, ...once });
    });
    stack.modelProvider.script('told-agent', [tired(503, { usage: USAGE }), { parts: ['ha', FAILED('x')] }, {}]);
    const steering = agent('ask', { model_name: 'told-agent', max_tokens: 50 }, [], {
      on_error: 'continue',
      retry: { max_attempts: 3, delay: 0 },
    });
    const all = [...nodes, steering];
    const run = await api.runToEnd(fanOut(all.length, (index) => all[index]!));
    const transactions = await transactionsOf(stack, run.runId);
    const found = all.map(({ id }, index) => ({
      entry: run.nodes[id]!,
      paid: transactions.find(({ node_id: node }) => node === id)!,
      requests: stack.modelProvider.requestsFor(index < names.length ? `told-${index}` : 'told-agent'),
    }));
    for (const [index, name] of names.entries()) ended.set(name, found[index]!);
    steps = found.at(-1)!;
    const open = 'SELECT turn FROM provider_calls WHERE run_id = $1 AND reserved_usd IS NOT NULL';
    reserved = await queryDatabase(stack, open, [run.runId]);
  });

  for (const [name, { end, says, calls, pays, isEstimated = false }] of Object.entries(CASES)) {
    it(name, () => {
      const { entry, paid, requests } = ended.get(name)!;
      assert.equal(entry.error?.code ?? entry.result?.content, end, JSON.stringify(entry));
      if (says !== undefined) assert.match(entry.error!.message, says);
      assert.equal(requests.length, calls);
      const prompt = Math.ceil(requests[0]!.counted.length / 3);
      const { input = 0, output = 0, reserved: cut = 0, estimatedInput = false } = pays;
      const tokens = input + (estimatedInput ? prompt : 0) + 2 * output + cut * (prompt + 2 * 50);
      assert.deepEqual([Math.round(Number(paid.amount_usd) * 1e6), paid.is_estimated], [tokens, isEstimated]);
    });
  }

  it('asks for a stream without its usage in place of none', () => {
    const { requests } = ended.get('asks again without the usage of a stream')!;
    assert.deepEqual(
      requests.map(({ body }) => [body['stream'], body['stream_options']]),
      [
        [true, { include_usage: true }],
        [true, undefined],
      ],
    );
  });

  it('is retried and charged in a step of an agent as in an LLM node', () => {
    const { entry, paid, requests } = steps;
    assert.equal(entry.result?.content, 'echo: ask', JSON.stringify(entry));
    assert.equal(requests.length, 3);
    const prompt = Math.ceil(requests[0]!.counted.length / 3);
    assert.deepEqual(
      [Math.round(Number(paid.amount_usd) * 1e6), paid.is_estimated],
      [20 + (prompt + 2 * 50) + 20, true],
    );
  });

  it('leaves nothing reserved', () => {
    assert.deepEqual(reserved, []);
  });
});
