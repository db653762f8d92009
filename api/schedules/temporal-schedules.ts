// Manages the copies of schedules in Temporal, which fires each schedule at its times. docs/adr/0023-schedules.md
import { cutText } from '../../graph/cut-text.js';
import {
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleDescription,
  type ScheduleHandle,
  type ScheduleOptions,
} from '@temporalio/client';
import { SCHEDULED_RUN_TIMEOUT, SCHEDULED_RUN_TYPE, scheduleName } from '../../contract/scheduled-run.js';
import type { ScheduleOverlap } from '../../db/core/tables.js';
import type { ScheduleToSync } from '../../db/schedules/schedule-sync-repository.js';
import { bounded } from '../../acceptance/bounded-call.js';
import { projectIdKey, workflowIdKey } from '../runs/temporal-calls.js';
import { parseCron } from './cron.js';
import { nameOfSpec, toSpec } from './temporal-spec.js';

const MINUTE_MS = 60_000;
/** Temporal limits a comment to 200 characters. */
const MAX_COMMENT_CRON = 100;

const OVERLAP: Record<ScheduleOverlap, ScheduleOverlapPolicy> = {
  skip: ScheduleOverlapPolicy.SKIP,
  buffer_one: ScheduleOverlapPolicy.BUFFER_ONE,
  allow_all: ScheduleOverlapPolicy.ALLOW_ALL,
  cancel_other: ScheduleOverlapPolicy.CANCEL_OTHER,
};

/**
 * Compares the copy with the schedule. If Postgres does not record the copy as up to date (`syncedVersion`), creates
 * it, or updates it if its version or its spec differs, such as a spec of an earlier build or year; then makes up for
 * missed firings and returns true. Idempotent.
 *
 * If Postgres records the copy as up to date, changes nothing, makes up for nothing, and returns whether the copy is
 * there and alike. After false, the caller must clear `syncedVersion` before it calls again: if a process died between
 * the update and making up while `syncedVersion` was still set, the missed firings would be forgotten.
 */
export async function putSchedule(client: Client, taskQueue: string, schedule: ScheduleToSync): Promise<boolean> {
  const options = toOptions(taskQueue, schedule);
  const handle = client.schedule.getHandle(options.scheduleId);
  const copy = await describe(client, handle);
  const isLike = copy !== undefined && commentOf(copy) === commentOf(options);
  if (schedule.syncedVersion === schedule.version) return isLike;
  if (copy === undefined) await bounded(client, () => client.schedule.create(options));
  else if (!isLike) {
    const { spec, action, policies, state } = options;
    await bounded(client, () => handle.update(() => ({ spec, action, policies, state })));
  }
  // The copy fires by itself from its last change on. If this call has made that change, the present time stands for
  // it: a firing between the two may be repeated, but none is left out.
  const untilMs = isLike ? (copy.info.lastUpdatedAt ?? copy.info.createdAt).getTime() : Date.now();
  await makeUp(client, handle, schedule, untilMs);
  return true;
}

export async function removeSchedule(client: Client, scheduleId: string): Promise<void> {
  try {
    await bounded(client, () => client.schedule.getHandle(scheduleName(scheduleId)).delete());
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

/** Returns the times of the next firings, including jitter; undefined if the copy is missing or of another version. */
export async function nextTimes(
  client: Client,
  { id, version }: Pick<ScheduleToSync, 'id' | 'version'>,
  timeoutMs: number,
): Promise<Date[] | undefined> {
  const copy = await describe(client, client.schedule.getHandle(scheduleName(id)), timeoutMs);
  return copy !== undefined && commentOf(copy).endsWith(endOf(version)) ? copy.info.nextActionTimes : undefined;
}

async function describe(
  client: Client,
  handle: ScheduleHandle,
  timeoutMs?: number,
): Promise<ScheduleDescription | undefined> {
  try {
    return await bounded(client, () => handle.describe(), timeoutMs);
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

function commentOf({ spec }: Pick<ScheduleDescription, 'spec'> | ReturnType<typeof toOptions>): string {
  return spec.calendars?.[0]?.comment ?? '';
}

function endOf(version: string): string {
  return `, version ${version}`;
}

/**
 * Makes up for the firings before `end`, the moment from which the copy fires by itself; for none while the schedule is
 * paused. Begins at the latest of three moments: when the schedule was changed in Postgres, `catchupSeconds` before
 * now, and after the last firing, if that was before `end`. A firing that is repeated here starts no second run, but
 * with `cancel_other` it would cancel the run that it started the first time, so no firing cancels a run here.
 */
async function makeUp(client: Client, handle: ScheduleHandle, schedule: ScheduleToSync, end: number): Promise<void> {
  const { changedAt, catchupSeconds, lastFiringAt, isPaused } = schedule;
  const firedAt = lastFiringAt?.getTime() ?? 0;
  const afterFiring = firedAt < end ? firedAt + 1000 : 0;
  const start = Math.max(changedAt.getTime(), Date.now() - catchupSeconds * 1000, afterFiring);
  const isNoneMissed = Math.floor(start / MINUTE_MS) >= Math.floor(end / MINUTE_MS);
  if (isPaused || isNoneMissed) return;
  const overlap = OVERLAP[schedule.overlap === 'cancel_other' ? 'buffer_one' : schedule.overlap];
  await bounded(client, () => handle.backfill({ start: new Date(start), end: new Date(end), overlap }));
}

function toOptions(taskQueue: string, schedule: ScheduleToSync) {
  const { id, workflowId, projectId, cron, timeZone, version } = schedule;
  const spec = toSpec(parseCron(cron), timeZone, new Date().getUTCFullYear());
  const [first, ...others] = spec.calendars;
  const comment = `${cutText(cron, MAX_COMMENT_CRON)}, spec ${nameOfSpec(spec)}${endOf(version)}`;
  const searchAttributes = [
    { key: projectIdKey, value: String(projectId) },
    { key: workflowIdKey, value: String(workflowId) },
  ];
  return {
    scheduleId: scheduleName(id),
    spec: {
      ...spec,
      // The comment says which version and spec the copy has, because a payload would have to be encrypted again with
      // each new key.
      calendars: [{ ...first, comment }, ...others],
      jitter: schedule.jitterSeconds * 1000,
    },
    action: {
      type: 'startWorkflow',
      workflowType: SCHEDULED_RUN_TYPE,
      workflowId: scheduleName(id),
      taskQueue,
      workflowExecutionTimeout: SCHEDULED_RUN_TIMEOUT,
      typedSearchAttributes: searchAttributes,
    },
    policies: { overlap: OVERLAP[schedule.overlap], catchupWindow: schedule.catchupSeconds * 1000 },
    state: { paused: schedule.isPaused },
    typedSearchAttributes: searchAttributes,
  } satisfies ScheduleOptions;
}
