// Code nodes in whole runs: their inputs, outputs, failures and cancellation.
import assert from 'node:assert/strict';
import { createAccount, type Account } from '../api/accounts.js';
import type { ApiClient, Envelope } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  drawing,
  http,
  linkInRow,
  llm,
  node,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { transactionsOf } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

const ID = '12345678901234567891';

function code(text: string, inputs: Record<string, unknown> = {}, settings: Record<string, unknown> = {}): DrawingNode {
  return node('code', { code: text, inputs, settings });
}

describe('code nodes', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    ({ api } = account);
    target = await startHttpTarget();
  });
  after(() => target.close());

  async function runToEnd(nodes: DrawingNode[], inputText: string) {
    const id = await api.createWorkflow(await api.createProject(), drawing(linkInRow(nodes)));
    const { body } = await api.post<Envelope>(`/workflows/${id}/run/`, { text: inputText });
    assert.equal(body.status, 201, JSON.stringify(body));
    const { data } = await api.pollToEnd(body.data.id, { timeoutMs: 60_000 });
    return { runId: body.data.id, workflowId: id, status: data.status, nodes: data.data ?? {} };
  }

  /** A poll as text: a parser would round large numbers. */
  async function pollText(runId: string): Promise<string> {
    const headers = { 'x-api-key': account.apiKey };
    const answer = await fetch(`${stack.apiUrl}/api/v1/workflows/workflow_result/?id=${runId}`, { headers });
    return answer.text();
  }

  async function failureOf(failing: DrawingNode, inputText = '{}') {
    const { status, nodes } = await runToEnd([trigger(), failing], inputText);
    assert.equal(status, 'failed');
    return nodes[failing.id]!.error!;
  }

  it('stand between a trigger, an HTTP request and a model, and every value stays exact', async () => {
    target.on('/order', { body: `{"id":${ID},"items":[{"price":2},{"price":40}]}` });
    const read = http(`${target.url}/order`);
    const sum = code(
      `console.log('items:', inputs.order.items.length);
       const total = inputs.order.items.reduce((sum, { price }) => sum + price, 0);
       return { next: inputs.order.id + 1n, total, who: inputs.who, all: inputs.all };`,
      { order: resultOf(read, 'json'), who: 'for {{ input.name }}', all: ['{{ input.n }}', 0.5, null] },
    );
    const send = http(`${target.url}/sums`, {
      method: 'POST',
      body: { got: resultOf(sum, 'value'), next: resultOf(sum, 'value.next') },
    });
    const ask = llm(`Say ${resultOf(sum)}`, { settings: { model_name: 'code-node' } });
    const { runId, status, nodes } = await runToEnd([trigger(), read, sum, send, ask], `{"name":"Ada","n":${ID}}`);
    assert.equal(status, 'succeed', JSON.stringify(nodes));
    const value = `{"next":12345678901234567892,"total":42,"who":"for Ada","all":[${ID},0.5,null]}`;
    const result = `"result":{"content":${JSON.stringify(value)},"value":${value},"logs":["items: 2"]}`;
    const poll = await pollText(runId);
    assert.ok(poll.includes(result), poll);
    assert.equal(target.requestsTo('/sums')[0]!.body, `{"got":${value},"next":12345678901234567892}`);
    const [asked] = stack.modelProvider.requestsFor('code-node');
    assert.ok(asked!.text.includes(JSON.stringify(`Say ${value}`)), asked!.text);
    assert.equal((await transactionsOf(stack, runId)).length, 5, 'one for each node');
  });

  it('give a text as it is, and anything else as JSON', async () => {
    const [text, empty, list] = [code('return "a\\nb"'), code(' '), code('return [1]')];
    const { nodes } = await runToEnd([trigger(), text, empty, list], '{}');
    assert.deepEqual(nodes[text.id]!.result, { content: 'a\nb', value: 'a\nb', logs: [] });
    assert.deepEqual(nodes[empty.id]!.result, { content: 'null', value: null, logs: [] });
    assert.deepEqual(nodes[list.id]!.result, { content: '[1]', value: [1], logs: [] });
  });

  it('may return and write characters that the database does not store', async () => {
    const strange = code('console.log("a\\0b", "\\ud800"); return { "k\\0": "a\\0b", s: "\\ud800", t: "\\udc00x" }');
    const { status, nodes } = await runToEnd([trigger(), strange], '{}');
    assert.equal(status, 'succeed', JSON.stringify(nodes));
    const content = '{"k\\u0000":"a\\u0000b","s":"\\ud800","t":"\\udc00x"}';
    const value = { 'k\ufffd': 'a\ufffdb', s: '\ufffd', t: '\ufffdx' };
    assert.deepEqual(nodes[strange.id]!.result, { content, value, logs: ['a\ufffdb \ufffd'] });
  });

  it('take variables in inputs only: in the code they are text, and no value becomes code', async () => {
    const taken = code('return [inputs.text, "{{ input.text }}"]', { text: '{{ input.text }}' });
    const hostile = '"]; return process; ["';
    const { nodes } = await runToEnd([trigger(), taken], JSON.stringify({ text: hostile }));
    assert.deepEqual(nodes[taken.id]!.result!['value'], [hostile, '{{ input.text }}']);
  });

  it('say in the poll what went wrong, and where', async () => {
    const thrown = await failureOf(
      code('const a = inputs.list;\nreturn a.map((x) => x);', { list: '{{ input.none }}' }),
    );
    assert.equal(thrown.code, 'code_error');
    assert.match(thrown.message, /^TypeError: .*\(line 2\)$/);
    const late = await failureOf(code('for (;;) {}', {}, { timeout: 0.3 }));
    assert.deepEqual(late, { ...late, code: 'code_timeout', message: 'The code ran longer than 0.3 s.' });
    const full = await failureOf(code('const a = []; for (;;) a.push(new Array(1000).fill(0))', {}, { timeout: 30 }));
    assert.deepEqual(full, { ...full, code: 'code_memory', message: 'The code needed more than 64 MiB of memory.' });
    const large = await failureOf(code('return "x".repeat(2 ** 20)'));
    assert.equal(large.code, 'output_too_large');
    const deep = await failureOf(code('let a = []; for (let i = 0; i < 600; i += 1) a = [a]; return a'));
    assert.deepEqual([deep.code, /deeper than 500/.test(deep.message)], ['code_error', true]);
    // The database does not store these characters.
    const strange = await failureOf(code('throw new Error("ab\\0c\\ud800d")'));
    assert.deepEqual(strange, { ...strange, code: 'code_error', message: 'Error: ab\ufffdc\ufffdd (line 1)' });
  });

  it('are not attempted again when the code has failed', async () => {
    const failing = code('throw new Error("once")');
    const { workflowId, runId } = await runToEnd([trigger(), failing], '{}');
    const { body } = await api.get<{ attempts: unknown[] }>(
      `/workflows/${workflowId}/history/${runId}/nodes/${failing.id}/`,
    );
    assert.equal(body.attempts.length, 1, JSON.stringify(body));
  });

  it('mask a secret in what they return, write and throw', async () => {
    const fields = [{ id: 'token', is_secret: true }];
    const inputs = { token: '{{ input.token }}' };
    const showing = code('console.log("is " + inputs.token); return { token: inputs.token }', inputs);
    const throwing = code('throw new Error("bad " + inputs.token)', inputs);
    const { runId, nodes } = await runToEnd([trigger(fields), showing, throwing], '{"token":"s3cr3t-t0k3n"}');
    assert.deepEqual(nodes[showing.id]!.result!['value'], { token: '********' });
    assert.deepEqual(nodes[showing.id]!.result!['logs'], ['is ********']);
    assert.match(nodes[throwing.id]!.error!.message, /bad \*{8}/);
    assert.ok(!(await pollText(runId)).includes('s3cr3t'));
  });

  it('are stopped when the run is cancelled, long before their time is up, and are not attempted again', async () => {
    // The code does not check the time, so only the kill of its process ends it.
    const stubborn = code('return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)', {}, { timeout: 30 });
    const id = await api.createWorkflow(await api.createProject(), drawing(linkInRow([trigger(), stubborn])));
    const runId = (await api.run(id)).data.id;
    await eventually(async () => (await api.poll(runId)).data.data?.[stubborn.id]?.status === 'in progress');
    const startedAt = performance.now();
    assert.equal((await api.post(`/workflows/${id}/history/${runId}/cancel/`)).status, 200);
    const end = await api.pollToEnd(runId, { timeoutMs: 60_000 });
    assert.equal(end.data.data![stubborn.id]!.error!.code, 'cancelled');
    assert.equal((await api.history(id, runId)).status, 'Cancelled');
    assert.ok(performance.now() - startedAt < 20_000, 'long before its time is up');
    const { body } = await api.get<{ attempts: unknown[] }>(`/workflows/${id}/history/${runId}/nodes/${stubborn.id}/`);
    assert.equal(body.attempts.length, 1, JSON.stringify(body));
  });

  it('are refused before the run when a field is wrong', async () => {
    const wrong = code('', { a: 1 }, { timeout: 31 });
    const id = await api.createWorkflow(await api.createProject(), drawing(linkInRow([trigger(), wrong])));
    const { status, data } = await api.run(id);
    assert.equal(status, 422);
    assert.equal(JSON.stringify(data.data?.[wrong.id]?.result).includes('settings.timeout'), true);
  });

  it('warn of a variable that stands in the code', async () => {
    const read = http(`${target.url}/x`);
    const warned = code(
      `return "{{ input.name }}" + ${JSON.stringify(resultOf(read))} + \`\${{ a: 1 }}\` + "{{ no variable }}"`,
    );
    const id = await api.createWorkflow(await api.createProject(), drawing(linkInRow([trigger(), read, warned])));
    const { body } = await api.get<{ warnings: { code: string; message: string }[] }>(
      `/workflows/${id}/check_workflow/`,
    );
    assert.deepEqual(
      body.warnings.map((warning) => warning.code),
      ['literal_variable', 'literal_variable'],
    );
    assert.match(body.warnings[0]!.message, /\{\{ input\.name \}\} is not filled in in "code"/);
  });
});
