// Reads and changes the schedules of workflows for the API. See firings-repository.ts for firings, and
// schedule-sync-repository.ts for the copies in Temporal.
import { sql, type InferResult, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { ScheduleOverlap } from '../core/tables.js';
import { addReferences, replaceReferences } from '../files/references-repository.js';
import { lockProject } from '../projects/lock-project.js';
import { isAmong, isOf, type OfWorkflows } from '../workflows/of-workflows.js';

export const MOST_SCHEDULES = 20;

export interface ScheduleSettings {
  cron: string;
  timeZone: string;
  inputEnc: Buffer;
  /** The files that the input references; undefined if the input does not change. */
  fileIds?: readonly string[] | undefined;
  overlap: ScheduleOverlap;
  jitterSeconds: number;
  catchupSeconds: number;
  isPaused: boolean;
}

interface NewSchedule extends ScheduleSettings {
  id: string;
  projectId: number;
  workflowId: number;
  authorId: number;
}

/** `authorRole` is null if the author is no longer an active member of the workflow's project. */
export type ScheduleRecord = InferResult<ReturnType<typeof scheduleRecords>>[number];

/**
 * `gone`: there is no such workflow. `too_many`: the workflow has `MOST_SCHEDULES`, and no schedule was added. The lock
 * on the project's row makes the count reliable, and keeps schedules from being added during a deletion.
 */
export function insertSchedule(db: Db, schedule: NewSchedule): Promise<ScheduleRecord | 'gone' | 'too_many'> {
  return inTransaction(db, async (transaction) => {
    if (!(await lockProject(transaction, schedule.projectId))) return 'gone';
    const workflow = await transaction
      .selectFrom('workflows')
      .select('id')
      .where('id', '=', schedule.workflowId)
      .where('archived_at', 'is', null)
      .executeTakeFirst();
    if (workflow === undefined) return 'gone';
    if ((await countSchedules(transaction, { workflowId: schedule.workflowId })) >= MOST_SCHEDULES) return 'too_many';
    const { id, workflowId, authorId } = schedule;
    await transaction
      .insertInto('schedules')
      .values({ id, workflow_id: workflowId, author_id: authorId, ...toColumns(schedule) })
      .execute();
    await addReferences(transaction, schedule.projectId, { kind: 'schedule', id }, schedule.fileIds ?? []);
    return scheduleRecords(transaction, { workflowId }).where('schedules.id', '=', id).executeTakeFirstOrThrow();
  });
}

/** Lists by workflow and age. The caller must have checked access. */
export async function pageOfSchedules(
  db: Db,
  of: OfWorkflows,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; schedules: ScheduleRecord[] }> {
  const total = await countSchedules(db, of);
  const schedules = await scheduleRecords(db, of)
    .orderBy('schedules.workflow_id')
    .orderBy('schedules.created_at')
    .orderBy('schedules.id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { total, schedules };
}

export interface ScheduleChange {
  settings: ScheduleSettings;
  /** The user who starts its runs from now on. */
  authorId: number;
  /** True if the schedule in Temporal must change. */
  mustSync: boolean;
}

/**
 * Updates a schedule. `change` reads the stored schedule under a row lock, so that concurrent changes do not undo each
 * other. An error of `change` rolls back everything. Returns undefined if the workflow has no such schedule.
 */
export function updateSchedule(
  db: Db,
  { workflowId, scheduleId }: { workflowId: number; scheduleId: string },
  change: (stored: ScheduleRecord, transaction: Db) => Promise<ScheduleChange>,
): Promise<ScheduleRecord | undefined> {
  return inTransaction(db, async (transaction) => {
    const find = () => scheduleRecords(transaction, { workflowId }).where('schedules.id', '=', scheduleId);
    const stored = await find().forNoKeyUpdate('schedules').executeTakeFirst();
    if (stored === undefined) return undefined;
    const { settings, authorId, mustSync } = await change(stored, transaction);
    await transaction
      .updateTable('schedules')
      .set({
        ...toColumns(settings),
        author_id: authorId,
        pause_reason: settings.isPaused ? stored.pauseReason : null,
        ...(mustSync && newVersion(stored)),
      })
      .where('id', '=', scheduleId)
      .execute();
    const { fileIds } = settings;
    if (fileIds !== undefined)
      await replaceReferences(transaction, workflowId, { kind: 'schedule', id: scheduleId }, fileIds);
    return find().executeTakeFirst();
  });
}

/**
 * Keeps `changed_at` if Temporal has not received an earlier change yet: missed firings since that change must still be
 * caught up on. A schedule that was paused has missed none, so its `changed_at` is renewed.
 */
function newVersion({ version, syncedVersion, isPaused }: ScheduleRecord) {
  const isKnown = syncedVersion === version || isPaused;
  return {
    version: sql<string>`gen_random_uuid()`,
    ...(isKnown && { changed_at: sql<Date>`now()` }),
    sync_at: sql<Date>`now()`,
  };
}

async function countSchedules(db: Db, of: OfWorkflows): Promise<number> {
  const { total } = await db
    .selectFrom('schedules')
    .innerJoin('workflows', 'workflows.id', 'schedules.workflow_id')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where(isAmong(of))
    .executeTakeFirstOrThrow();
  return total;
}

function toColumns(settings: ScheduleSettings) {
  return {
    cron: settings.cron,
    time_zone: settings.timeZone,
    input_enc: settings.inputEnc,
    overlap: settings.overlap,
    jitter_seconds: settings.jitterSeconds,
    catchup_seconds: settings.catchupSeconds,
    is_paused: settings.isPaused,
  };
}

function scheduleRecords(db: Db, of: OfWorkflows) {
  return db
    .selectFrom('schedules')
    .innerJoin('users', 'users.id', 'schedules.author_id')
    .innerJoin('workflows', 'workflows.id', 'schedules.workflow_id')
    .leftJoin('project_members', (join) =>
      join
        .onRef('project_members.project_id', '=', 'workflows.project_id')
        .onRef('project_members.user_id', '=', 'schedules.author_id')
        .on('users.is_active', '=', true),
    )
    .select(['schedules.id', 'schedules.cron', 'schedules.time_zone as timeZone', 'schedules.input_enc as inputEnc'])
    .select(['schedules.overlap', 'schedules.jitter_seconds as jitterSeconds'])
    .select(['schedules.catchup_seconds as catchupSeconds', 'schedules.is_paused as isPaused'])
    .select(['schedules.pause_reason as pauseReason', 'schedules.created_at as createdAt'])
    .select(['schedules.version', 'schedules.synced_version as syncedVersion'])
    .select(['schedules.last_firing_at as lastFiringAt', 'schedules.last_run_id as lastRunId'])
    .select(['schedules.last_refusal_code as lastRefusalCode', 'schedules.last_refusal_message as lastRefusalMessage'])
    .select(['users.id as authorId', 'users.name as authorName', 'project_members.role as authorRole'])
    .select(['workflows.id as workflowId', 'workflows.title as workflowTitle'])
    .where(isAmong(of));
}

/**
 * Deletes schedules in the transaction that deletes their workflow or project; their copies in Temporal are
 * deleted afterwards. Must be called twice: before open runs are cancelled, because a firing holds the schedule's row
 * until its run is stored (lock order: schedule, run, project), and again under the lock on the project's row, which
 * prevents new schedules.
 */
export async function deleteSchedulesOf(transaction: Db, of: OfWorkflows): Promise<void> {
  await deleteAndRemove(isOf(of)).execute(transaction);
}

export async function deleteSchedule(db: Db, workflowId: number, scheduleId: string): Promise<boolean> {
  const { rows } = await deleteAndRemove(sql`id = ${scheduleId} AND workflow_id = ${workflowId}`).execute(db);
  return rows.length > 0;
}

function deleteAndRemove(which: RawBuilder<unknown>) {
  return sql`
    WITH deleted AS (DELETE FROM schedules WHERE ${which} RETURNING id)
    INSERT INTO schedule_removals (schedule_id) SELECT id FROM deleted ON CONFLICT DO NOTHING RETURNING schedule_id`;
}
