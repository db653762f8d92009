import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createAccount } from '../api/accounts.js';
import type { ApiClient } from '../../harness/client/api-client.js';
import { drawing, http, linkInRow, node, resultOf, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { historyOf, tablesWith } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { taskOf } from '../support/waiting.js';

const MASK = '********';

describe('secret fields of a human task', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    target = await startHttpTarget();
  });
  after(() => target.close());

  const sent = (path: string) => target.requestsTo(path).map(({ headers }) => headers['x-code']);
  /** A drawing that asks for `fields`, calls the target with the entered code, and puts out the code again. */
  function draw(fields: object[], path: string) {
    const ask = node('human', { message: 'Well?', fields });
    const call = http(`${target.url}${path}`, { headers: { 'X-Code': resultOf(ask, 'values.code') } });
    const echo = node('set', { value: `again ${resultOf(ask, 'values.code')} {{ ${ask.id}.result.content }}` });
    return { ask, call, echo, data: drawing(linkInRow([trigger(), ask, call, echo])) };
  }
  async function begin(data: object, ask: DrawingNode) {
    const project = await api.createProject();
    const workflowId = await api.createWorkflow(project, data);
    const { data: run } = await api.run(workflowId);
    return { workflowId, runId: run.id, task: `/human-tasks/${await taskOf(api, run.id, ask.id)}/` };
  }

  it('reach the nodes that use them, and nobody else: masked in every answer, sealed at rest, in no history', async () => {
    const [code, short] = [`code-${randomUUID()}`, 'k9'];
    const fields = [
      { id: 'code', is_secret: true, input_requirements: true },
      { id: 'pin', is_secret: true },
      { id: 'note' },
    ];
    const { ask, echo, call, data } = draw(fields, '/entered');
    const { workflowId, runId, task } = await begin(data, ask);
    const values = { code, pin: short, note: `it is ${code}` };
    const answered = await api.post<{ answers: { values: object; comment: string }[] }>(`${task}answer/`, {
      body: { action: 'done', values, comment: `I wrote ${code}` },
    });
    assert.equal(answered.status, 200);
    const shown = { code: MASK, pin: MASK, note: `it is ${MASK}` };
    assert.deepEqual(answered.body.answers[0]?.values, shown);
    assert.equal(answered.body.answers[0]?.comment, `I wrote ${MASK}`);
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.status, 'succeed');
    assert.deepEqual(sent('/entered'), [code]);
    const nodes = end.data.data!;
    assert.deepEqual(nodes[ask.id]!.result!['values'], shown);
    assert.equal(nodes[echo.id]!.result!.content, `again ${MASK} done`);
    const history = `/workflows/${workflowId}/history/${runId}`;
    const paths = [`${history}/`, `${history}/nodes/${ask.id}/`, `${history}/nodes/${call.id}/`, task, '/human-tasks/'];
    const answers = await Promise.all(paths.map(async (path) => (await api.get(path)).body));
    const told = JSON.stringify([answered.body, end, answers, await historyOf(stack, runId)]);
    for (const secret of [code, `"${short}"`]) assert.ok(!told.includes(secret), secret);
    const tables = [
      'human_tasks',
      'human_answers',
      'node_results',
      'runs',
      'run_events',
      'webhook_deliveries',
      'waits',
    ];
    assert.deepEqual(await tablesWith(stack, tables, [code]), []);

    const resumed = await api.post<{ data: { id: string } }>(`${history}/resume/`, { body: { from: [echo.id] } });
    assert.equal(resumed.status, 201);
    const again = await api.pollToEnd(resumed.body.data.id);
    assert.equal(
      again.data.data![echo.id]!.result!.content,
      `again ${MASK} done`,
      'the run that resumes it masks them',
    );
    assert.ok(!JSON.stringify(again).includes(code));
  });

  it('have defaults that are secret, too: whoever answers sees ********, and may leave them', async () => {
    const canary = `default-${randomUUID()}`;
    const fields = [{ id: 'code', is_secret: true, input_requirements: true, default_value: canary }];
    const { ask, data } = draw(fields, '/default');
    const left = await begin(data, ask);
    const { body } = await api.get<{ fields: { default_value: string }[] }>(left.task);
    assert.equal(body.fields[0]?.default_value, MASK);
    const drawn = await api.get<{ data: object }>(`/workflows/${left.workflowId}/`);
    assert.ok(!JSON.stringify(drawn.body).includes(canary));
    assert.equal((await api.patch(`/workflows/${left.workflowId}/`, { body: { data: drawn.body.data } })).status, 200);
    for (const values of [{}, { code: MASK }, { code: 'my own one' }]) {
      const { runId, task } = await begin(data, ask);
      assert.equal((await api.post(`${task}answer/`, { body: { action: 'done', values } })).status, 200);
      assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    }
    assert.deepEqual(sent('/default'), [canary, canary, 'my own one']);
    assert.deepEqual(
      await tablesWith(stack, ['workflows', 'human_tasks', 'human_answers', 'node_results'], [canary]),
      [],
    );
    const exported = await api.get(`/workflows/${left.workflowId}/export/`);
    assert.ok(!JSON.stringify(exported.body).includes(canary));
  });

  it('are refused as ******** where they have no default and are required, and are never ******** at the target', async () => {
    const { ask, data } = draw([{ id: 'code', is_secret: true, input_requirements: true }], '/never');
    const { task } = await begin(data, ask);
    const refused = await api.post<object>(`${task}answer/`, { body: { action: 'done', values: { code: MASK } } });
    assert.deepEqual([refused.status, Object.keys(refused.body)], [400, ['values.code']]);
    const long = await api.post<object>(`${task}answer/`, {
      body: { action: 'done', values: { code: 'x'.repeat(70_000) } },
    });
    assert.deepEqual([long.status, Object.keys(long.body)], [400, ['values.code']]);
    const literal = draw([{ id: 'code', is_secret: true, default_value: MASK }], '/never');
    const run = await begin(literal.data, literal.ask);
    assert.equal((await api.post(`${run.task}answer/`, { body: { action: 'done' } })).status, 200);
    await api.pollToEnd(run.runId);
    assert.deepEqual(sent('/never'), ['']);
  });
});
