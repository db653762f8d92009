// Statements for api/schedules/sync-schedules.ts, which keeps Temporal's copies of schedules in step with PostgreSQL.
// PostgreSQL is authoritative.
import { sql } from 'kysely';
import type { Database, Db } from '../core/client.js';
import type { ScheduleOverlap } from '../core/tables.js';

/** What PostgreSQL knows of a schedule: enough to write its copy in Temporal and to make up for missed firings. */
export interface ScheduleToSync {
  id: string;
  workflowId: number;
  projectId: number;
  cron: string;
  timeZone: string;
  overlap: ScheduleOverlap;
  jitterSeconds: number;
  catchupSeconds: number;
  isPaused: boolean;
  version: string;
  /** The last version that Temporal has received completely. */
  syncedVersion: string | null;
  changedAt: Date;
  lastFiringAt: Date | null;
}

/** The schedules that have been due longest come first. */
export async function findSchedulesToSync(db: Db, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('schedules')
    .select('id')
    .where('sync_at', '<=', sql<Date>`now()`)
    .orderBy('sync_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Calls `sync` while the schedule's row is locked, so that no older version can overwrite a newer one in Temporal.
 * `sync` returns true once Temporal has the whole schedule; then the version is recorded, and the next comparison is
 * due in `againInSeconds`. If `sync` returns false, the recorded version is cleared and the schedule stays due; if
 * `sync` throws, nothing changes. Returns undefined if another transaction holds the lock, or the schedule is gone.
 */
export function syncLocked(
  db: Database,
  scheduleId: string,
  { againInSeconds, sync }: { againInSeconds: number; sync: (schedule: ScheduleToSync) => Promise<boolean> },
): Promise<boolean | undefined> {
  return db.transaction().execute(async (transaction) => {
    const schedule = await findToSync(transaction, scheduleId);
    if (schedule === undefined) return undefined;
    const isSynced = await sync(schedule);
    await transaction
      .updateTable('schedules')
      .set({ synced_version: isSynced ? schedule.version : null })
      .where('id', '=', scheduleId)
      .execute();
    if (isSynced) await postpone(transaction, scheduleId, againInSeconds);
    return isSynced;
  });
}

/**
 * Sets when the schedule is compared with its copy in Temporal again. After a failure, the delay lets other schedules
 * go first.
 */
export async function postpone(db: Db, scheduleId: string, seconds: number): Promise<void> {
  await db
    .updateTable('schedules')
    .set({ sync_at: sql<Date>`now() + make_interval(secs => ${seconds})` })
    .where('id', '=', scheduleId)
    .execute();
}

/** Oldest first. */
export async function findRemovals(db: Db, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('schedule_removals')
    .select('schedule_id')
    .orderBy('requested_at')
    .limit(limit)
    .execute();
  return rows.map(({ schedule_id: id }) => id);
}

export async function forgetRemoval(db: Db, scheduleId: string): Promise<void> {
  await db.deleteFrom('schedule_removals').where('schedule_id', '=', scheduleId).execute();
}

function findToSync(transaction: Db, scheduleId: string): Promise<ScheduleToSync | undefined> {
  return transaction
    .selectFrom('schedules')
    .innerJoin('workflows', 'workflows.id', 'schedules.workflow_id')
    .select(['schedules.id', 'schedules.workflow_id as workflowId', 'workflows.project_id as projectId'])
    .select(['schedules.cron', 'schedules.time_zone as timeZone', 'schedules.overlap'])
    .select(['schedules.jitter_seconds as jitterSeconds', 'schedules.catchup_seconds as catchupSeconds'])
    .select(['schedules.is_paused as isPaused', 'schedules.version', 'schedules.synced_version as syncedVersion'])
    .select(['schedules.changed_at as changedAt', 'schedules.last_firing_at as lastFiringAt'])
    .where('schedules.id', '=', scheduleId)
    .forNoKeyUpdate('schedules')
    .skipLocked()
    .executeTakeFirst();
}
