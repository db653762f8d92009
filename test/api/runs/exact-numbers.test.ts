// Tests that numbers which no double represents exactly pass unchanged from the input, or from an answer, to every
// output of the service.
import assert from 'node:assert/strict';
import { condition, drawing, http, linkInRow, llm, mcp, resultOf, trigger } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startToolServer, type ToolServer } from '../../../harness/target/tool-server.js';
import type { ApiClient, Envelope } from '../../../harness/client/api-client.js';
import { createApiClient } from '../../../harness/client/api-client.js';
import { createAccount, openSession, type Account } from '../accounts.js';

const ID = '12345678901234567890';
const NEXT = '12345678901234567891';
const SUM = '0.12345678901234567890123';
const HUGE = '1e400';

describe('numbers beyond 2^53', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let target: HttpTarget;
  let tools: ToolServer;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    ({ api } = account);
    target = await startHttpTarget();
    tools = await startToolServer();
  });
  after(async () => {
    await target.close();
    await tools.close();
  });

  /** Returns an answer as text, because a parser would round the numbers. */
  const textOf = async (path: string): Promise<string> => {
    const answer = await fetch(`${stack.apiUrl}/api/v1${path}`, { headers: { 'x-api-key': account.apiKey } });
    return answer.text();
  };

  const start = async (id: number, text: string, client = api): Promise<string> => {
    const { status, body } = await client.post<Envelope>(`/workflows/${id}/run/`, { text });
    assert.deepEqual([status, body.status], [200, 201], JSON.stringify(body));
    const ended = await api.pollToEnd(body.data.id);
    assert.equal(ended.data.status, 'succeed', JSON.stringify(ended));
    return body.data.id;
  };

  it('pass from the input through variables, polls, history and re-run', async () => {
    const call = http(`${target.url}/sums/{{ input.id }}`, {
      method: 'POST',
      body: { id: '{{ input.id }}', all: '{{ input }}', said: 'it is {{ input.sum }}' },
    });
    const equal = condition('{{ input.id }}', '==', `${ID}.0`);
    const less = condition('{{ input.id }}', '<', NEXT);
    const row = linkInRow([trigger(), call, equal, less]);
    const id = await api.createWorkflow(await api.createProject(), drawing(row));
    const input = `{"id":${ID},"sum":${SUM},"huge":${HUGE}}`;
    const session = createApiClient(stack.apiUrl, await openSession(stack, account));
    const runs = [await start(id, input), await start(id, `{"input_data":${input}}`, session)];
    const again = await api.post<Envelope>(`/workflows/${id}/history/${runs[0]}/re-run/`);
    await api.pollToEnd(again.body.data.id);
    for (const runId of [...runs, again.body.data.id]) {
      const poll = await textOf(`/workflows/workflow_result/?id=${runId}`);
      assert.ok(poll.includes(`"result":{"id":${ID},"sum":${SUM},"huge":${HUGE},"content":`), poll);
      for (const node of [equal, less])
        assert.equal((await api.poll(runId)).data.data![node.id]?.result?.content, 'true');
      assert.ok((await textOf(`/workflows/${id}/history/${runId}/`)).includes(`"input_data":${input}`));
    }
    const sent = target.requestsTo(`/sums/${ID}`).map(({ body }) => body);
    assert.deepEqual(
      sent,
      Array.from({ length: 3 }, () => `{"id":${ID},"all":${input},"said":"it is ${SUM}"}`),
    );
  });

  it('pass beside secrets, which are masked, and as secrets themselves', async () => {
    const fields = [{ id: 'pin', is_secret: true }];
    const call = http(`${target.url}/pins`, { method: 'POST', body: { id: '{{ input.id }}', pin: '{{ input.pin }}' } });
    const id = await api.createWorkflow(await api.createProject(), drawing(linkInRow([trigger(fields), call])));
    const runId = await start(id, `{"id":${ID},"pin":${NEXT}}`);
    assert.equal(target.requestsTo('/pins')[0]!.body, `{"id":${ID},"pin":${NEXT}}`);
    const poll = await textOf(`/workflows/workflow_result/?id=${runId}`);
    assert.ok(poll.includes(`{"id":${ID},"pin":"********"`) && !poll.includes(NEXT), poll);
    const again = await api.post<Envelope>(`/workflows/${id}/history/${runId}/re-run/`);
    await api.pollToEnd(again.body.data.id);
    assert.equal(target.requestsTo('/pins')[1]!.body, `{"id":${ID},"pin":${NEXT}}`);
  });

  it('pass from an HTTP answer to text, body, form and comparison, and stand in its json', async () => {
    target.on('/order', {
      body: `{"id":${ID},"items":[{"price":${SUM}}]}`,
      headers: { 'content-type': 'application/json' },
    });
    const read = http(`${target.url}/order`);
    const price = resultOf(read, 'json.items[0].price');
    const json = http(`${target.url}/json`, { method: 'PUT', body: { id: resultOf(read, 'json.id'), price } });
    const form = http(`${target.url}/form`, {
      method: 'PUT',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: { id: resultOf(read, 'json.id') },
    });
    const alone = http(`${target.url}/alone`, { method: 'PUT', body: resultOf(read, 'json.id') });
    const differs = condition(resultOf(read, 'json.id'), '!=', NEXT);
    const row = linkInRow([trigger(), read, json, form, alone, differs]);
    const id = await api.createWorkflow(await api.createProject(), drawing(row));
    const runId = await start(id, '{}');
    assert.equal(target.requestsTo('/json')[0]!.body, `{"id":${ID},"price":${SUM}}`);
    assert.equal(target.requestsTo('/form')[0]!.body, `id=${ID}`);
    assert.equal(target.requestsTo('/alone')[0]!.body, ID);
    const poll = await textOf(`/workflows/workflow_result/?id=${runId}`);
    assert.ok(poll.includes(`"json":{"id":${ID},"items":[{"price":${SUM}}]}`), poll);
    assert.equal((await api.poll(runId)).data.data![differs.id]?.result?.content, 'true');
  });

  it('pass from a model`s answer to tools and to parameters of a model', async () => {
    stack.modelProvider.script('exact-numbers', { text: `\`\`\`json\n{"id": ${ID}}\n\`\`\`` });
    const ask = llm('an id', { settings: { model_name: 'exact-numbers' } });
    const tool = mcp(tools.url, 'note', { text: resultOf(ask, 'id'), list: [resultOf(ask, 'id')] });
    const seeded = llm('again', { settings: { model_name: 'exact-seed', seed: resultOf(ask, 'id') } });
    // The tool expects a text and refuses the call, but the test looks only at the request.
    const row = linkInRow([trigger(), ask, seeded, tool]);
    const id = await api.createWorkflow(await api.createProject(), drawing(row));
    const { body } = await api.post<Envelope>(`/workflows/${id}/run/`, { text: '{}' });
    await api.pollToEnd(body.data.id);
    const sent = tools.bodies.find((text) => text.includes('tools/call'));
    assert.ok(sent?.includes(`"arguments":{"text":${ID},"list":[${ID}]}`), sent);
    const [asked] = stack.modelProvider.requestsFor('exact-seed');
    assert.ok(asked?.text.includes(`"seed":${ID}`), asked?.text);
  });
});
