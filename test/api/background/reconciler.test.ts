import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain, drawing, http, inRow, link, trigger } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase, withTemporal } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';

describe('reconciler', function () {
  this.timeout(180_000);
  let stack: TestStack;
  let api: ApiClient;
  let project: number;
  let target: HttpTarget;
  /** The workflow task of this run keeps failing. By the last test it has failed many times. */
  let stuckRunId: string;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    project = await api.createProject();
    target = await startHttpTarget();
    stuckRunId = await startStuckRun();
  });
  after(() => target.close());

  const startSlowRun = async (): Promise<{ workflowId: number; runId: string }> => {
    const start = trigger();
    const path = `/delay/60000/${randomUUID()}`;
    const slow = http(target.url + path);
    link(start, slow);
    const workflowId = await api.createWorkflow(project, drawing([start, slow]));
    const { data } = await api.run(workflowId);
    await eventually(() => target.requestsTo(path).length > 0);
    return { workflowId, runId: data.id };
  };

  /** Stores an accepted run that was not started, as after a crash of the process. The run is due for a check. */
  const acceptWithoutStart = async (
    columns = '',
    prepare?: (runId: string) => Promise<void>,
  ): Promise<{ workflowId: number; runId: string }> => {
    const { workflowId, runId: model } = await api.runToEnd(chain(1));
    const runId = randomUUID();
    await queryDatabase(
      stack,
      `INSERT INTO runs (id, workflow_id, project_id, user_id, status, snapshot_hash, input, created_at, next_check_at)
       SELECT $1, workflow_id, project_id, user_id, 'In Progress', snapshot_hash, input, now() - interval '1 minute', NULL
       FROM runs WHERE id = $2`,
      [runId, model],
    );
    await prepare?.(runId);
    await queryDatabase(stack, `UPDATE runs SET ${columns} next_check_at = now() WHERE id = $1`, [runId]);
    return { workflowId, runId };
  };

  const startStuckRun = async (): Promise<string> => {
    const { runId } = await acceptWithoutStart('', async (id) => {
      // The worker does not have this workflow type, as after a faulty deployment.
      const options = { workflowId: id, taskQueue: 'workflow-runs', args: [] };
      await withTemporal(stack, (client) => client.workflow.start('noSuchCode', options));
    });
    return runId;
  };

  /** Gives the run a plan with three megabytes of labels, which is more than Temporal accepts. */
  const giveHugePlan = async (runId: string): Promise<void> => {
    const hash = Buffer.from(randomUUID());
    const plan = { ids: ['a'], kinds: ['trigger'], labels: ['x'.repeat(3_000_000)], out: [[]], indegree: [0] };
    await queryDatabase(stack, "INSERT INTO graph_snapshots (hash, document, plan) VALUES ($1, '{}', $2)", [
      hash,
      plan,
    ]);
    await queryDatabase(stack, 'UPDATE runs SET snapshot_hash = $1 WHERE id = $2', [hash, runId]);
  };

  /** Makes the check due now instead of within the minute. */
  const makeDue = (runId: string): Promise<unknown> =>
    queryDatabase(stack, 'UPDATE runs SET next_check_at = now() WHERE id = $1', [runId]);

  const metricOf = async (name: string, apiUrl = stack.apiUrl): Promise<number> => {
    const text = await (await fetch(`${apiUrl}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  };

  const ended = ({ workflowId, runId }: { workflowId: number; runId: string }): Promise<[string, unknown]> =>
    eventually(
      async () => {
        const record = await api.history(workflowId, runId);
        if (record.status === 'In Progress') throw new Error('still in progress');
        return [record.status, (record['error'] as { code: string } | null)?.code];
      },
      { timeoutMs: 20_000, intervalMs: 200 },
    );

  it('starts an accepted run whose start was lost', async () => {
    assert.deepEqual(await ended(await acceptWithoutStart()), ['Succeeded', undefined]);
  });

  it('cancels a run that was never started, if its cancellation was requested', async () => {
    const run = await acceptWithoutStart('cancel_requested_at = now(),');
    assert.deepEqual(await ended(run), ['Cancelled', 'cancelled']);
  });

  it('ends a started run that Temporal does not know', async () => {
    const run = await acceptWithoutStart('run_started_at = now(),');
    assert.deepEqual(await ended(run), ['Error', 'execution_lost']);
    const { data } = await api.poll(run.runId);
    assert.equal(data.status, 'failed');
  });

  it('ends a run that was terminated in Temporal as Cancelled, though no worker code ran', async () => {
    const run = await startSlowRun();
    await withTemporal(stack, (client) => client.workflow.getHandle(run.runId).terminate('by a person'));
    await makeDue(run.runId);
    assert.deepEqual(await ended(run), ['Cancelled', 'terminated']);
    const { data } = await api.poll(run.runId);
    assert.deepEqual(
      Object.values(data.data ?? {}).map((entry) => entry.error?.code),
      [undefined, 'cancelled'],
    );
  });

  it('sends a requested cancellation to Temporal again', async () => {
    const run = await startSlowRun();
    await queryDatabase(stack, 'UPDATE runs SET cancel_requested_at = now(), next_check_at = now() WHERE id = $1', [
      run.runId,
    ]);
    assert.equal((await ended(run))[0], 'Cancelled');
  });

  for (const [what, deletion] of [
    ['workflow', 'UPDATE workflows SET archived_at = now() WHERE id = (SELECT workflow_id FROM runs WHERE id = $1)'],
    ['project', 'UPDATE projects SET deleted_at = now() WHERE id = (SELECT project_id FROM runs WHERE id = $1)'],
  ] as const) {
    it(`cancels a run that was accepted while its ${what} was being deleted`, async () => {
      const owner = await createAccount(stack);
      const slow = drawing(inRow(trigger(), http(`${target.url}/delay/60000/${randomUUID()}`)));
      const workflowId = await owner.api.createWorkflow(await owner.api.createProject(), slow);
      const { data } = await owner.api.run(workflowId);
      // The deletion did not see the run, so nothing has requested its cancellation.
      await queryDatabase(stack, deletion, [data.id]);
      await makeDue(data.id);
      await eventually(async () => {
        const text = 'SELECT status FROM runs WHERE id = $1';
        const [run] = await queryDatabase<{ status: string }>(stack, text, [data.id]);
        return run?.status === 'Cancelled';
      });
    });
  }

  it('ends a run that Temporal refuses to start, and starts the other runs that are due', async () => {
    const lost = await acceptWithoutStart();
    const refused = await acceptWithoutStart('', giveHugePlan);
    assert.deepEqual(await ended(lost), ['Succeeded', undefined]);
    assert.deepEqual(await ended(refused), ['Error', 'start_refused']);
  });

  it('starts the runs accepted while Temporal was unavailable, each once and at a bounded rate', async () => {
    const count = 100;
    const { runId: model } = await api.runToEnd(chain(1));
    const ids = Array.from({ length: count }, () => randomUUID());
    await queryDatabase(
      stack,
      `INSERT INTO runs (id, workflow_id, project_id, user_id, status, snapshot_hash, input, created_at, next_check_at)
       SELECT accepted, workflow_id, project_id, user_id, 'In Progress', snapshot_hash, input, now() - interval '1 minute', now()
       FROM runs, unnest($2::uuid[]) AS accepted WHERE id = $1`,
      [model, ids],
    );
    const text = `SELECT count(*)::integer AS ended, count(*) FILTER (WHERE status = 'Succeeded')::integer AS succeeded,
      extract(epoch FROM max(run_started_at) - min(run_started_at))::float AS seconds
      FROM runs WHERE id = ANY ($1::uuid[]) AND run_finished_at IS NOT NULL`;
    const row = await eventually(
      async () => {
        const [found] = await queryDatabase<{ ended: number; succeeded: number; seconds: number }>(stack, text, [ids]);
        return found!.ended === count && found!;
      },
      { timeoutMs: 120_000, intervalMs: 250 },
    );
    assert.equal(row.succeeded, count);
    assert.ok(row.seconds > count / 50 - 1, `all within ${row.seconds} s`);
    const nodes =
      'SELECT count(*)::integer AS count FROM node_results WHERE run_id = ANY ($1::uuid[]) AND attempts = 1';
    assert.deepEqual(await queryDatabase(stack, nodes, [ids]), [{ count }]);
    // A start whose response came too late is not counted: a later check finds that the run is open.
    assert.ok((await metricOf('reconciler_runs_started_total')) > 0);
  });

  it('touches no run while Temporal lacks the namespace', async () => {
    const cut = await startApiProcess(stack, { TEMPORAL_NAMESPACE: 'absent' });
    try {
      await eventually(async () => (await metricOf('reconciler_rounds_total\\{outcome="failed"\\}', cut.apiUrl)) >= 2);
      const text = await (await fetch(`${cut.apiUrl}/metrics`)).text();
      assert.match(text, /^reconciler_runs_started_total 0$/m);
      assert.doesNotMatch(text, /^reconciler_runs_\w+(?:\{.*\})? [1-9]/m);
      assert.match(text, /^reconciler_last_success_timestamp_seconds 0$/m);
      assert.equal((await fetch(`${cut.apiUrl}/readyz`)).status, 503);
    } finally {
      assert.equal(await cut.stop(), 0);
    }
  });

  it('leaves a running run alone and checks it again within the minute', async () => {
    const run = await startSlowRun();
    await makeDue(run.runId);
    const text = `SELECT extract(epoch FROM next_check_at - now())::float AS seconds FROM runs
      WHERE id = $1 AND next_check_at > now() AND run_finished_at IS NULL`;
    const [row] = await eventually(async () => {
      const rows = await queryDatabase<{ seconds: number }>(stack, text, [run.runId]);
      return rows.length === 1 ? rows : false;
    });
    assert.ok(row!.seconds <= 46, String(row!.seconds));
    assert.equal((await api.poll(run.runId)).data.status, 'in progress');
    await api.post(`/workflows/${run.workflowId}/history/${run.runId}/cancel/`);
  });

  it('reports a run whose workflow task keeps failing, leaves it open, and forgets it after its end', async () => {
    const runId = stuckRunId;
    const look = { timeoutMs: 90_000, intervalMs: 1_000 };
    await eventually(async () => {
      await makeDue(runId);
      const text = 'SELECT stuck_since, status FROM runs WHERE id = $1';
      const [row] = await queryDatabase<{ stuck_since: Date | null; status: string }>(stack, text, [runId]);
      assert.equal(row!.status, 'In Progress');
      return row!.stuck_since !== null;
    }, look);
    await eventually(async () => (await metricOf('runs_stuck')) === 1, look);
    const lines = () =>
      stack
        .logs()
        .split('\n')
        .filter((line) => /^\{.*run is stuck/.test(line));
    await makeDue(runId);
    assert.deepEqual(
      lines().map((line) => (JSON.parse(line) as { level: string; run_id: string }).run_id),
      [runId],
    );
    assert.match(lines()[0]!, /"level":"error"/);
    await withTemporal(stack, (client) => client.workflow.getHandle(runId).terminate('by a person'));
    await eventually(async () => {
      await makeDue(runId);
      return (await api.poll(runId)).data.status === 'failed';
    }, look);
    await eventually(async () => (await metricOf('runs_stuck')) === 0, look);
    assert.ok((await metricOf('reconciler_runs_closed_total\\{reason="terminated"\\}')) >= 1);
  });
});
