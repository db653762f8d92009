// Recordings of the scheduled actions; the runs that they start are like any other.
import { ScheduleOverlapPolicy } from '@temporalio/client';
import { scheduleName } from '../../contract/scheduled-run.js';
import { makeSchedule, ONCE_A_YEAR, untilFired } from '../api/schedules/schedule-maker.js';
import { chain, drawing, linkInRow, node, trigger } from '../../harness/drawing/drawing.js';
import { eventually } from '../../harness/timing/eventually.js';
import { callBack, callbackUrlOf, untilWaiting } from '../support/waiting.js';
import type { Scenario, World } from './scenario.js';

const NOMINAL = '2026-01-01T00:00:00Z';
const PERIOD = {
  start: new Date(NOMINAL),
  end: new Date('2026-01-01T00:01:00Z'),
  overlap: ScheduleOverlapPolicy.ALLOW_ALL,
};

/** Creates a schedule. `fire` fires the nominal time, and `action` is the id of the workflow that this starts. */
async function scheduled(world: World, data: object, settings: object = {}) {
  const { api, stack } = world;
  const workflowId = await api.createWorkflow(await api.createProject(), data);
  const schedule = await makeSchedule(api, workflowId, { cron: ONCE_A_YEAR, ...settings });
  const name = scheduleName(schedule.id);
  return {
    action: `${name}-${NOMINAL}`,
    fire: () => world.temporal((client) => client.schedule.getHandle(name).backfill(PERIOD)),
    fired: async () => (await untilFired(stack, schedule, workflowId, 1))[0]!.run_id,
  };
}

function inPhase(world: World, action: string, phase: string): Promise<unknown> {
  return world.temporal((client) =>
    eventually(async () => {
      const handle = client.workflow.getHandle(action);
      return (await handle.describe().catch(() => undefined))?.status.name === phase;
    }),
  );
}

async function runToEnd(world: World): Promise<string> {
  const { action, fire, fired } = await scheduled(world, chain(1));
  await fire();
  await world.ended(await fired());
  return action;
}

async function paused(world: World): Promise<string> {
  const { action, fire } = await scheduled(world, chain(1), { is_paused: true });
  await fire();
  await inPhase(world, action, 'COMPLETED');
  return action;
}

/** Cancels the action, as `cancel_other` does. */
async function cancelled(world: World): Promise<string> {
  const pause = node('wait', { mode: 'callback' });
  const { action, fire, fired } = await scheduled(world, drawing(linkInRow([trigger(), pause])));
  await fire();
  const runId = await fired();
  await untilWaiting(world.api, runId, pause.id);
  await world.temporal((client) => client.workflow.getHandle(action).cancel());
  await world.ended(runId);
  return action;
}

/** The run is already open when the action starts, because an operator has terminated the action that started it. */
async function startedElsewhere(world: World): Promise<string> {
  const pause = node('wait', { mode: 'callback' });
  const { action, fire, fired } = await scheduled(world, drawing(linkInRow([trigger(), pause])));
  await fire();
  const runId = await fired();
  const callback = await callbackUrlOf(world.api, runId, pause.id);
  await world.temporal((client) => client.workflow.getHandle(action).terminate('test'));
  await fire();
  await inPhase(world, action, 'RUNNING');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await callBack(callback, 'done');
  await world.ended(runId);
  return action;
}

/** The action waits for a run that is not its child, and is cancelled meanwhile. */
async function cancelledElsewhere(world: World): Promise<string> {
  const pause = node('wait', { mode: 'callback' });
  const { action, fire, fired } = await scheduled(world, drawing(linkInRow([trigger(), pause])));
  await fire();
  const runId = await fired();
  await untilWaiting(world.api, runId, pause.id);
  await world.temporal((client) => client.workflow.getHandle(action).terminate('test'));
  await fire();
  await inPhase(world, action, 'RUNNING');
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  await world.temporal((client) => client.workflow.getHandle(action).cancel());
  await world.ended(runId);
  await inPhase(world, action, 'CANCELLED');
  return action;
}

/** The action waits for a run that is not its child, and continues as new meanwhile. */
export async function continuedSchedule(world: World): Promise<string> {
  const pause = node('wait', { mode: 'callback' });
  const { action, fire, fired } = await scheduled(world, drawing(linkInRow([trigger(), pause])));
  await fire();
  const runId = await fired();
  const callback = await callbackUrlOf(world.api, runId, pause.id);
  await world.temporal((client) => client.workflow.getHandle(action).terminate('test'));
  await fire();
  await inPhase(world, action, 'RUNNING');
  const executionOf = () =>
    world.temporal(async (client) => (await client.workflow.getHandle(action).describe()).runId);
  const first = await executionOf();
  await eventually(async () => (await executionOf()) !== first, { timeoutMs: 60_000, intervalMs: 500 });
  await callBack(callback, 'done');
  await world.ended(runId);
  await inPhase(world, action, 'COMPLETED');
  return action;
}

export const scenariosOfSchedules: Record<string, Scenario> = {
  'scheduled-run': runToEnd,
  'scheduled-run-paused': paused,
  'scheduled-run-cancelled': cancelled,
  'scheduled-run-started-elsewhere': startedElsewhere,
  'scheduled-run-cancelled-elsewhere': cancelledElsewhere,
};
