// Faults of loops, waits and sub-workflows: a process crashes before it has recorded or passed on a result, or all
// parts die during a wait.
import { iterationPath } from '../../graph/iteration-path.js';
import { eventually } from '../../harness/timing/eventually.js';
import { resultOf } from '../../harness/drawing/drawing.js';
import type { Fault } from '../fault.js';
import { loseRecord, lockRow } from '../lost-record.js';
import { slowItems, sleepingItems } from '../loops.js';
import { killParts } from '../parts.js';
import { ask, inRow, TAG, type Shape } from '../shapes.js';
import type { Stage } from '../stage.js';
import { callback, output, person, sleep, slowCode, subWorkflow, waits } from '../waits.js';
import { killInTurn } from './deaths.js';

/** Longer than it takes for all parts to die once. */
const SLEEP_SECONDS = 40;
const HELD_CHILD = 'held-child';
const WITHIN = { timeoutMs: 30_000, intervalMs: 20 };

interface Unrecorded {
  name: string;
  title: string;
  shape: (stage: Stage) => Shape | Promise<Shape>;
  /** The label of a call that is answered when the row is locked. */
  held?: string;
  /** True if the record of the loop's first iteration is lost, instead of that of the last node. */
  isIteration?: true;
}

const unrecorded: Unrecorded[] = [
  { name: 'code', title: 'what code has returned', shape: () => inRow('unrecorded code', [slowCode('code')]) },
  {
    name: 'iteration',
    title: 'the end of an iteration',
    shape: ({ world }) => slowItems(world.outside),
    isIteration: true,
  },
  { name: 'callback', title: 'the end of a wait', shape: () => inRow('unrecorded callback', [callback('callback')]) },
  { name: 'person', title: 'the end of a human task', shape: () => inRow('unrecorded person', [person('person')]) },
  {
    name: 'child',
    title: 'the end of a sub-workflow',
    shape: async (stage) =>
      inRow('unrecorded child', [subWorkflow('sub-workflow', await createChild(stage, ask(HELD_CHILD)))]),
    held: HELD_CHILD,
  },
];

const recordsLost: Fault[] = unrecorded.map(({ name, title, shape, held, isIteration }) => ({
  name: `unrecorded-${name}`,
  title: `worker dies before it has recorded ${title}`,
  async apply(stage) {
    const run = await stage.start(await shape(stage));
    const node = run.evidence.expected.findLast(({ path }) => path === undefined)!;
    const path = isIteration === true ? iterationPath('', node.id, 0) : '';
    const place = { runId: await run.accepted, path, nodeId: node.id };
    await loseRecord(stage, place, () => held !== undefined && stage.world.release(held));
    await run.ended;
    const inBody = run.evidence.expected.filter((each) => each.path !== undefined);
    const calls = stage.world.countCalls();
    for (const { label, calls: made } of inBody) {
      for (const { key } of made) {
        // The node was recorded before its iteration, so it must not be called again.
        if (calls[key] !== 1) stage.complain(`${label} was called ${calls[key] ?? 0} times (${key}), not once`);
      }
    }
  },
}));

function createChild(stage: Stage, call = ask('called')) {
  return stage.createWorkflow(inRow('child of a fault', [call, output(resultOf(call.node))]));
}

/**
 * A lock on the sub-workflow's row in `workflows` keeps the run of the sub-workflow from being stored until Temporal is
 * frozen. Then that run is accepted, but the command that starts it is in Temporal's socket, and is lost when the
 * worker and Temporal are killed.
 */
const childLost: Fault = {
  name: 'unstarted-child',
  title: 'worker dies between accepting the run of a sub-workflow and starting it',
  async apply(stage) {
    const { world } = stage;
    const child = await createChild(stage);
    const lock = await lockRow(world, 'SELECT id FROM workflows WHERE id = $1 FOR UPDATE', [child.id]);
    try {
      const run = await stage.start(inRow('unstarted child', [subWorkflow('sub-workflow', child)]));
      const runId = await run.accepted;
      await eventually(async () => (await lock.waiting()).length > 0, WITHIN);
      await stage.hit(
        {
          what: 'kill -9 of the worker before it has started a run',
          cuts: 'calls',
          apiDown: false,
          ends: ['worker', 'temporal'],
        },
        async () => {
          process.kill(world.stack.stack.pids.temporal!, 'SIGSTOP');
          await lock.release();
          const isStored = 'SELECT FROM runs WHERE parent_run_id = $1';
          await eventually(async () => (await world.query(isStored, [runId])).length === 1, WITHIN);
          await killParts(world, ['worker', 'temporal']);
        },
      );
      await run.ended;
    } finally {
      await lock.release();
    }
  },
};

/** Freezes Temporal so that the signal hangs in its socket, and then kills the API and Temporal. */
const wakeLost: Fault = {
  name: 'unsignalled',
  title: 'API dies between keeping the answers of two waits and waking their run',
  async apply(stage) {
    const { world } = stage;
    const answers = { areGiven: false };
    const run = await stage.start(waits(1), 'succeed', () => answers.areGiven);
    const runId = await run.accepted;
    const count = async (condition: string): Promise<number> => {
      const text = `SELECT FROM waits WHERE run_id = $1 AND kind IN ('callback', 'human') AND ${condition}`;
      return (await world.query(text, [runId])).length;
    };
    await eventually(async () => (await count('until IS NOT NULL')) === 2, WITHIN);
    await stage.hit(
      { what: 'kill -9 of the API before its signals', cuts: 'calls', apiDown: true, ends: ['api', 'temporal'] },
      async () => {
        process.kill(world.stack.stack.pids.temporal!, 'SIGSTOP');
        answers.areGiven = true;
        await eventually(async () => (await count('answered_at IS NOT NULL')) === 2, WITHIN);
        if ((await count('signalled_at IS NOT NULL')) > 0)
          stage.complain('the fault came too late: a signal has arrived already');
        await killParts(world, ['api', 'temporal']);
      },
    );
    await run.ended;
  },
};

const acrossEverything: Fault = {
  name: 'waits',
  title:
    'waits for a time, a callback, a person and a sub-workflow, and in a loop, while all parts die in turn and all restarts',
  async apply(stage) {
    const { world } = stage;
    const answers = { areGiven: false };
    const child = await stage.createWorkflow(inRow('sleeping', [sleep('sleep', SLEEP_SECONDS), output(TAG)]));
    const shape = waits(SLEEP_SECONDS, subWorkflow('sub-workflow', child));
    const runs = [
      await stage.start(shape, 'succeed', () => answers.areGiven),
      await stage.start(sleepingItems(world.outside, SLEEP_SECONDS / 2)),
    ];
    const ids = await Promise.all(runs.map(({ accepted }) => accepted));
    // Four waits of the first run, one of its child, and two iterations of the loop, which run concurrently.
    const open = `SELECT FROM waits JOIN runs ON runs.id = run_id WHERE coalesce(root_run_id, runs.id) = ANY($1) AND until > now()
      AND closed_at IS NULL`;
    await eventually(async () => (await world.query(open, [ids])).length === 7, WITHIN);
    await killInTurn(stage);
    answers.areGiven = true;
    for (const { ended } of runs) await ended;
  },
};

export const waiting: Fault[] = [...recordsLost, childLost, wakeLost, acrossEverything];
