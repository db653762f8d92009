// Case runs: cases of a workflow that were started together, with the run and the result of each case.
import { sql } from 'kysely';
import { parseJson, writeJson } from '../../graph/json-text.js';
import type { Db } from '../core/client.js';
import type { SecretBox } from '../core/secret-box.js';
import type { StoredRunStatus } from '../core/tables.js';
import type { CaseContent, Expectation } from './cases-repository.js';

type CaseStatus = 'in progress' | 'passed' | 'failed' | 'error';

/** The sealed part of a case's result. */
export interface CaseDetail {
  expect: CaseContent['expect'];
  failures: { expectation: Expectation; actual: unknown }[];
  /** Why no run was started or the case could not be judged, or the error with which its run ended. */
  error?: { code: string; message: string } | undefined;
}

export interface CaseResult {
  caseId: number;
  runId: string | null;
  status: CaseStatus;
  /** The status of the run; null without a run. */
  runStatus: StoredRunStatus | null;
  errorCode: string | null;
  errorMessage: string | null;
  isCancelRequested: boolean;
  costUsd: string;
}

export interface CaseRun {
  id: string;
  workflowId: number;
  userId: number;
  isUserActive: boolean;
  status: 'in progress' | 'passed' | 'failed';
  maxCostUsd: string | null;
  isCancelled: boolean;
  /** True if a call was refused because it could have exceeded the limit. */
  hasReachedLimit: boolean;
  createdAt: Date;
  finishedAt: Date | null;
}

/** The drawing that the cases execute. */
export interface TriedDrawing {
  /** Includes its secrets. */
  drawing: Record<string, unknown>;
  /** Null for a drawing that is not stored as a version. */
  version: number | null;
}

export async function insertCaseRun(
  db: Db,
  box: SecretBox,
  made: Pick<CaseRun, 'id' | 'workflowId' | 'userId' | 'maxCostUsd'> & { tried: TriedDrawing },
): Promise<void> {
  const { id, workflowId, userId, maxCostUsd, tried } = made;
  const sealed = sealDrawing(box, id, tried);
  await db
    .insertInto('case_runs')
    .values({ id, workflow_id: workflowId, user_id: userId, drawing_enc: sealed, max_cost_usd: maxCostUsd })
    .execute();
}

function sealDrawing(box: SecretBox, id: string, tried: TriedDrawing): Buffer {
  return box.seal(writeJson(tried), 'case-run', id);
}

export async function readTriedDrawing(db: Db, box: SecretBox, id: string): Promise<TriedDrawing> {
  const { drawing_enc: sealed } = await db
    .selectFrom('case_runs')
    .select('drawing_enc')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return parseJson(box.open(sealed, 'case-run', id)) as TriedDrawing;
}

/**
 * Requires the transaction that accepts the run of a case. Returns false if the case already has a run, or has ended.
 */
