import assert from 'node:assert/strict';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { readRunForPoll, type PolledRun } from '../../../db/runs/poll-repository.js';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { agent, drawing, http, link, trigger, type DrawingNode } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { cancelRun, queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startToolServer, type ToolServer } from '../../../harness/target/tool-server.js';

describe('nodes of a polled run', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let db: Database;
  let api: ApiClient;
  let target: HttpTarget;
  let tools: ToolServer;

  before(async () => {
    stack = await sharedStack();
    db = createDatabase({
      url: stack.stack.database_url,
      poolMax: 1,
      applicationName: 'test',
      onError: () => undefined,
    });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    [target, tools] = await Promise.all([startHttpTarget(), startToolServer()]);
  });
  after(() => Promise.all([db.destroy(), target.close(), tools.close()]));

  async function start(...nodes: DrawingNode[]): Promise<string> {
    const begin = trigger();
    link(begin, nodes);
    return (await api.run(await api.createWorkflow(await api.createProject(), drawing([begin, ...nodes])))).data.id;
  }
  const change = (set: string, nodeId: string): Promise<unknown> =>
    queryDatabase(stack, `UPDATE node_results SET ${set} WHERE node_id = $1`, [nodeId]);

  const read = async (runId: string): Promise<PolledRun> =>
    (await readRunForPoll(db, { runId, userId: stack.stack.user_id }, 30))!;

  /** The nodes in the answer to a poll, in the order in which they started. */
  async function nodesOf(runId: string): Promise<Record<string, Record<string, unknown>>> {
    const { nodes } = await read(runId);
    const { data } = (await api.poll(runId)).data;
    assert.deepEqual(
      Object.keys(data ?? {}).filter((id) => nodes.some((node) => node.id === id)),
      nodes.map(({ id }) => id),
    );
    return data as unknown as Record<string, Record<string, unknown>>;
  }

  it('that succeeded, failed or hold words of all kinds', async () => {
    const calls = ['a', 'b', 'c', 'd'].map((path) => http(`${target.url}/${path}`));
    const runId = await start(...calls);
    await api.pollToEnd(runId);
    const [said, silent, bare] = calls.map(({ id }) => id) as [string, string, string];
    const words = `"quoted" \\ \n\t\u0001 漢字 🙂 </script>`;
    await queryDatabase(
      stack,
      "UPDATE node_results SET status = 'failed', result = NULL, error_code = 'x', error_message = $2 WHERE node_id = $1",
      [said, words],
    );
    await change("status = 'failed', result = NULL", silent);
    await change('result = NULL', bare);
    const nodes = await nodesOf(runId);
    assert.deepEqual([nodes[said]!['status'], nodes[said]!['error']], ['failed', { code: 'x', message: words }]);
    assert.deepEqual(nodes[silent]!['error'], { code: 'failed', message: 'The node failed.' });
    assert.deepEqual([nodes[bare]!['status'], nodes[bare]!['result']], ['succeed', { content: '' }]);
    assert.equal(Object.keys(nodes).length, 5);
  });

  it('that are in progress, with and without a request for an approval', async () => {
    const call = { name: 'add', arguments: { a: 1, b: 2 } };
    stack.modelProvider.script('polled', [{ toolCalls: [call] }, { text: 'ok' }]);
    const waits = agent('work', { model_name: 'polled' }, [{ endpoint_url: tools.url, require_approval: 'always' }]);
    const slow = http(`${target.url}/delay/20000/polled`);
    const runId = await start(waits, slow);
    const nodes = await eventually(async () => {
      const seen = await nodesOf(runId);
      return seen[waits.id]?.['approval_requests'] !== undefined && seen[slow.id] !== undefined && seen;
    });
    const { started_at: startedAt, ...entry } = nodes[slow.id]!;
    assert.deepEqual(entry, { id: slow.id, status: 'in progress', finished_at: null });
    assert.match(String(startedAt), /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
    const [request] = nodes[waits.id]!['approval_requests'] as Record<string, unknown>[];
    assert.deepEqual([request!['tool_name'], request!['status']], ['add', 'pending']);
    assert.deepEqual(nodes[waits.id]!['waiting'], { for: 'approval', until: request!['expires_at'] });
    await cancelRun(stack, runId);
    await api.pollToEnd(runId);
  });

  it('say how long nothing has been stored: since one of them last began or ended', async () => {
    const first = http(`${target.url}/first`);
    const runId = await start(first);
    await api.pollToEnd(runId);
    const old = "started_at = now() - interval '2 hours', finished_at = now() - interval '2 hours'";
    await queryDatabase(stack, `UPDATE node_results SET ${old} WHERE run_id = $1`, [runId]);
    await queryDatabase(stack, "UPDATE runs SET created_at = now() - interval '3 hours' WHERE id = $1", [runId]);
    assert.equal(Math.round((await read(runId)).quietMs / 60_000), 120);
    await change("finished_at = now() - interval '1 hour'", first.id);
    assert.equal(Math.round((await read(runId)).quietMs / 60_000), 60);
  });

  it('that are too large together are left to be read apart', async () => {
    const [small, large] = [http(`${target.url}/small`), http(`${target.url}/bytes/600000`)];
    const begin = trigger();
    link(begin, small);
    link(small, large);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([begin, small, large]));
    const runId = (await api.run(workflowId)).data.id;
    await api.pollToEnd(runId);
    const { nodes } = await read(runId);
    const apart = nodes.filter(({ apartBytes }) => apartBytes !== null);
    assert.deepEqual(
      apart.map(({ id, result }) => [id, result]),
      [[large.id, null]],
    );
    const { data } = await api.poll(runId);
    assert.equal(data.data![large.id]!.result!.content.length, 600_000);
    assert.ok(data.data![small.id]!.result);
  });
});
