import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient, NodeEntry, RunRecord } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain, drawing, http, link, llm, trigger } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole } from '../accounts.js';
import type { Detail } from '../bodies.js';

describe('cancelling a run', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let project: number;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    project = await api.createProject();
    target = await startHttpTarget();
  });
  after(() => target.close());

  const startSlowRun = async (): Promise<{ path: string; runId: string; slowId: string; afterId: string }> => {
    const mark = randomUUID();
    const start = trigger();
    const slow = http(`${target.url}/delay/20000/${mark}`);
    const afterwards = llm('never');
    link(start, slow);
    link(slow, afterwards);
    const id = await api.createWorkflow(project, drawing([start, slow, afterwards]));
    const { data } = await api.run(id);
    await eventually(() => target.requestsTo(`/delay/20000/${mark}`).length > 0);
    const path = `/workflows/${id}/history/${data.id}/cancel/`;
    return { path, runId: data.id, slowId: slow.id, afterId: afterwards.id };
  };

  describe('200', () => {
    it('a run in flight ends as Cancelled and polls as failed; its node is cancelled, what follows never ran', async () => {
      const { path, runId, slowId, afterId } = await startSlowRun();
      const { status, body } = await api.post<RunRecord>(path);
      assert.equal(status, 200);
      assert.equal(body.id, runId);
      const { data } = await api.pollToEnd(runId);
      assert.equal(data.status, 'failed');
      assert.equal(data.data?.[slowId]?.error?.code, 'cancelled');
      assert.equal(data.data?.[afterId], undefined);
      const record = await api.history(Number(path.split('/')[2]), runId);
      assert.equal(record.status, 'Cancelled');
      const nodes = record['result'] as Record<string, NodeEntry>;
      assert.deepEqual(nodes, data.data);
    });

    it('a cancel before the run has started in Temporal is repeated until it has', async () => {
      const slow = http(`${target.url}/delay/20000/${randomUUID()}`);
      const start = trigger();
      link(start, slow);
      const id = await api.createWorkflow(project, drawing([start, slow]));
      for (let run = 0; run < 5; run++) {
        const { data } = await api.run(id);
        const { status } = await api.post(`/workflows/${id}/history/${data.id}/cancel/`);
        assert.equal(status, 200);
        // The request itself has set the status. The reconciler would set it only seconds later.
        assert.equal((await api.history(id, data.id)).status, 'Cancelled');
      }
    });

    it('two cancels at once have the effect of one', async () => {
      const { path, runId } = await startSlowRun();
      const statuses = await Promise.all([api.post(path), api.post(path)]);
      for (const { status } of statuses) assert.ok(status === 200 || status === 400);
      assert.equal((await api.pollToEnd(runId)).data.status, 'failed');
    });
  });

  describe('400, 403 and 404', () => {
    it('a finished run and a draft cannot be cancelled', async () => {
      const { workflowId, runId } = await api.runToEnd(chain(1));
      const { status, body } = await api.post<Detail>(`/workflows/${workflowId}/history/${runId}/cancel/`);
      assert.deepEqual([status, body], [400, { detail: 'The run has already finished.', code: 'run_finished' }]);
      assert.equal((await api.history(workflowId, runId)).status, 'Succeeded');
      const bad = await api.createWorkflow(
        project,
        chain(2, () => llm('')),
      );
      const draft = await api.run(bad);
      assert.equal((await api.post(`/workflows/${bad}/history/${draft.data.id}/cancel/`)).status, 400);
    });

    it('a viewer may not, a stranger finds nothing', async () => {
      const { path, runId } = await startSlowRun();
      const member = await createAccount(stack);
      assert.equal((await member.api.post(path)).status, 404);
      await giveRole(stack, member, project, 'viewer');
      assert.equal((await member.api.post(path)).status, 403);
      assert.equal((await api.poll(runId)).data.status, 'in progress');
      await giveRole(stack, member, project, 'editor');
      assert.equal((await member.api.post(path)).status, 200);
      await api.pollToEnd(runId);
    });

    it('an unknown run is not found', async () => {
      const id = await api.createWorkflow(project, chain(1));
      for (const run of [randomUUID(), 'x']) {
        assert.equal((await api.post(`/workflows/${id}/history/${run}/cancel/`)).status, 404);
      }
    });
  });
});
