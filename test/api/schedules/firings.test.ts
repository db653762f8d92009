// Firings of schedules. Temporal's clock cannot be set, so the tests backfill past periods.
import assert from 'node:assert/strict';
import { ScheduleOverlapPolicy } from '@temporalio/client';
import { scheduleName } from '../../../contract/scheduled-run.js';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain, drawing, linkInRow, node, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase, withTemporal } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { callBack, callbackUrlOf, untilWaiting } from '../../support/waiting.js';
import { createAccount, type Account } from '../accounts.js';
import { daysOfChange } from './cron-oracle.js';
import {
  backfill,
  findSchedule,
  firingsOf,
  inTemporal,
  makeSchedule,
  ONCE_A_YEAR,
  untilFired,
} from './schedule-maker.js';

const DAY_MS = 24 * 3_600_000;
const { SKIP, BUFFER_ONE, ALLOW_ALL, CANCEL_OTHER } = ScheduleOverlapPolicy;
const ALL = { overlap: ALLOW_ALL };
/** A manual trigger needs the policy as a parameter, because the client's default is not that of the schedule. */
const POLICIES = { skip: SKIP, buffer_one: BUFFER_ONE, allow_all: ALLOW_ALL, cancel_other: CANCEL_OTHER };

describe('firings of schedules', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let project: number;
  /** Resolves after a firing by the clock, which comes within a minute; the other tests run meanwhile. */
  let firedByClock: Promise<void>;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    api = account.api;
    project = await api.createProject();
    firedByClock = fireByClock();
    firedByClock.catch(() => undefined);
  });

  async function fireByClock(): Promise<void> {
    const id = await api.createWorkflow(project, chain(2));
    const made = await makeSchedule(api, id, { cron: '* * * * *', input: { topic: 'cats' } });
    const [told] = made.next_run_times!;
    const atTold = async () => (await firingsOf(stack, made.id, id)).find(({ at }) => at.toISOString() === told);
    const fired = await eventually(atTold, { timeoutMs: 110_000 });
    assert.equal(fired.user_id, account.userId);
    assert.equal(fired.at.getTime() % 60_000, 0);
    await api.pollToEnd(fired.run_id);
    assert.deepEqual((await api.history(id, fired.run_id))['input_data'], { topic: 'cats' });
    const { last_firing: last } = await findSchedule(api, id, made.id);
    assert.deepEqual(last, { at: fired.at.toISOString(), run_id: fired.run_id, refusal: null });
    await api.delete(`/workflows/${id}/schedules/${made.id}/`);
  }

  const between = (start: string, end: string) => ({ start: new Date(start), end: new Date(end), ...ALL });
  const timesOf = async (id: string, workflowId: number): Promise<string[]> =>
    (await firingsOf(stack, id, workflowId)).map(({ at }) => at.toISOString().replace(':00.000Z', 'Z'));
  /** Backfills the period, and waits until all its firings have started and ended. Returns their times. */
  async function fill(workflowId: number, body: object, [start, end]: [string, string], count: number) {
    const schedule = await makeSchedule(api, workflowId, body);
    await backfill(stack, schedule.id, between(start, end));
    await untilFired(stack, schedule, workflowId, count);
    await eventually(async () => {
      const { info } = await inTemporal(stack, schedule.id, (handle) => handle.describe());
      return info.numActionsTaken >= count && info.runningActions.length === 0;
    });
    return { schedule, times: await timesOf(schedule.id, workflowId) };
  }

  it('in Berlin happen once a day, when summer time begins and when it ends', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const daily = { cron: '30 8 * * *', time_zone: 'Europe/Berlin' };
    const spring = await fill(id, daily, ['2026-03-28T00:00:00Z', '2026-03-31T00:00:00Z'], 3);
    assert.deepEqual(spring.times, ['2026-03-28T07:30Z', '2026-03-29T06:30Z', '2026-03-30T06:30Z']);
    const other = await api.createWorkflow(project, chain(1));
    const autumn = await fill(other, daily, ['2026-10-24T00:00:00Z', '2026-10-27T00:00:00Z'], 3);
    assert.deepEqual(autumn.times, ['2026-10-24T06:30Z', '2026-10-25T07:30Z', '2026-10-26T07:30Z']);
  });

  it('in Berlin at half past two: once in each night, when clocks are put forward and when they are put back', async () => {
    const year = new Date().getUTCFullYear();
    const changes = daysOfChange('Europe/Berlin', Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1));
    const days = changes.map(([ms]) =>
      [0, 1, 2, 3].map((day) => new Date(ms + day * DAY_MS).toISOString().slice(0, 10)),
    );
    const [[sat, sun, mon, tue], [saturday, sunday, monday, tuesday]] = days as [string[], string[]];
    const id = await api.createWorkflow(project, chain(1));
    const daily = { cron: '30 2 * * *', time_zone: 'Europe/Berlin' };
    const spring = await fill(id, daily, [`${sat}T00:00:00Z`, `${tue}T00:00:00Z`], 3);
    assert.deepEqual(spring.times, [`${sat}T01:30Z`, `${sun}T01:00Z`, `${mon}T00:30Z`]);
    const other = await api.createWorkflow(project, chain(1));
    const autumn = await fill(other, daily, [`${saturday}T00:00:00Z`, `${tuesday}T00:00:00Z`], 3);
    assert.deepEqual(autumn.times, [`${saturday}T00:30Z`, `${sunday}T00:30Z`, `${monday}T01:30Z`]);
  });

  it('in Berlin every hour: none is left out and none happens twice in either night', async () => {
    for (const day of ['2026-03-29', '2026-10-25']) {
      const id = await api.createWorkflow(project, chain(1));
      const hourly = { cron: '15 * * * *', time_zone: 'Europe/Berlin' };
      const { times } = await fill(id, hourly, [`${day}T00:00:00Z`, `${day}T04:00:00Z`], 4);
      assert.deepEqual(
        times,
        ['00', '01', '02', '03'].map((hour) => `${day}T${hour}:15Z`),
      );
    }
  });

  it('that are backfilled again start no second run, with jitter too', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const settings = { cron: '*/10 * * * *', jitter_seconds: 300 };
    const period: [string, string] = ['2026-05-01T00:00:00Z', '2026-05-01T00:59:00Z'];
    const { schedule, times } = await fill(id, settings, period, 6);
    assert.deepEqual(
      times,
      ['00', '10', '20', '30', '40', '50'].map((minute) => `2026-05-01T00:${minute}Z`),
    );
    await backfill(stack, schedule.id, between(...period));
    // Temporal backfills one period after the other, so a firing of the second one shows that the first is complete.
    await backfill(stack, schedule.id, between('2026-05-02T00:00:00Z', '2026-05-02T00:09:00Z'));
    await untilFired(stack, schedule, id, 7);
    assert.deepEqual(await timesOf(schedule.id, id), [...times, '2026-05-02T00:00Z']);
  });

  /** Creates a workflow whose runs wait for a callback, and a schedule that the test triggers. */
  async function waiting(overlap: 'skip' | 'buffer_one' | 'allow_all' | 'cancel_other') {
    const pause = node('wait', { mode: 'callback' });
    const id = await api.createWorkflow(project, drawing(linkInRow([trigger(), pause])));
    const schedule = await makeSchedule(api, id, { cron: ONCE_A_YEAR, overlap });
    /** Fires and waits for more than a second, because nominal times have a resolution of seconds. */
    const fire = async (): Promise<void> => {
      await inTemporal(stack, schedule.id, (handle) => handle.trigger(POLICIES[overlap]));
      await new Promise((resolve) => setTimeout(resolve, 1_100));
    };
    const open = async (): Promise<string[]> =>
      (await firingsOf(stack, schedule.id, id)).flatMap(({ run_id: run, status }) =>
        status === 'In Progress' ? [run] : [],
      );
    const finish = async (runId: string): Promise<void> => {
      await callBack(await callbackUrlOf(api, runId, pause.id), 'done');
      await api.pollToEnd(runId);
    };
    return { id, schedule, fire, open, finish, pause };
  }

  it('with `skip` start nothing while the run before is open, and do after it', async () => {
    const { id, schedule, fire, open, finish } = await waiting('skip');
    await fire();
    const [first] = await untilFired(stack, schedule, id, 1);
    await fire();
    await fire();
    const skipped = async (): Promise<number> =>
      (await inTemporal(stack, schedule.id, (handle) => handle.describe())).info.numActionsSkippedOverlap;
    await eventually(async () => (await skipped()) === 2);
    assert.deepEqual(await open(), [first!.run_id]);
    await finish(first!.run_id);
    await eventually(async () => {
      const { info } = await inTemporal(stack, schedule.id, (handle) => handle.describe());
      return info.runningActions.length === 0;
    });
    await fire();
    await untilFired(stack, schedule, id, 2);
  });

  it('with `buffer_one` keep one firing, whose run starts when the run before has ended', async () => {
    const { id, schedule, fire, open, finish } = await waiting('buffer_one');
    await fire();
    const [first] = await untilFired(stack, schedule, id, 1);
    await fire();
    await fire();
    assert.deepEqual(await open(), [first!.run_id]);
    await finish(first!.run_id);
    const [, second] = await untilFired(stack, schedule, id, 2);
    await finish(second!.run_id);
    await eventually(async () => {
      const { info } = await inTemporal(stack, schedule.id, (handle) => handle.describe());
      return info.runningActions.length === 0;
    });
    assert.equal((await firingsOf(stack, schedule.id, id)).length, 2);
  });

  it('with `allow_all` start runs side by side', async () => {
    const { id, schedule, fire, open, finish } = await waiting('allow_all');
    await fire();
    await fire();
    await untilFired(stack, schedule, id, 2);
    const runs = await open();
    assert.equal(runs.length, 2);
    for (const run of runs) await finish(run);
  });

  it('with `cancel_other` cancel the run that is open, and start their own after its end', async () => {
    const { id, schedule, fire, finish, pause } = await waiting('cancel_other');
    await fire();
    const [first] = await untilFired(stack, schedule, id, 1);
    await untilWaiting(api, first!.run_id, pause.id);
    await fire();
    const [cancelled, second] = await untilFired(stack, schedule, id, 2);
    assert.deepEqual([cancelled!.run_id, cancelled!.status], [first!.run_id, 'Cancelled']);
    const text = 'SELECT created_at, run_finished_at FROM runs WHERE id = ANY($1) ORDER BY created_at';
    const rows = await queryDatabase<Record<string, Date>>(stack, text, [[first!.run_id, second!.run_id]]);
    assert.ok(rows[1]!['created_at']! >= rows[0]!['run_finished_at']!, 'one after the other');
    await finish(second!.run_id);
  });

  it('whose run exists already last until that run ends', async () => {
    const { id, schedule, finish } = await waiting('skip');
    const period = between('2026-05-01T00:00:00Z', '2026-05-01T00:01:00Z');
    const day = { ...period, start: new Date('2026-01-01T00:00:00Z'), end: new Date('2026-01-01T00:01:00Z') };
    await backfill(stack, schedule.id, day);
    const [first] = await untilFired(stack, schedule, id, 1);
    const name = `${scheduleName(schedule.id)}-2026-01-01T00:00:00Z`;
    const statusOf = (): Promise<string> =>
      withTemporal(stack, async (client) => (await client.workflow.getHandle(name).describe()).status.name);
    await withTemporal(stack, (client) => client.workflow.getHandle(name).terminate('test'));
    await backfill(stack, schedule.id, day);
    await eventually(async () => (await statusOf()) === 'RUNNING');
    await finish(first!.run_id);
    await eventually(async () => (await statusOf()) === 'COMPLETED');
    assert.equal((await firingsOf(stack, schedule.id, id)).length, 1);
  });

  it('of a paused schedule start nothing', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const made = await makeSchedule(api, id, { cron: ONCE_A_YEAR, is_paused: true });
    await inTemporal(stack, made.id, (handle) => handle.trigger());
    await eventually(async () => {
      const { info } = await inTemporal(stack, made.id, (handle) => handle.describe());
      return info.numActionsTaken === 1 && info.runningActions.length === 0;
    });
    assert.deepEqual(await firingsOf(stack, made.id, id), []);
    assert.equal((await findSchedule(api, id, made.id)).last_firing, null);
  });

  it('start runs of their author with their input, by the clock alone', () => firedByClock);
});
