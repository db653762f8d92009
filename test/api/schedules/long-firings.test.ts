// Firings whose history is long: the server suggests continue-as-new after 20 events.
import assert from 'node:assert/strict';
import { ScheduleOverlapPolicy } from '@temporalio/client';
import { scheduleName } from '../../../contract/scheduled-run.js';
import { createApiClient } from '../../../harness/client/api-client.js';
import { drawing, linkInRow, node, trigger } from '../../../harness/drawing/drawing.js';
import { startStack, type StartedStack } from '../../../harness/stack/stack.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { EVENTS_OF_AN_EXECUTION } from '../../replay/scenarios-over-executions.js';
import { withTemporal } from '../../support/inspect.js';
import { callBack, callbackUrlOf } from '../../support/waiting.js';
import { wrapTemporal, type WrappedTemporal } from '../../support/wrapped-temporal.js';
import { firingsOf, inTemporal, makeSchedule, ONCE_A_YEAR, untilFired } from './schedule-maker.js';

describe('a firing that follows a run for long', function () {
  this.timeout(180_000);
  let temporal: WrappedTemporal;
  let stack: StartedStack;

  before(async () => {
    temporal = await wrapTemporal({ 'limit.historyCount.suggestContinueAsNew': EVENTS_OF_AN_EXECUTION });
    stack = await startStack({ env: { TEMPORAL_CLI: temporal.file } });
  });
  after(async () => {
    await stack.stop();
    temporal.remove();
  });

  it('goes on in new executions, and the schedule starts no other run until this one has ended', async () => {
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    const pause = node('wait', { mode: 'callback' });
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(linkInRow([trigger(), pause])));
    const schedule = await makeSchedule(api, workflowId, { cron: ONCE_A_YEAR, overlap: 'skip' });
    const fire = (minute: number) =>
      inTemporal(stack, schedule.id, (handle) => {
        const start = new Date(Date.UTC(2026, 0, 1, 0, minute));
        const end = new Date(start.getTime() + 59_000);
        return handle.backfill({ start, end, overlap: ScheduleOverlapPolicy.SKIP });
      });
    await inTemporal(stack, schedule.id, (handle) =>
      handle.update((known) => ({ ...known, spec: { cronExpressions: ['* * 1 1 *'] } })),
    );
    const describeFiring = () =>
      withTemporal(stack, (client) =>
        client.workflow.getHandle(`${scheduleName(schedule.id)}-2026-01-01T00:00:00Z`).describe(),
      );
    await fire(0);
    const runId = (await untilFired(stack, schedule, workflowId, 1))[0]!.run_id;
    const callback = await callbackUrlOf(api, runId, pause.id);
    // The next firing of this time finds that its run is open, as after an operator has terminated a firing.
    await withTemporal(stack, (client) =>
      client.workflow.getHandle(`${scheduleName(schedule.id)}-2026-01-01T00:00:00Z`).terminate('test'),
    );
    await eventually(
      async () => {
        await fire(0);
        return (await describeFiring()).status.name === 'RUNNING';
      },
      { timeoutMs: 60_000, intervalMs: 1_000 },
    );
    const first = (await describeFiring()).runId;
    await eventually(async () => (await describeFiring()).runId !== first, { timeoutMs: 90_000, intervalMs: 500 });
    await fire(1);
    await eventually(
      async () =>
        (await inTemporal(stack, schedule.id, (handle) => handle.describe())).info.numActionsSkippedOverlap > 0,
      { timeoutMs: 30_000 },
    );
    assert.equal((await firingsOf(stack, schedule.id, workflowId)).length, 1);
    await callBack(callback, 'done');
    await eventually(async () => (await describeFiring()).status.name === 'COMPLETED', { timeoutMs: 60_000 });
  });
});
