import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ScheduleNotFoundError, type Backfill, type Client } from '@temporalio/client';
import { putSchedule } from '../../../api/schedules/temporal-schedules.js';
import type { ScheduleToSync } from '../../../db/schedules/schedule-sync-repository.js';

const MINUTE_MS = 60_000;

describe('firings while a schedule is sent to Temporal', () => {
  const realNow = Date.now;
  const minuteMs = Math.ceil(realNow() / MINUTE_MS) * MINUTE_MS;
  afterEach(() => (Date.now = realNow));

  /** A Temporal whose answers to changes come a second after the full minute. */
  function slowTemporal(copy: object | undefined): { client: Client; backfills: Backfill[] } {
    const backfills: Backfill[] = [];
    const change = (): Promise<void> => {
      Date.now = () => minuteMs + 1_000;
      return Promise.resolve();
    };
    const handle = {
      describe: () => (copy ? Promise.resolve(copy) : Promise.reject(new ScheduleNotFoundError('not there', 'id'))),
      update: change,
      backfill: (range: Backfill) => Promise.resolve(void backfills.push(range)),
    };
    const now = <T>(_: unknown, call: () => Promise<T>): Promise<T> => call();
    const schedule = { getHandle: () => handle, create: change };
    return { client: { schedule, withAbortSignal: now, withDeadline: now } as unknown as Client, backfills };
  }

  const schedule: ScheduleToSync = {
    id: randomUUID(),
    workflowId: 1,
    projectId: 1,
    cron: '* * * * *',
    timeZone: 'UTC',
    overlap: 'skip',
    jitterSeconds: 0,
    catchupSeconds: 3_600,
    isPaused: false,
    version: randomUUID(),
    syncedVersion: null,
    changedAt: new Date(minuteMs - 2_000),
    lastFiringAt: null,
  };

  for (const [name, copy] of Object.entries({ created: undefined, changed: { spec: {}, info: {} } })) {
    it(`are made up for if Temporal has ${name} its copy only after the time of the firing`, async () => {
      Date.now = () => minuteMs - 1_000;
      const { client, backfills } = slowTemporal(copy);
      assert.equal(await putSchedule(client, 'queue', schedule), true);
      assert.equal(backfills.length, 1);
      const [{ start, end }] = backfills as [Backfill];
      assert.ok(start.getTime() < minuteMs && minuteMs <= end.getTime(), `${start.toISOString()} ${end.toISOString()}`);
    });
  }
});
