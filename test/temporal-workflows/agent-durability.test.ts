import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { createDatabase } from '../../db/core/client.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { createGate } from '../../harness/timing/gate.js';
import { agent, drawing, link, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { historyOf, queryDatabase, transactionsOf } from '../support/inspect.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { wrapTemporal, type WrappedTemporal } from '../support/wrapped-temporal.js';
import { approvalsOf, decide } from '../support/agents.js';
import { startToolServer, type ToolServer } from '../../harness/target/tool-server.js';

const TURNS = 200;

describe('durability of agents', function () {
  this.timeout(240_000);
  let temporal: WrappedTemporal;
  let stack: TestStack;
  let api: ApiClient;
  let tools: ToolServer;

  before(async () => {
    // The server suggests a new execution after 60 events.
    temporal = await wrapTemporal({ 'limit.historyCount.suggestContinueAsNew': 60 });
    stack = await startStack({ env: { TEMPORAL_CLI: temporal.file } });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    tools = await startToolServer();
  });

  after(async () => {
    await tools.close();
    await stack.stop();
    temporal.remove();
  });

  async function startRun(nodes: DrawingNode[]) {
    const start = trigger();
    link(start, nodes);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([start, ...nodes]));
    return { workflowId, runId: (await api.run(workflowId)).data.id };
  }

  const add = (a: number, b: number) => ({ toolCalls: [{ name: 'add', arguments: { a, b } }] });
  const server = (require_approval: unknown) => ({ endpoint_url: tools.url, require_approval });

  it(`an agent of ${TURNS} turns goes on over many executions, with an approval pending across them`, async () => {
    let turn = 0;
    stack.modelProvider.script('many-turns', () => (turn++ < TURNS ? add(turn, 0) : { text: 'counted' }));
    stack.modelProvider.script('waits', [
      { toolCalls: [{ name: 'note', arguments: { text: 'late' } }] },
      { text: 'noted' },
    ]);
    const settings = { max_iterations: TURNS + 1 };
    const busy = agent('count', { model_name: 'many-turns', ...settings }, [server('never')]);
    const waiting = agent('wait', { model_name: 'waits' }, [server('always')]);
    const { runId } = await startRun([busy, waiting]);
    const requestId = (await approvalsOf(api, runId, waiting.id))[0]!.request_id;
    await eventually(async () => (await api.poll(runId)).data.data?.[busy.id]?.status === 'succeed', {
      timeoutMs: 180_000,
      intervalMs: 500,
    });
    assert.equal(tools.callsOf('note').length, 0);
    assert.equal((await decide(api, runId, requestId, 'approve')).body.status, 200);
    const end = await api.pollToEnd(runId, { timeoutMs: 30_000 });
    assert.equal(end.data.status, 'succeed', JSON.stringify(end));
    assert.equal(end.data.data![busy.id]!.result!.content, 'counted');
    assert.equal(end.data.data![waiting.id]!.result!.content, 'noted');
    assert.equal(tools.callsOf('add').length, TURNS, 'each call was made once');
    assert.equal(tools.callsOf('note').length, 1);
    assert.equal(stack.modelProvider.requestsFor('many-turns').length, TURNS + 1);
    const events = await historyOf(stack, runId);
    const continued = events.filter(({ type }) => type === 'workflowExecutionContinuedAsNew').length;
    assert.ok(continued >= 10, `${continued} continued executions`);
    assert.equal(events.filter(({ type }) => type === 'workflowTaskFailed').length, 0);
  });

  it('survives kill -9 of worker, API and Temporal while it waits: every call made once, every model call billed once', async () => {
    const thoughts = { reasoning_content: 'hm', reasoning_details: [{ type: 'reasoning.text', text: 'hm', index: 0 }] };
    stack.modelProvider.script('three-calls', [
      add(1, 2),
      { toolCalls: [{ name: 'note', arguments: { text: 'the sum is 3' } }], message: thoughts },
      add(3, 4),
      { text: 'all done' },
    ]);
    const before = tools.calls.length;
    const policy = { always: { tool_names: ['note'] }, never: { tool_names: ['add'] } };
    const node = agent('work', { model_name: 'three-calls' }, [server(policy)]);
    const { runId, workflowId } = await startRun([node]);
    const requestId = (await approvalsOf(api, runId, node.id))[0]!.request_id;
    const killed = { ...stack.stack.pids };
    for (const name of ['worker', 'api', 'temporal'] as const) process.kill(killed[name]!, 'SIGKILL');
    for (const name of ['worker', 'api', 'temporal'] as const) {
      await eventually(() => stack.stack.pids[name] !== undefined && stack.stack.pids[name] !== killed[name], {
        timeoutMs: 30_000,
      });
    }
    await eventually(async () => (await fetch(`${stack.apiUrl}/readyz`)).ok, { timeoutMs: 30_000 });
    assert.equal((await decide(api, runId, requestId, 'approve')).body.status, 200);
    const end = await api.pollToEnd(runId, { timeoutMs: 60_000 });
    assert.equal(end.data.data![node.id]!.result!.content, 'all done');
    assert.deepEqual(
      tools.calls.slice(before).map(({ tool }) => tool),
      ['add', 'note', 'add'],
    );
    const requests = stack.modelProvider.requestsFor('three-calls');
    assert.equal(requests.length, 4);
    const { reasoning_content, reasoning_details } = requests[2]!.messages[3] as Partial<typeof thoughts>;
    assert.deepEqual({ reasoning_content, reasoning_details }, thoughts, 'the message goes back as it came');
    assert.equal((await api.history(workflowId, runId)).cost['USD'], '0.00008');
    const paid = (await transactionsOf(stack, runId)).filter(({ node_id }) => node_id === node.id);
    assert.equal(paid.length, 1);
  });

  it('pays once for a repair call whose worker is killed between its answer and its record', async () => {
    const locked = createGate();
    stack.modelProvider.script('repair', [{ text: 'three' }, { text: '{"sum": 3}', until: locked.opened }]);
    const settings = { model_name: 'repair', response_format: { type: 'json_object' } };
    const { runId, workflowId } = await startRun([agent('work', settings, [server('never')])]);
    await eventually(() => stack.modelProvider.requestsFor('repair').length === 2, { timeoutMs: 20_000 });
    const db = createDatabase({
      url: stack.stack.database_url,
      poolMax: 1,
      applicationName: 'test',
      onError: () => undefined,
    });
    await db.transaction().execute(async (trx) => {
      // The agent's payments cannot be recorded while this transaction locks the run.
      await sql`SELECT 1 FROM runs WHERE id = ${runId} FOR NO KEY UPDATE`.execute(trx);
      locked.open();
      await eventually(
        async () => {
          const waiting = await queryDatabase(
            stack,
            `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"isOpen" FROM runs%'`,
          );
          return waiting.length > 0;
        },
        { timeoutMs: 20_000 },
      );
      process.kill(stack.stack.pids.worker!, 'SIGKILL');
    });
    await db.destroy();
    const end = await api.pollToEnd(runId, { timeoutMs: 60_000 });
    assert.equal(end.data.status, 'succeed', JSON.stringify(end));
    assert.equal(stack.modelProvider.requestsFor('repair').length, 3);
    assert.equal((await api.history(workflowId, runId)).cost['USD'], '0.00004');
    const paid = (await transactionsOf(stack, runId)).filter(({ operation }) => operation === 'agent');
    assert.equal(paid.length, 1);
  });

  it('calls exactly what was approved, also when the worker is dead meanwhile', async () => {
    stack.modelProvider.script('edited', [
      { toolCalls: [{ name: 'note', arguments: { text: 'mine' } }] },
      { text: 'ok' },
    ]);
    const node = agent('work', { model_name: 'edited' }, [server('always')]);
    const { runId } = await startRun([node]);
    const requestId = (await approvalsOf(api, runId, node.id))[0]!.request_id;
    process.kill(stack.stack.pids.worker!, 'SIGKILL');
    const address = `/workflows/workflow_run/${runId}/agent-approval/${requestId}/approve/`;
    const answer = await api.post<{ status: number }>(address, { body: { arguments: { text: 'yours' } } });
    assert.equal(answer.body.status, 200);
    assert.equal((await api.pollToEnd(runId, { timeoutMs: 60_000 })).data.status, 'succeed');
    const said = tools.callsOf('note').map(({ arguments: { text } }) => text);
    assert.deepEqual([said.filter((text) => text === 'yours').length, said.includes('mine')], [1, false]);
  });

  it('does not repeat a tool call that was in flight when its worker died', async () => {
    stack.modelProvider.script('slow-tool', [
      { toolCalls: [{ name: 'slow', arguments: { ms: 4_000 } }] },
      { text: 'never' },
    ]);
    const node = agent('work', { model_name: 'slow-tool' }, [server('never')]);
    const { runId } = await startRun([node]);
    await eventually(() => tools.callsOf('slow').length === 1, { timeoutMs: 20_000 });
    process.kill(stack.stack.pids.worker!, 'SIGKILL');
    const end = await api.pollToEnd(runId, { timeoutMs: 60_000 });
    assert.equal(end.data.data![node.id]!.error!.code, 'outcome_unknown');
    assert.equal(tools.callsOf('slow').length, 1);
  });
});
