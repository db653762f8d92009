// Faults in which an operator acts on a run directly in Temporal. Polls must show the end of the run within a minute.
import { setTimeout as pause } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { eventually } from '../../harness/timing/eventually.js';
import { withTemporal } from '../../test/support/inspect.js';
import type { Plan } from '../../graph/plan.js';
import { MAX_NODES_IN_FLIGHT, RUN_WORKFLOW_TYPE, type RunGraphInput } from '../../contract/run-workflow.js';
import type { ClientRun } from '../client.js';
import type { Fault } from '../fault.js';
import { keepAway } from '../parts.js';
import { inRow, request, type Outside, type Shape } from '../shapes.js';
import type { Stage } from '../stage.js';

/** Longer than the time limit of the node, 30 s. The fault ends the run before this limit. */
const ENDLESS_MS = 120_000;
const SHOWN_WITHIN_MS = 60_000;
const EXECUTION_TIMEOUT_MS = 6_000;
/** The API stops trying to start a run after 2 s. */
const START_GIVEN_UP_MS = 3_000;
const TASK_QUEUE = 'workflow-runs';

function endless(outside: Outside): Shape {
  return inRow('endless', [request(outside, 'quick', 100), request(outside, 'endless', ENDLESS_MS, 'POST')]);
}

function byHand(name: string, title: string, act: (handle: WorkflowHandle) => Promise<unknown>): Fault {
  return {
    name,
    title,
    async apply(stage) {
      const { world } = stage;
      const run = await stage.start(endless(world.outside), 'Cancelled');
      const runId = await run.accepted;
      await untilInFlight(stage, run);
      await stage.hit({ what: name, cuts: 'nothing', apiDown: false, ends: [] }, () =>
        withTemporal(world.stack, async (client) => void (await act(client.workflow.getHandle(runId)))),
      );
      await mustShow(stage, run, Date.now());
    },
  };
}

/**
 * A run may take `RUN_TIMEOUT_DAYS`, so this fault cannot wait for the API's own timeout. The run is accepted while
 * Temporal is absent. The fault then starts the run in Temporal as the reconciler would, but with a shorter timeout and
 * always in visible execution. Until then, the reconciler's check is postponed.
 */
const timeOut: Fault = {
  name: 'time-out',
  title: 'a run that times out in Temporal',
  async apply(stage) {
    const { world } = stage;
    const held: { run?: ClientRun } = {};
    await stage.hit({ what: 'the absence of Temporal', cuts: 'calls', apiDown: false, ends: ['temporal'] }, () =>
      keepAway(world, 'temporal', async () => {
        held.run = await stage.start(endless(world.outside), 'Error');
        await lookForIt(stage, await held.run.accepted, '5 minutes');
        await pause(START_GIVEN_UP_MS);
      }),
    );
    const run = held.run!;
    const runId = await run.accepted;
    await startByHand(stage, runId);
    await lookForIt(stage, runId, '15 seconds');
    await mustShow(stage, run, Date.now() + EXECUTION_TIMEOUT_MS);
  },
};

/** Sets the reconciler's next check of the run. */
async function lookForIt({ world }: Stage, runId: string, later: string): Promise<void> {
  await world.query('UPDATE runs SET next_check_at = now() + $2::interval WHERE id = $1', [runId, later]);
}

async function startByHand({ world }: Stage, runId: string): Promise<void> {
  const [row] = await world.query<{ plan: Plan }>(
    'SELECT plan FROM runs JOIN graph_snapshots ON hash = snapshot_hash WHERE runs.id = $1',
    [runId],
  );
  const input: RunGraphInput = { runId, plan: row!.plan, maxInFlight: MAX_NODES_IN_FLIGHT };
  await withTemporal(world.stack, (client) =>
    client.workflow.start(RUN_WORKFLOW_TYPE, {
      workflowId: runId,
      taskQueue: TASK_QUEUE,
      args: [input],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowExecutionTimeout: EXECUTION_TIMEOUT_MS,
    }),
  );
}

async function untilInFlight({ world }: Stage, { evidence }: ClientRun): Promise<void> {
  const { key } = evidence.expected.at(-1)!.calls[0]!;
  await eventually(() => (world.countCalls()[key] ?? 0) > 0, { timeoutMs: 20_000 });
}

async function mustShow(stage: Stage, { evidence }: ClientRun, actedAt: number): Promise<void> {
  await eventually(() => evidence.firstTerminal !== undefined, { timeoutMs: 2 * SHOWN_WITHIN_MS, intervalMs: 100 });
  const tookMs = evidence.firstTerminal!.at - actedAt;
  if (tookMs > SHOWN_WITHIN_MS) stage.complain(`it showed in the poll only after ${tookMs} ms`);
}

export const engine: Fault[] = [
  byHand('terminate', 'a run terminated in Temporal', (handle) => handle.terminate('by an operator')),
  byHand('cancel', 'a run cancelled in Temporal', (handle) => handle.cancel()),
  timeOut,
];
