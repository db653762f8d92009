// Acceptance, cancellation and the reconciler's book of runs. The life of a run after acceptance: run-life.ts.
import { sql } from 'kysely';
import type { RunInput } from '../../graph/input.js';
import type { Plan } from '../../graph/plan.js';
import { withAdvisoryLock } from '../core/advisory-lock.js';
import type { Database, Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { executePrepared } from '../core/statement.js';
import type { NewRun, StoredRunStatus } from '../core/tables.js';
import { addReferences } from '../files/references-repository.js';

/** The start of a run in Temporal needs this. */
export interface RunToStart {
  id: string;
  workflow_id: number;
  project_id: number;
  title: string;
  plan: Plan;
  /** The drawing's own `settings`, with what may be wrong in them. */
  settings: unknown;
  /** True if it may have taken over results of earlier runs. */
  isResumed: boolean;
}

/** A run that the reconciler has claimed. */
export interface RunToCheck {
  id: string;
  sequence: number;
  run_started_at: Date | null;
  cancel_requested_at: Date | null;
  check_attempts: number;
  stuck_since: Date | null;
}

export type RunFacts = Omit<NewRun, 'status' | 'run_finished_at' | 'next_check_at'> & {
  /** The files that its input and its drawing hold. */
  file_ids?: readonly string[];
};

/** `checkInSeconds`: when the reconciler looks whether the start got through. */
export function insertAcceptedRun(db: Db, facts: RunFacts, checkInSeconds: number): Promise<void> {
  const { file_ids: fileIds = [], ...run } = facts;
  if (fileIds.length === 0) return insertRow(db, run, checkInSeconds);
  return inTransaction(db, async (transaction) => {
    await insertRow(transaction, run, checkInSeconds);
    await addReferences(transaction, run.project_id, { kind: 'run', id: run.id }, fileIds);
  });
}

async function insertRow(db: Db, run: Omit<RunFacts, 'file_ids'>, checkInSeconds: number): Promise<void> {
  const nextCheckAt = sql<Date>`now() + make_interval(secs => ${checkInSeconds})`;
  // The columns and their order are the same, whatever the run has.
  const row = { traceparent: null, ...run, status: 'In Progress' as const, next_check_at: nextCheckAt };
  const query = db.insertInto('runs').values(row);
  // Few runs have more columns than the others: those of sub-workflows, those with secrets of other runs, those that take
  // over results, tests, and those of conversations.
  const { parent_run_id: parentId, passed_secrets_enc: passed, resumed_from: resumedFrom, purpose } = run;
  if ([parentId, passed, resumedFrom, purpose, run.conversation_id].every((column) => column === undefined)) {
    await executePrepared(db, 'insert_run', query);
  } else await query.execute();
}

/** An attempt that validation refused: kept with its errors, never executed. */
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
    .select(['runs.id', 'runs.workflow_id', 'runs.project_id', 'runs.resumed_from', 'runs.purpose'])
    .select(['workflows.title', 'graph_snapshots.plan'])
    .select(sql`graph_snapshots.document -> 'settings'`.as('settings'))
    .where('runs.id', '=', runId)
    .executeTakeFirst();
  return row && { ...row, plan: row.plan as Plan, isResumed: row.resumed_from !== null || row.purpose === 'test' };
}

/** A re-run takes this over. */
interface OriginalRun {
  id: string;
  project_id: number;
  purpose: 'run' | 'test';
  /** Masked. */
  input: RunInput;
  /** The unmasked input, sealed; null when nothing is masked. */
  input_enc: Buffer | null;
  secrets_enc: Buffer | null;
  passed_secrets_enc: Buffer | null;
  /** The unmasked input has expired: `input` lacks its secrets. */
  is_input_lost: boolean;
  document: Record<string, unknown>;
}

/** Returns undefined when the workflow has no such run. */
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

/** The run's stored status; undefined when the workflow has no such run. */
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
 * Remembers the wish to cancel, so that it outlives this process and a Temporal that is away. False when the run is
 * finished. The reconciler looks soon, but not before `startGraceSeconds` after acceptance: until then the start may
 * still be on its way, and "no such workflow" means nothing.
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
 * Takes up to `limit` runs that are due and leases them for `leaseSeconds`: whoever dies while checking one loses
 * nothing, the next process takes it when the lease is over. Several processes never get the same run. Undefined while
 * another process is claiming (ADR 8).
 */
export function claimRunsToCheck(db: Database, limit: number, leaseSeconds: number): Promise<RunToCheck[] | undefined> {
  return withAdvisoryLock(db, 'reconciler', (trx) => claimDueRuns(trx, limit, leaseSeconds));
}

function claimDueRuns(trx: Db, limit: number, leaseSeconds: number): Promise<RunToCheck[]> {
  return trx
    .updateTable('runs')
    .set((eb) => ({
      next_check_at: sql<Date>`now() + make_interval(secs => ${leaseSeconds})`,
      check_attempts: eb('check_attempts', '+', 1),
    }))
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('runs')
        .select('id')
        .where('status', '=', 'In Progress')
        .where('next_check_at', '<=', sql<Date>`now()`)
        .orderBy('next_check_at')
        .limit(limit)
        // Whoever is writing the end of a run has its row: it is not waited for.
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'sequence', 'run_started_at', 'cancel_requested_at', 'check_attempts', 'stuck_since'])
    .execute();
}

interface NextCheck {
  delaySeconds: number;
  /** True if its workflow task fails again and again; left out: not known. */
  isStuck?: boolean;
}

/** Sets when the reconciler looks at an open run next. A cancel that was asked for meanwhile is looked at soon. */
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

/** The claimed run as it is now; undefined when it has ended meanwhile. */
export function findOpenRun(db: Db, runId: string): Promise<RunToCheck | undefined> {
  return db
    .selectFrom('runs')
    .select(['id', 'sequence', 'run_started_at', 'cancel_requested_at', 'check_attempts', 'stuck_since'])
    .where('id', '=', runId)
    .where('status', '=', 'In Progress')
    .executeTakeFirst();
}
