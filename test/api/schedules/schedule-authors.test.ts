// The user in whose name a schedule starts its runs, and the reports of firings that start none.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { createDatabase } from '../../../db/core/client.js';
import { pauseForLostAccess } from '../../../db/schedules/firings-repository.js';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain, drawing, linkInRow, node, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase, withTemporal } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, removeMembership, type Account } from '../accounts.js';
import {
  backfill,
  findSchedule,
  firingsOf,
  inTemporal,
  makeSchedule,
  untilFired,
  type Schedule,
} from './schedule-maker.js';

const DATABASE = { poolMax: 1, applicationName: 'test', onError: () => undefined };

describe('authors and refusals of schedules', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    api = account.api;
    project = await api.createProject();
  });

  const change = (id: number, schedule: Schedule, body: object) =>
    api.patch<Schedule>(`/workflows/${id}/schedules/${schedule.id}/`, { body });
  async function byEditor() {
    const id = await api.createWorkflow(project, chain(1));
    const editor = await createAccount(stack);
    await giveRole(stack, editor, project, 'editor');
    return { id, editor, made: await makeSchedule(editor.api, id) };
  }
  const lastOf = (id: number, made: Schedule) =>
    eventually(async () => (await findSchedule(api, id, made.id)).last_firing ?? undefined);

  it('whoever changes the input becomes the author; other changes leave the author', async () => {
    const { id, editor, made } = await byEditor();
    assert.equal((await change(id, made, { jitter_seconds: 1 })).body.author.id, editor.userId);
    assert.equal((await change(id, made, { input: { topic: 'dogs' } })).body.author.id, account.userId);
  });

  it('whoever resumes a schedule that a person has paused becomes the author if the author has lost access', async () => {
    const { id, editor, made } = await byEditor();
    await change(id, made, { is_paused: true });
    assert.equal((await change(id, made, { is_paused: false })).body.author.id, editor.userId);
    await change(id, made, { is_paused: true });
    await giveRole(stack, editor, project, 'viewer');
    assert.equal((await change(id, made, { is_paused: false })).body.author.id, account.userId);
    const other = await byEditor();
    await change(other.id, other.made, { is_paused: true });
    await removeMembership(stack, other.editor, project);
    assert.equal((await change(other.id, other.made, { is_paused: false })).body.author.id, account.userId);
  });

  it('a lost author pauses a schedule only while they are its author', async () => {
    const { id, editor, made } = await byEditor();
    await change(id, made, { input: {} });
    const db = createDatabase({ url: stack.stack.database_url, ...DATABASE });
    try {
      await pauseForLostAccess(db, made.id, editor.userId);
      assert.equal((await findSchedule(api, id, made.id)).is_paused, false);
      await pauseForLostAccess(db, made.id, account.userId);
      assert.equal((await findSchedule(api, id, made.id)).is_paused, true);
    } finally {
      await db.destroy();
    }
  });

  it('a firing that no worker has taken in time is refused as too late', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const made = await makeSchedule(api, id);
    // A negative catch-up time makes the firing too late whenever a worker takes it.
    await queryDatabase(stack, 'UPDATE schedules SET catchup_seconds = -60 WHERE id = $1', [made.id]);
    await inTemporal(stack, made.id, (handle) => handle.trigger());
    const last = await lastOf(id, made);
    assert.deepEqual([last.run_id, last.refusal?.code], [null, 'too_late']);
    assert.deepEqual(await firingsOf(stack, made.id, id), []);
  });

  it('the text of a refusal has 1,000 characters at most', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const made = await makeSchedule(api, id);
    const fields = Array.from({ length: 100 }, (_, index) => ({
      id: `required_${index}_${'x'.repeat(300)}`,
      type: 'text',
      label: 'Required',
      input_requirements: true,
    }));
    await api.patch(`/workflows/${id}/`, { body: { data: drawing([trigger(fields)]) } });
    await inTemporal(stack, made.id, (handle) => handle.trigger());
    const { refusal } = await lastOf(id, made);
    assert.deepEqual([refusal?.code, refusal?.message.length], ['invalid_nodes', 1_000]);
  });

  it('last_firing does not change when an earlier time is backfilled', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const made = await makeSchedule(api, id, { cron: '0 0 2 2 *', overlap: 'allow_all' });
    const fill = (year: number) =>
      backfill(stack, made.id, {
        start: new Date(`${year}-02-01T00:00:00Z`),
        end: new Date(`${year}-02-03T00:00:00Z`),
      });
    await fill(2026);
    await untilFired(stack, made, id, 1);
    await fill(2025);
    const [, later] = await untilFired(stack, made, id, 2);
    const last = await lastOf(id, made);
    assert.deepEqual([last.at, last.run_id], ['2026-02-02T00:00:00.000Z', later!.run_id]);
    await api.patch(`/workflows/${id}/`, { body: { data: { nodes: [], edges: [] } } });
    await fill(2024);
    // The third firing has ended, so it has reported its refusal.
    const fired = await eventually(async () => {
      const { info } = await inTemporal(stack, made.id, (handle) => handle.describe());
      return info.numActionsTaken === 3 && info.recentActions.map(({ action }) => action.workflow.workflowId);
    });
    await withTemporal(stack, (client) =>
      Promise.allSettled(fired.map((workflowId) => client.workflow.getHandle(workflowId).result())),
    );
    assert.equal((await firingsOf(stack, made.id, id)).length, 2, 'it was refused');
    assert.deepEqual(await lastOf(id, made), last);
  });

  it('a run that is accepted while its workflow is deleted is cancelled with it', async () => {
    const pause = node('wait', { mode: 'callback' });
    const id = await api.createWorkflow(project, drawing(linkInRow([trigger(), pause])));
    const made = await makeSchedule(api, id);
    const db = createDatabase({ url: stack.stack.database_url, ...DATABASE });
    try {
      // Lock the schedule's row, as a firing does until its run is stored.
      const { deleting, runId } = await db.transaction().execute(async (transaction) => {
        await transaction.selectFrom('schedules').select('id').where('id', '=', made.id).forKeyShare().execute();
        const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(transaction);
        const answer = api.delete(`/workflows/${id}/`);
        await eventually(async () => {
          const waiting = 'SELECT FROM pg_stat_activity WHERE $1::integer = ANY(pg_blocking_pids(pid))';
          return (await queryDatabase(stack, waiting, [rows[0]!.pid])).length > 0;
        });
        return { deleting: answer, runId: (await api.run(id)).data.id };
      });
      assert.equal((await deleting).status, 204);
      const text = 'SELECT cancel_requested_at IS NOT NULL AS is_cancelled FROM runs WHERE id = $1';
      assert.deepEqual(await queryDatabase(stack, text, [runId]), [{ is_cancelled: true }]);
    } finally {
      await db.destroy();
    }
  });
});
