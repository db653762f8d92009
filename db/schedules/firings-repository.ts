// Firings of schedules. A firing starts at most one run, even if it is repeated. Writer: the worker; the API pauses
// schedules.
import { sql, type RawBuilder } from 'kysely';
import { insertAuditEntry } from '../audit/audit-entry.js';
import { findTarget } from '../audit/subjects.js';
import type { Database, Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { insertAcceptedRun, type RunFacts } from '../runs/runs-repository.js';
import { cutText } from '../../graph/cut-text.js';

/** `at` is the nominal time. */
export interface FiringKey {
  scheduleId: string;
  at: Date;
}

/** `authorRole` is null if the author is no longer an active member of the project. */
export type FiringSchedule = NonNullable<Awaited<ReturnType<typeof findFiringSchedule>>>;

export interface FiredRun {
  runId: string;
  workflowId: number;
  projectId: number;
  title: string;
  isOpen: boolean;
}

/**
 * Firings are kept for much longer than the day (the limit of `catchup_seconds`) in which a missed firing is made up
 * for. Every new one deletes some old ones of its schedule.
 */
const KEPT = sql`interval '90 days'`;
const SWEEP = 10;
const LOST_ACCESS = 'author_lost_access';
/** A limit is needed because a drawing may have an error for each of its nodes. */
const MAX_REFUSAL_CHARACTERS = 1_000;

export async function findFiredRun(db: Db, { scheduleId, at }: FiringKey): Promise<FiredRun | undefined> {
  const { rows } = await sql<FiredRun>`
    SELECT run.id AS "runId", run.workflow_id AS "workflowId", run.project_id AS "projectId", workflow.title,
      run.status = 'In Progress' AS "isOpen"
    FROM schedule_firings AS firing JOIN runs AS run ON run.id = firing.run_id
      JOIN workflows AS workflow ON workflow.id = run.workflow_id
    WHERE firing.schedule_id = ${scheduleId} AND firing.at = ${at}`.execute(db);
  return rows[0];
}

/** Returns undefined if there is no such schedule, or its workflow or project was deleted. */
export function findFiringSchedule(db: Db, scheduleId: string) {
  return db
    .selectFrom('schedules')
    .innerJoin('workflows', 'workflows.id', 'schedules.workflow_id')
    .innerJoin('projects', 'projects.id', 'workflows.project_id')
    .innerJoin('users', 'users.id', 'schedules.author_id')
    .leftJoin('project_members', (join) =>
      join
        .onRef('project_members.project_id', '=', 'projects.id')
        .onRef('project_members.user_id', '=', 'schedules.author_id')
        .on('users.is_active', '=', true),
    )
    .select(['schedules.workflow_id as workflowId', 'projects.id as projectId', 'schedules.author_id as authorId'])
    .select(['project_members.role as authorRole', 'schedules.input_enc as inputEnc'])
    .select(['schedules.is_paused as isPaused', 'schedules.catchup_seconds as catchupSeconds'])
    .where('schedules.id', '=', scheduleId)
    .where('workflows.archived_at', 'is', null)
    .where('projects.deleted_at', 'is', null)
    .executeTakeFirst();
}

/**
 * Accepts the run together with its firing: after a crash both are stored or neither. Stores nothing if another
 * attempt was faster.
 */
export function acceptFiring(
  db: Database,
  { scheduleId, at }: FiringKey,
  { run, checkInSeconds }: { run: RunFacts; checkInSeconds: number },
): Promise<void> {
  return db.transaction().execute(async (transaction) => {
    const { rows } = await sql`
      INSERT INTO schedule_firings (schedule_id, at, run_id) VALUES (${scheduleId}, ${at}, ${run.id})
      ON CONFLICT (schedule_id, at) DO NOTHING
      RETURNING true`.execute(transaction);
    if (rows.length === 0) return;
    await insertAcceptedRun(transaction, run, checkInSeconds);
    await transaction
      .updateTable('schedules')
      .set({ last_firing_at: at, last_run_id: run.id, last_refusal_code: null, last_refusal_message: null })
      .where('id', '=', scheduleId)
      .where(isNoneLater(at))
      .execute();
    await sql`
      DELETE FROM schedule_firings WHERE (schedule_id, at) IN (
        SELECT schedule_id, at FROM schedule_firings
        WHERE schedule_id = ${scheduleId} AND accepted_at < now() - ${KEPT}
        ORDER BY at LIMIT ${sql.lit(SWEEP)} FOR UPDATE SKIP LOCKED)`.execute(transaction);
  });
}

export interface Refusal {
  code: string;
  message: string;
}

/**
 * True unless the columns `last_*` of the schedule describe a later firing, which a missed one that is caught up on
 * must not replace.
 */
function isNoneLater(at: Date): RawBuilder<boolean> {
  return sql`(last_firing_at IS NULL OR last_firing_at <= ${at})`;
}

/** Records the reason why a firing has not started a run. */
export async function noteRefusal(db: Db, { scheduleId, at }: FiringKey, { code, message }: Refusal): Promise<void> {
  const refusal = { last_refusal_code: code, last_refusal_message: cutText(message, MAX_REFUSAL_CHARACTERS) };
  await db
    .updateTable('schedules')
    .set({ last_firing_at: at, last_run_id: null, ...refusal })
    .where('id', '=', scheduleId)
    .where(isNoneLater(at))
    .execute();
}

/**
 * Pauses a schedule whose author has lost access; the API then pauses its copy in Temporal, too. Does nothing if the
 * schedule has another author by now.
 */
export async function pauseForLostAccess(db: Db, scheduleId: string, authorId: number): Promise<void> {
  await pause(db, { id: scheduleId, author_id: authorId });
}

/** Pauses all schedules of an author who is locked out. */
export async function pauseSchedulesOf(transaction: Db, authorId: number): Promise<void> {
  await pause(transaction, { author_id: authorId });
}

/** Writes an audit record for each schedule in the transaction of the change. */
async function pause(db: Db, which: { id?: string; author_id: number }): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const paused = await transaction
      .updateTable('schedules')
      .set({ is_paused: true, pause_reason: LOST_ACCESS, version: sql`gen_random_uuid()`, sync_at: sql`now()` })
      .where((row) => row.and(which))
      .where('is_paused', '=', false)
      .returning('id')
      .execute();
    for (const { id } of paused) {
      const found = await findTarget(transaction, 'schedule', { id });
      await insertAuditEntry(transaction, {
        action: 'schedule.paused',
        doer: { via: 'schedule' },
        projectId: found?.projectId ?? null,
        target: found && { type: 'schedule', id, name: found.name },
        changes: { is_paused: [false, true], pause_reason: [null, LOST_ACCESS] },
      });
    }
  });
}

/**
 * Asks the API to delete a schedule in Temporal that fires there but is unknown here, for example after a restore of
 * this database.
 */
export async function requestRemoval(db: Db, scheduleId: string): Promise<void> {
  await db
    .insertInto('schedule_removals')
    .values({ schedule_id: scheduleId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Also returns true for an unknown run. */
export async function isRunOver(db: Db, runId: string): Promise<boolean> {
  const run = await db.selectFrom('runs').select('status').where('id', '=', runId).executeTakeFirst();
  return run?.status !== 'In Progress';
}
