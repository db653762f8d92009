// Firings while processes are killed, and after the machine has slept. Cron lines fire once a minute at most, so the
// copies in Temporal get shorter intervals here, and are otherwise unchanged.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { scheduleName } from '../../../contract/scheduled-run.js';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { withTemporal } from '../../support/inspect.js';
import { killAndAwaitRestart, type StackPart } from '../../../harness/stack/kill-part.js';
import { startStack, type StartedStack } from '../../../harness/stack/stack.js';
import {
  firingsOf,
  inTemporal,
  makeSchedule,
  ONCE_A_YEAR,
  postSchedule,
  untilFired,
  type Schedule,
} from './schedule-maker.js';

const STEP_MS = 2_000;
const SLEEP_MS = 40_000;
const ROUNDS: [part: StackPart, offsetMs: number][] = [
  ['api', 0],
  ['worker', 0],
  ['temporal', 0],
  ['worker', 80],
  ['api', 80],
  ['temporal', 80],
  ['postgres', 0],
];

describe('schedules through crashes', function () {
  this.timeout(600_000);
  let stack: StartedStack;
  let api: ApiClient;
  let project: number;

  before(async () => {
    stack = await startStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    project = await api.createProject();
  });
  after(() => stack.stop());

  async function everyTwoSeconds(catchupSeconds: number) {
    const id = await api.createWorkflow(project, chain(2));
    const schedule = await makeSchedule(api, id, {
      cron: ONCE_A_YEAR,
      overlap: 'allow_all',
      catchup_seconds: catchupSeconds,
    });
    await inTemporal(stack, schedule.id, (handle) =>
      handle.update((known) => ({ ...known, spec: { intervals: [{ every: STEP_MS }] } })),
    );
    await untilFired(stack, schedule, id, 1);
    return { id, schedule };
  }

  /**
   * Waits until the schedule fires on time again, pauses it, and waits for its runs. Returns the times of its firings.
   */
  async function settle({ id, schedule }: { id: number; schedule: Schedule }): Promise<number[]> {
    const last = async (): Promise<number> => (await firingsOf(stack, schedule.id, id)).at(-1)!.at.getTime();
    await eventually(async () => (await last()) > Date.now() - 2 * STEP_MS, { timeoutMs: 120_000, intervalMs: 300 });
    await inTemporal(stack, schedule.id, (handle) => handle.pause());
    // A firing whose attempt was interrupted by a kill is accepted later than those after it.
    await eventually(async () => (await countOpen(schedule)) === 0, { timeoutMs: 90_000, intervalMs: 500 });
    await eventually(
      async () => {
        const rows = await firingsOf(stack, schedule.id, id);
        assert.deepEqual([...new Set(rows.map(({ status }) => status))], ['Succeeded']);
        return true;
      },
      { timeoutMs: 90_000, intervalMs: 500 },
    );
    return (await firingsOf(stack, schedule.id, id)).map(({ at }) => at.getTime());
  }

  function countOpen({ id }: Schedule): Promise<number> {
    const query = `WorkflowType = 'scheduledRun' AND ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH '${scheduleName(id)}'`;
    return withTemporal(stack, async (client) => (await client.workflow.count(query)).count);
  }

  const isWithoutGap = (times: number[]): boolean =>
    times.every((time, index) => index === 0 || time === times[index - 1]! + STEP_MS);

  it('each firing starts one run, whichever process is killed at the time of the firing or just after it', async () => {
    const made = await everyTwoSeconds(7_200);
    for (const [part, offsetMs] of ROUNDS) {
      await pause(STEP_MS - (Date.now() % STEP_MS) + offsetMs);
      await killAndAwaitRestart(stack, part);
      await pause(2 * STEP_MS);
    }
    const times = await settle(made);
    assert.ok(times.length > 2 * ROUNDS.length, `${times.length} firings`);
    assert.ok(isWithoutGap(times), times.map((time) => new Date(time).toISOString()).join(' '));
  });

  it('a machine that has slept catches up on the firings within catchup_seconds, once, and on no others', async () => {
    const long = await everyTwoSeconds(7_200);
    const short = await everyTwoSeconds(10);
    // The supervisor is stopped first, because it would restart the others.
    const pids = [stack.supervisor.pid!, ...Object.values(stack.stack.pids)];
    const sleptAt = Date.now();
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await pause(SLEEP_MS);
    const wokenAt = Date.now();
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    const [all, some] = await Promise.all([settle(long), settle(short)]);
    assert.ok(isWithoutGap(all), all.map((time) => new Date(time).toISOString()).join(' '));
    assert.ok(all.filter((time) => time > sleptAt && time < wokenAt).length >= SLEEP_MS / STEP_MS - 2);
    const missed = all.filter((time) => time > some[0]! && time < some.at(-1)! && !some.includes(time));
    assert.ok(missed.length > 0 && isWithoutGap(missed), missed.map((time) => new Date(time).toISOString()).join(' '));
    assert.ok(missed.at(-1)! - missed[0]! >= SLEEP_MS - 10_000 - 3 * STEP_MS, 'what is too late is left out');
    assert.ok(missed[0]! > sleptAt - 2 * STEP_MS);
  });

  it('a schedule made while Temporal is away is created there as soon as it is back, and fires', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const { temporal } = stack.stack.pids;
    process.kill(temporal!, 'SIGSTOP');
    const body = { cron: '* * * * *', catchup_seconds: 600 };
    const made = await postSchedule(api, id, body);
    assert.equal(made.next_run_times, null);
    await pause(60_000 - (Date.now() % 60_000) + 1_000);
    process.kill(temporal!, 'SIGCONT');
    // Temporal catches up on the firing at the full minute that passed after the schedule was made.
    const [first] = await untilFired(stack, made, id, 1);
    assert.ok(first!.at.getTime() <= Date.now() && first!.at.getTime() > Date.parse(made.created_at));
    assert.equal(first!.at.getTime(), Math.ceil(Date.parse(made.created_at) / 60_000) * 60_000);
    await api.delete(`/workflows/${id}/schedules/${made.id}/`);
  });
});
