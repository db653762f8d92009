import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer, ApiClient } from '../../../harness/client/api-client.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import { createApiClient } from '../../../harness/client/api-client.js';
import type { Detail } from '../bodies.js';

interface Outcome {
  applied: boolean;
  run_status: string;
}

describe('execution-update', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let workflowId: number;
  let data: ReturnType<typeof chain>;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    data = chain(1);
    workflowId = await api.createWorkflow(await api.createProject(), data);
  });

  /** Creates a run that no workflow executes: a copy of a finished run, reopened. */
  const openRun = async (): Promise<string> => {
    const { data: ended } = await api.run(workflowId);
    await api.pollToEnd(ended.id);
    const runId = randomUUID();
    await queryDatabase(
      stack,
      `INSERT INTO runs (id, workflow_id, project_id, user_id, status, snapshot_hash, input)
       SELECT $1, workflow_id, project_id, user_id, 'In Progress', snapshot_hash, input FROM runs WHERE id = $2`,
      [runId, ended.id],
    );
    return runId;
  };

  const report = <T = Outcome>(runId: string, body: unknown, token?: string): Promise<ApiAnswer<T>> =>
    createApiClient(stack.apiUrl).post<T>(`/workflows/execution-update/${runId}/`, {
      body,
      headers: { authorization: `Bearer ${token ?? stack.stack.internal_token}` },
    });

  describe('200', () => {
    it('moves a run from in queue over in progress to its end', async () => {
      const runId = await openRun();
      assert.equal((await api.poll(runId)).data.status, 'in queue');
      const started = await report(runId, { sequence: 1, status: 'in progress' });
      assert.deepEqual([started.status, started.body], [200, { applied: true, run_status: 'In Progress' }]);
      assert.equal((await api.poll(runId)).data.status, 'in progress');
      const finishedAt = new Date(Date.now() - 1000).toISOString();
      const ended = await report(runId, { sequence: 2, status: 'succeed', finished_at: finishedAt });
      assert.deepEqual(ended.body, { applied: true, run_status: 'Succeeded' });
      assert.equal((await api.poll(runId)).data.status, 'succeed');
    });

    it('a repeat and an older report change nothing', async () => {
      const runId = await openRun();
      await report(runId, { sequence: 5, status: 'in progress' });
      for (const sequence of [5, 4, 1]) {
        const { status, body } = await report(runId, { sequence, status: 'failed' });
        assert.deepEqual([status, body], [200, { applied: false, run_status: 'In Progress' }]);
      }
      await report(runId, { sequence: 6, status: 'cancelled' });
      const again = await report(runId, { sequence: 6, status: 'cancelled' });
      assert.deepEqual([again.status, again.body], [200, { applied: false, run_status: 'Cancelled' }]);
    });

    it('of many ends that are reported at once one is applied, and the others change nothing', async () => {
      const runId = await openRun();
      const reports = Array.from({ length: 10 }, (_, index) =>
        report(runId, { sequence: index + 1, status: index % 2 === 0 ? 'succeed' : 'failed' }),
      );
      const answers = await Promise.all(reports);
      const applied = answers.filter(({ body }) => body.applied);
      assert.equal(applied.length, 1);
      assert.ok(answers.every(({ status }) => status === 200 || status === 409));
      assert.equal((await api.history(workflowId, runId)).status, applied[0]!.body.run_status);
    });

    it('closes the nodes that no activity could close', async () => {
      const runId = await openRun();
      const node = data.start_node;
      const error = { code: 'timeout', message: 'It took too long.' };
      const nodes = { [node]: { status: 'failed', error } };
      await report(runId, { sequence: 1, status: 'failed', nodes, error: { ...error, node_id: node } });
      const { version, data: entries, ...polled } = (await api.poll(runId)).data;
      assert.deepEqual(polled, { id: runId, status: 'failed' });
      const { started_at: startedAt, finished_at: finishedAt, ...entry } = entries![node]!;
      assert.deepEqual(entry, { id: node, status: 'failed', error });
      assert.equal(startedAt, finishedAt);
      assert.ok(version! > 0);
      assert.deepEqual((await api.history(workflowId, runId))['error'], error);
    });
  });

  describe('400, 401, 404 and 409', () => {
    it('a body that is no report is refused by its fields', async () => {
      const runId = await openRun();
      const bodies: [body: unknown, field: string][] = [
        [{ status: 'succeed' }, 'sequence'],
        [{ sequence: 0, status: 'succeed' }, 'sequence'],
        [{ sequence: 1.5, status: 'succeed' }, 'sequence'],
        [{ sequence: 99999999999, status: 'succeed' }, 'sequence'],
        [{ sequence: 1, status: 'done' }, 'status'],
        [{ sequence: 1, status: 'failed', finished_at: 'yesterday' }, 'finished_at'],
        [{ sequence: 1, status: 'failed', finished_at: '0000-06-01T00:00:00Z' }, 'finished_at'],
        [{ sequence: 1, status: 'failed', nodes: { a: { status: 'succeed' } } }, 'nodes'],
      ];
      for (const [body, field] of bodies) {
        const answer = await report<object>(runId, body);
        assert.deepEqual([answer.status, Object.keys(answer.body)], [400, [field]], JSON.stringify(body));
      }
      assert.equal((await api.poll(runId)).data.status, 'in queue');
    });

    it('only the internal token is let in: no API key, no other token, no prefix of it', async () => {
      const runId = await openRun();
      const body = { sequence: 1, status: 'succeed' };
      const token = stack.stack.internal_token;
      for (const wrong of ['', 'x', token.slice(0, -1), `${token}x`, stack.apiKey]) {
        assert.equal((await report(runId, body, wrong)).status, 401, wrong);
      }
      const withKey = await api.post<Detail>(`/workflows/execution-update/${runId}/`, { body });
      assert.deepEqual([withKey.status, withKey.body.code], [401, 'not_authenticated']);
      assert.equal((await api.poll(runId)).data.status, 'in queue');
    });

    it('an unknown run is a 404', async () => {
      for (const runId of [randomUUID(), 'x']) {
        assert.equal((await report(runId, { sequence: 1, status: 'succeed' })).status, 404);
      }
    });

    it('a new report on a run that has ended is a 409, and changes nothing', async () => {
      const runId = await openRun();
      await report(runId, { sequence: 1, status: 'succeed' });
      const late = await report<Detail>(runId, { sequence: 2, status: 'failed' });
      assert.deepEqual([late.status, late.body.code], [409, 'run_ended']);
      assert.equal((await api.poll(runId)).data.status, 'succeed');
    });
  });
});