export async function claimCase(
  transaction: Db,
  { caseRunId, caseId, runId }: { caseRunId: string; caseId: number; runId: string },
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('case_results')
    .set({ run_id: runId })
    .where('case_run_id', '=', caseRunId)
    .where('case_id', '=', caseId)
    .where('run_id', 'is', null)
    .where('status', '=', 'in progress')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

interface CasePlace {
  caseRunId: string;
  caseId: number;
}

/** Stores a case that is started later (`claimCase`). */
export async function insertCaseResult(
  db: Db,
  box: SecretBox,
  { caseRunId, caseId, detail }: CasePlace & { detail: CaseDetail },
): Promise<void> {
  const sealed = box.seal(writeJson(detail), 'case-result', caseRunId, caseId);
  await db
    .insertInto('case_results')
    .values({ case_run_id: caseRunId, case_id: caseId, run_id: null, detail_enc: sealed })
    .execute();
}

interface EndedCase extends CasePlace {
  status: Exclude<CaseStatus, 'in progress'>;
  detail: CaseDetail;
  /** Ends the case only if no run was started for it. */
  isWithoutRun?: true;
}

export async function endCase(db: Db, box: SecretBox, ended: EndedCase): Promise<void> {
  const { caseRunId, caseId, status, detail, isWithoutRun = false } = ended;
  await db
    .updateTable('case_results')
    .set({ status, detail_enc: box.seal(writeJson(detail), 'case-result', caseRunId, caseId) })
    .where('case_run_id', '=', caseRunId)
    .where('case_id', '=', caseId)
    .where('status', '=', 'in progress')
    .$if(isWithoutRun, (update) => update.where('run_id', 'is', null))
    .execute();
}

function selectRuns(db: Db) {
  const isActive = sql<boolean>`EXISTS (SELECT FROM users WHERE users.id = case_runs.user_id AND users.is_active)`;
  return db.selectFrom('case_runs').select(RUN).select(isActive.as('isUserActive'));
}

const RUN = [
  'id',
  'workflow_id as workflowId',
  'user_id as userId',
  'status',
  'max_cost_usd as maxCostUsd',
  'is_cancelled as isCancelled',
  'has_reached_limit as hasReachedLimit',
  'created_at as createdAt',
  'finished_at as finishedAt',
] as const;

export function findCaseRun(db: Db, workflowId: number, id: string): Promise<CaseRun | undefined> {
  return selectRuns(db).where('id', '=', id).where('workflow_id', '=', workflowId).executeTakeFirst();
}

/** Returns open case runs after `after`, or from the first one, oldest first. Returns none if `after` is gone. */
export function listOpenCaseRuns(db: Db, limit: number, after: string | undefined): Promise<CaseRun[]> {
  const open = selectRuns(db).where('status', '=', 'in progress');
  const behind = sql<boolean>`(created_at, id) > (SELECT created_at, id FROM case_runs WHERE id = ${after})`;
  return (after === undefined ? open : open.where(behind)).orderBy('created_at').orderBy('id').limit(limit).execute();
}

export function listCaseResults(db: Db, caseRunId: string): Promise<CaseResult[]> {
  return db
    .selectFrom('case_results')
    .leftJoin('runs', 'runs.id', 'case_results.run_id')
    .select(['case_id as caseId', 'run_id as runId', 'case_results.status'])
    .select(['runs.status as runStatus', 'error_code as errorCode', 'error_message as errorMessage'])
    .select(sql<boolean>`cancel_requested_at IS NOT NULL`.as('isCancelRequested'))
    .select(
      sql<string>`coalesce(runs.cost_usd + (
      SELECT coalesce(sum(below.cost_usd), 0) FROM runs AS below WHERE below.root_run_id = runs.id), 0)`.as('costUsd'),
    )
    .where('case_run_id', '=', caseRunId)
    .orderBy('case_id')
    .execute();
}

/** Returns the bytes of the sealed details of all cases of a case run. */
export async function measureCaseDetails(db: Db, caseRunId: string): Promise<number> {
  const { bytes } = await db
    .selectFrom('case_results')
    .select(sql<number>`coalesce(sum(octet_length(detail_enc)), 0)::integer`.as('bytes'))
    .where('case_run_id', '=', caseRunId)
    .executeTakeFirstOrThrow();
  return bytes;
}

/** Returns the details by the ids of the cases. */
export async function listCaseDetails(db: Db, box: SecretBox, caseRunId: string): Promise<Map<number, CaseDetail>> {
  const rows = await selectDetails(db, caseRunId).execute();
  return new Map(rows.map((row) => [row.case_id, openDetail(box, caseRunId, row)]));
}

export async function readCaseDetail(db: Db, box: SecretBox, { caseRunId, caseId }: CasePlace): Promise<CaseDetail> {
  const row = await selectDetails(db, caseRunId).where('case_id', '=', caseId).executeTakeFirstOrThrow();
  return openDetail(box, caseRunId, row);
}

function selectDetails(db: Db, caseRunId: string) {
  return db.selectFrom('case_results').select(['case_id', 'detail_enc']).where('case_run_id', '=', caseRunId);
}

function openDetail(box: SecretBox, caseRunId: string, row: { case_id: number; detail_enc: Buffer }): CaseDetail {
  return parseJson(box.open(row.detail_enc, 'case-result', caseRunId, row.case_id)) as CaseDetail;
}

/** Returns false if the case run has ended, or was cancelled before. */
export async function cancelCaseRun(db: Db, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('case_runs')
    .set({ is_cancelled: true })
    .where('id', '=', id)
    .where('status', '=', 'in progress')
    .where('is_cancelled', '=', false)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Also empties the stored drawing, which may be large: no case is started with it any more. */
export async function endCaseRun(db: Db, box: SecretBox, id: string, status: 'passed' | 'failed'): Promise<void> {
  const emptied = sealDrawing(box, id, { drawing: {}, version: null });
  await db
    .updateTable('case_runs')
    .set({ status, drawing_enc: emptied, finished_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where('status', '=', 'in progress')
    .execute();
}
