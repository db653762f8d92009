// Acceptance, cancellation and the reconciler's queue of runs. run-life.ts starts and ends them.
import { sql } from 'kysely';
import type { RunInput } from '../../graph/input.js';
import type { Plan } from '../../graph/plan.js';
import { withAdvisoryLock } from '../core/advisory-lock.js';
import type { Database, Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { NewRun, RunPurpose, StoredRunStatus } from '../core/tables.js';
import { holdFiles } from '../files/references-repository.js';

/** The data that starts a run in Temporal. */
export interface RunToStart {
  id: string;
  workflow_id: number;
  project_id: number;
  title: string;
  plan: Plan;
  /** The `settings` of the drawing, not validated. */
  settings: unknown;
  /** True if the run may reuse results of earlier runs. */
  isResumed: boolean;
  /** The pool of its project; null is the default pool. */
  pool: string | null;
}

export interface RunToCheck {
  id: string;
  run_started_at: Date | null;
  cancel_requested_at: Date | null;
  check_attempts: number;
  stuck_since: Date | null;
}

export type RunFacts = Omit<NewRun, 'status' | 'run_finished_at' | 'next_check_at' | 'is_plain'> & {
  is_plain: boolean;
  /** The files that its input and its drawing reference. */
  file_ids?: readonly string[];
};

/**
 * Inserts the run and its references to files. `checkInSeconds`: the delay after which the reconciler checks that the
 * start reached Temporal. Throws `FileGone`.
 */
export function insertAcceptedRun(db: Db, facts: RunFacts, checkInSeconds: number): Promise<void> {
  const { file_ids: fileIds = [], ...run } = facts;
  if (fileIds.length === 0) return insertRow(db, run, checkInSeconds);
  return inTransaction(db, async (transaction) => {
    await insertRow(transaction, run, checkInSeconds);
    await holdFiles(transaction, run.project_id, { kind: 'run', id: run.id }, fileIds);
  });
}

async function insertRow(db: Db, run: Omit<RunFacts, 'file_ids'>, checkInSeconds: number): Promise<void> {
  const nextCheckAt = sql<Date>`now() + make_interval(secs => ${checkInSeconds})`;
  // `traceparent` is set even without a trace, so that most runs have the same columns and the same prepared statement.
  const row = { traceparent: null, ...run, status: 'In Progress' as const, next_check_at: nextCheckAt };
  await db.insertInto('runs').values(row).execute();
}

/** Stores a run that validation refused, with its errors. It is never executed. */
export async function insertDraftRun(db: Db, facts: RunFacts): Promise<void> {
  const { file_ids: _unused, ...run } = facts;
  await db
    .insertInto('runs')
    .values({ ...run, status: 'Draft', run_finished_at: sql<Date>`now()` })
    .execute();
}

export async function findRunToStart(db: Db, runId: string): Promise<RunToStart | undefined> {
  const row = await db
    .selectFrom('runs')
    .innerJoin('workflows', 'workflows.id', 'runs.workflow_id')
    .innerJoin('graph_snapshots', 'graph_snapshots.hash', 'runs.snapshot_hash')
    .innerJoin('projects', 'projects.id', 'runs.project_id')
    .select(['runs.id', 'runs.workflow_id', 'runs.project_id', 'runs.resumed_from', 'runs.purpose', 'projects.pool'])
    .select(['workflows.title', 'graph_snapshots.plan'])
    .select(sql`graph_snapshots.document -> 'settings'`.as('settings'))
    .where('runs.id', '=', runId)
    .executeTakeFirst();
  return row && { ...row, plan: row.plan as Plan, isResumed: row.resumed_from !== null || row.purpose === 'test' };
}

/** The contents of a run whose input a new run reuses (api/runs/re-run.ts). */
interface OriginalRun {
  id: string;
  project_id: number;
  purpose: RunPurpose;
  /** Masked. */
  input: RunInput;
  /** The unmasked input, sealed; null if nothing is masked. */
  input_enc: Buffer | null;
  secrets_enc: Buffer | null;
  passed_secrets_enc: Buffer | null;
  /** True if the unmasked input has expired: then `input` lacks its secrets. */
  is_input_lost: boolean;
  document: Record<string, unknown>;
}

export function findOriginalRun(db: Db, workflowId: number, runId: string): Promise<OriginalRun | undefined> {
  return db
    .selectFrom('runs')
    .innerJoin('graph_snapshots', 'graph_snapshots.hash', 'runs.snapshot_hash')
    .select([
      'runs.id',
      'runs.project_id',
      'runs.purpose',
      'runs.input',
      'runs.input_enc',
      'runs.secrets_enc',
      'runs.passed_secrets_enc',
      'runs.is_input_lost',
    ])
    .select('graph_snapshots.document')
    .where('runs.id', '=', runId)
    .where('runs.workflow_id', '=', workflowId)
    .executeTakeFirst();
}

export async function findRunStatus(db: Db, workflowId: number, runId: string): Promise<StoredRunStatus | undefined> {
  const row = await db
    .selectFrom('runs')
    .select('status')
    .where('id', '=', runId)
    .where('workflow_id', '=', workflowId)
    .executeTakeFirst();
  return row?.status;
}

/**
 * Stores the request to cancel, so that it survives a crash of this process and an outage of Temporal. Returns false
 * if the run is not open. The reconciler checks the run soon, but not before `startGraceSeconds` after acceptance:
 * until then the start may still be on its way, and "no such workflow" proves nothing.
 */
export async function requestCancel(db: Db, runId: string, startGraceSeconds: number): Promise<boolean> {
  const result = await db
    .updateTable('runs')
    .set({
      cancel_requested_at: sql<Date>`coalesce(cancel_requested_at, now())`,
      next_check_at: sql<Date>`least(next_check_at,
        greatest(now() + interval '3 seconds', created_at + make_interval(secs => ${startGraceSeconds})))`,
      check_attempts: 0,
      updated_at: sql<Date>`now()`,
    })
    .where('id', '=', runId)
    .where('status', '=', 'In Progress')
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * Claims up to `limit` due runs. They are due again after `leaseSeconds`, unless another time is set meanwhile, so that
 * they are checked even if this process dies. Returns undefined while another process is claiming (ADR 8).
 */
export function claimRunsToCheck(db: Database, limit: number, leaseSeconds: number): Promise<RunToCheck[] | undefined> {
  return withAdvisoryLock(db, 'reconciler', (trx) => claimDueRuns(trx, limit, leaseSeconds));
}

/**
 * True if the run's workflow or project is deleted. `cancelOpenRuns` cannot see a run that is accepted at the same
 * time, so the first check of such a run cancels it.
 */
const isUnreachable = sql<boolean>`EXISTS (
  SELECT FROM workflows JOIN projects ON projects.id = workflows.project_id
  WHERE workflows.id = runs.workflow_id AND (workflows.archived_at IS NOT NULL OR projects.deleted_at IS NOT NULL))`;

function claimDueRuns(trx: Db, limit: number, leaseSeconds: number): Promise<RunToCheck[]> {
  return trx
    .updateTable('runs')
    .set((eb) => ({
      next_check_at: sql<Date>`now() + make_interval(secs => ${leaseSeconds})`,
      check_attempts: eb('check_attempts', '+', 1),
      cancel_requested_at: sql<Date | null>`coalesce(cancel_requested_at, CASE WHEN ${isUnreachable} THEN now() END)`,
    }))
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('runs')
        .select('id')
        .where('status', '=', 'In Progress')
        .where('next_check_at', '<=', sql<Date>`now()`)
        .orderBy('next_check_at')
        .limit(limit)
        // A process that ends a run has the run's row locked; skip the row instead of waiting.
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'run_started_at', 'cancel_requested_at', 'check_attempts', 'stuck_since'])
    .execute();
}

