// Temporal's copies of schedules follow Postgres, even if the process that updates them has died or one of the two was
// restored.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ScheduleOverlapPolicy } from '@temporalio/client';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain, drawing, linkInRow, node, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { callBack, callbackUrlOf } from '../../support/waiting.js';
import { createAccount } from '../accounts.js';
import {
  backfill,
  findSchedule,
  firingsOf,
  inTemporal,
  makeSchedule,
  untilFired,
  type Schedule,
} from './schedule-maker.js';

const MINUTE_MS = 60_000;

interface SyncRow {
  version: string;
  synced_version: string | null;
  changed_at: Date;
}

describe('copies of schedules', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    project = await api.createProject();
  });

  /** A daily cron line whose last time was `minutes` ago. */
  const cronBefore = (minutes: number): string => {
    const then = new Date(Date.now() - minutes * MINUTE_MS);
    return `${then.getUTCMinutes()} ${then.getUTCHours()} * * *`;
  };
  const change = (id: number, schedule: Schedule, body: object) =>
    api.patch<Schedule>(`/workflows/${id}/schedules/${schedule.id}/`, { body });
  async function rowOf({ id }: Schedule): Promise<SyncRow> {
    const text = 'SELECT version, synced_version, changed_at FROM schedules WHERE id = $1';
    return (await queryDatabase<SyncRow>(stack, text, [id]))[0]!;
  }
  /** Simulates a process that died before it had updated Temporal. */
  const forget = ({ id }: Schedule) =>
    queryDatabase(
      stack,
      `UPDATE schedules SET synced_version = NULL, changed_at = now() - interval '20 minutes', sync_at = now() WHERE id = $1`,
      [id],
    );
  const untilTold = (schedule: Schedule) =>
    eventually(async () => {
      const { version, synced_version: told } = await rowOf(schedule);
      return version === told;
    });

  it('make up for missed firings, also if a process has died before it recorded the update', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const made = await makeSchedule(api, id, { cron: cronBefore(10), catchup_seconds: 3600 });
    await untilTold(made);
    assert.deepEqual(await firingsOf(stack, made.id, id), []);
    await forget(made);
    await untilFired(stack, made, id, 1);
    await untilTold(made);
  });

  it('that Temporal has lost are made again and make up for missed firings, too', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const made = await makeSchedule(api, id, { cron: cronBefore(10), catchup_seconds: 3600 });
    await inTemporal(stack, made.id, (handle) => handle.delete());
    const text = `UPDATE schedules SET changed_at = now() - interval '20 minutes', sync_at = now() WHERE id = $1`;
    await queryDatabase(stack, text, [made.id]);
    await untilFired(stack, made, id, 1);
    await untilTold(made);
  });

  it('get no new version for a change of the input; changed_at is that of the first pending change', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const made = await makeSchedule(api, id);
    const before = await rowOf(made);
    assert.equal(before.synced_version, before.version);
    await change(id, made, { input: { topic: 'cats' } });
    assert.deepEqual(await rowOf(made), before);
    await queryDatabase(stack, 'UPDATE schedules SET synced_version = NULL WHERE id = $1', [made.id]);
    await change(id, made, { jitter_seconds: 1 });
    const second = await rowOf(made);
    assert.deepEqual(second.changed_at, before.changed_at);
    assert.notEqual(second.version, before.version);
    assert.equal(second.synced_version, second.version);
    await change(id, made, { jitter_seconds: 2 });
    assert.ok((await rowOf(made)).changed_at > second.changed_at);
  });

  it('are made anew when a restore of Postgres has brought another version back', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const made = await makeSchedule(api, id);
    const text = `UPDATE schedules SET cron = '0 7 * * *', version = $2, synced_version = $2, sync_at = now() WHERE id = $1`;
    await queryDatabase(stack, text, [made.id, randomUUID()]);
    const times = await eventually(async () => (await findSchedule(api, id, made.id)).next_run_times ?? undefined);
    assert.ok(
      times.every((time) => time.endsWith('T07:00:00.000Z')),
      times.join(' '),
    );
  });

  it('that an earlier build has made get the spec of this build, and have their next times until then', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const made = await makeSchedule(api, id, { cron: '30 2 * * *', time_zone: 'Europe/Berlin' });
    const { version } = await rowOf(made);
    const calendar = { minute: 30, hour: 2, comment: `30 2 * * *, version ${version}` };
    await inTemporal(stack, made.id, (handle) =>
      handle.update((known) => ({ ...known, spec: { calendars: [calendar], timezone: 'Europe/Berlin' } })),
    );
    assert.equal((await findSchedule(api, id, made.id)).next_run_times?.length, 5);
    await queryDatabase(stack, 'UPDATE schedules SET sync_at = now() WHERE id = $1', [made.id]);
    await eventually(async () => {
      const { spec } = await inTemporal(stack, made.id, (handle) => handle.describe());
      return (spec.intervals ?? []).length > 0;
    });
    await untilTold(made);
    assert.deepEqual(await firingsOf(stack, made.id, id), []);
  });

  it('with `cancel_other` make up for missed firings without cancelling the run of an earlier firing', async () => {
    const pause = node('wait', { mode: 'callback' });
    const id = await api.createWorkflow(project, drawing(linkInRow([trigger(), pause])));
    const cron = cronBefore(10);
    const made = await makeSchedule(api, id, { cron, overlap: 'cancel_other', catchup_seconds: 3600 });
    const [end, start] = [new Date(Date.now() - 5 * MINUTE_MS), new Date(Date.now() - 15 * MINUTE_MS)];
    await backfill(stack, made.id, { start, end, overlap: ScheduleOverlapPolicy.BUFFER_ONE });
    const [first] = await untilFired(stack, made, id, 1);
    const bufferOf = async (): Promise<number> =>
      (await inTemporal(stack, made.id, (handle) => handle.describe())).raw.info?.bufferSize?.toNumber() ?? 0;
    await forget(made);
    await untilTold(made);
    // Temporal takes the requests for a schedule one after the other, so it has taken those of the update before this one.
    await inTemporal(stack, made.id, async (handle) => {
      await handle.pause('taken');
      await eventually(async () => (await handle.describe()).state.note === 'taken');
      await handle.unpause();
    });
    assert.equal(await bufferOf(), 0, 'what has happened is not asked for again');
    await queryDatabase(stack, 'UPDATE schedules SET last_firing_at = NULL WHERE id = $1', [made.id]);
    await forget(made);
    await untilTold(made);
    await eventually(async () => (await bufferOf()) === 1);
    const text = 'SELECT FROM runs WHERE id = $1 AND cancel_requested_at IS NULL';
    assert.equal((await queryDatabase(stack, text, [first!.run_id])).length, 1, 'it goes on');
    await callBack(await callbackUrlOf(api, first!.run_id, pause.id), 'done');
    await api.pollToEnd(first!.run_id);
    await eventually(async () => (await bufferOf()) === 0);
    assert.equal((await firingsOf(stack, made.id, id)).length, 1);
  });
});
