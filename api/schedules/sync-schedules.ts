// Makes Temporal's copies of schedules follow Postgres, in every API process: repeats changes that did not reach
// Temporal, recreates lost copies, and deletes copies of deleted schedules.
import type { Logger } from '../../telemetry/logger.js';
import {
  findRemovals,
  findSchedulesToSync,
  forgetRemoval,
  postpone,
  syncLocked,
} from '../../db/schedules/schedule-sync-repository.js';
import { startLoop, workThrough, type BackgroundLoop } from '../loops/background-loop.js';
import type { ScheduleDeps } from './deps.js';
import { isStartRefused, pingTemporal } from '../runs/temporal-calls.js';
import { putSchedule, removeSchedule } from './temporal-schedules.js';

const INTERVAL_MS = 2_000;
/** The longest interval while Temporal or the database is unavailable; the interval doubles up to it. */
const MAX_INTERVAL_MS = 10_000;
const PING_MS = 2_000;
const BATCH = 30;
/** Each sync holds a database connection during its calls to Temporal. */
const AT_ONCE = 4;
/** The average interval at which each copy is compared with its schedule. */
const AGAIN_SECONDS = 900;
/**
 * The loop does not sync a schedule again for this time after a failure, so that others come first. If Temporal has
 * refused the schedule, the loop waits `AGAIN_SECONDS`.
 */
const RETRY_SECONDS = 10;

/** After `stop`, the loop begins no further syncs; `stop` resolves when those under way have ended. */
export function startScheduleSync(deps: ScheduleDeps): BackgroundLoop {
  let intervalMs = INTERVAL_MS;
  return startLoop(async (stopped) => {
    try {
      await syncDue(deps, stopped);
      intervalMs = INTERVAL_MS;
    } catch (error) {
      deps.logger.debug({ err: error }, 'schedules cannot be synced: Temporal or the database is unavailable');
      intervalMs = Math.min(MAX_INTERVAL_MS, intervalMs * 2);
    }
    return intervalMs;
  });
}

async function syncDue(deps: ScheduleDeps, stopped: AbortSignal): Promise<void> {
  const due = await findSchedulesToSync(deps.db, BATCH);
  const removed = await findRemovals(deps.db, BATCH);
  if (due.length === 0 && removed.length === 0) return;
  await pingTemporal(deps.temporal, PING_MS);
  const pool = { atOnce: AT_ONCE, stopped };
  await workThrough(due, pool, (id) => syncSchedule(deps, deps.logger, id));
  await workThrough(removed, pool, (id) => finishRemoval(deps, deps.logger, id));
}

/** Syncs one schedule. Never throws, because the loop repeats a failed sync. */
export async function syncSchedule(deps: ScheduleDeps, log: Logger, scheduleId: string): Promise<void> {
  const { db, temporal, config } = deps;
  try {
    const againInSeconds = Math.round(AGAIN_SECONDS * (0.8 + 0.4 * Math.random()));
    const sync = putSchedule.bind(undefined, temporal, config.taskQueue);
    const isDone = await syncLocked(db, scheduleId, { againInSeconds, sync });
    // The difference is recorded now. The second call updates the copy and makes up for missed firings.
    if (isDone === false) await syncLocked(db, scheduleId, { againInSeconds, sync });
  } catch (error) {
    const isRefused = isStartRefused(error);
    if (isRefused) log.error({ err: error, schedule_id: scheduleId }, 'Temporal refuses a schedule');
    else
      log.warn(
        { err: error, schedule_id: scheduleId },
        'a schedule could not be synced to Temporal; a later round tries again',
      );
    await postpone(db, scheduleId, isRefused ? AGAIN_SECONDS : RETRY_SECONDS).catch(() => undefined);
  }
}

/** Removes a copy. Never throws, because the loop repeats a failed removal. */
export async function finishRemoval({ db, temporal }: ScheduleDeps, log: Logger, scheduleId: string): Promise<void> {
  try {
    await removeSchedule(temporal, scheduleId);
    await forgetRemoval(db, scheduleId);
  } catch (error) {
    log.warn(
      { err: error, schedule_id: scheduleId },
      'a deleted schedule could not be removed from Temporal; a later round tries again',
    );
  }
}