interface NextCheck {
  delaySeconds: number;
  /** True if the run's workflow task fails repeatedly; undefined if unknown. */
  isStuck?: boolean;
}

/** Sets the time of the reconciler's next check of an open run: within 15 seconds if a cancellation was requested. */
export async function scheduleCheck(db: Db, runId: string, { delaySeconds, isStuck }: NextCheck): Promise<void> {
  const delay = sql`CASE WHEN cancel_requested_at IS NULL THEN ${delaySeconds} ELSE least(${delaySeconds}, 15) END`;
  const stuckSince = isStuck === true ? sql<Date>`coalesce(stuck_since, now())` : null;
  await db
    .updateTable('runs')
    .set({
      next_check_at: sql<Date>`now() + make_interval(secs => ${delay})`,
      ...(isStuck === undefined ? {} : { stuck_since: stuckSince }),
    })
    .where('id', '=', runId)
    .where('status', '=', 'In Progress')
    .execute();
}

/** Rereads a claimed run; undefined if it has ended meanwhile. */
export function findOpenRun(db: Db, runId: string): Promise<RunToCheck | undefined> {
  return db
    .selectFrom('runs')
    .select(['id', 'run_started_at', 'cancel_requested_at', 'check_attempts', 'stuck_since'])
    .where('id', '=', runId)
    .where('status', '=', 'In Progress')
    .executeTakeFirst();
}
