// Runs cases, each as a test run of the whole drawing with its own input and mocks. A case run is all cases that were
// started together. Its pending cases are stored in rows, so that any API process can continue them
// (docs/use/test-runs.md, "Cases").
import { randomUUID } from 'node:crypto';
import { mayRun } from '../../acceptance/roles.js';
import { sumOf } from '../../config/currencies.js';
import type { Logger } from '../../telemetry/logger.js';
import { SYSTEM } from '../../db/audit/audit-entry.js';
import {
  claimCase,
  endCase,
  endCaseRun,
  insertCaseResult,
  insertCaseRun,
  listCaseResults,
  listOpenCaseRuns,
  readCaseDetail,
  readTriedDrawing,
  type CaseResult,
  type CaseRun,
  type TriedDrawing,
} from '../../db/test-runs/case-runs-repository.js';
import { findWorkflowRole } from '../../db/projects/members-repository.js';
import { findCase, type Case } from '../../db/test-runs/cases-repository.js';
import { findDrawing, type StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { readDrawing } from '../../graph/document.js';
import { cutText } from '../../graph/cut-text.js';
import { startLoop, type BackgroundLoop } from '../loops/background-loop.js';
import type { TestDeps } from './deps.js';
import { ApiError } from '../http/errors.js';
import { cancelRun } from '../runs/cancel-run.js';
import { secretsOfCase } from './case-secrets.js';
import { judgeCase } from './judge-case.js';
import { CaseUsed, startTest } from './start-test.js';

const INTERVAL_MS = 1_000;
/** The limit of case runs that one round handles. */
const AT_ONCE = 20;
/** The limit of cases of one case run that are executed at the same time. */
const CASES_AT_ONCE = 4;

export interface CasesToRun {
  workflow: StoredDrawing;
  userId: number;
  tried: TriedDrawing;
  cases: readonly Case[];
  maxCostUsd: string | null;
}

/** Stores the pending cases and returns the id of their case run. */
export async function startCases(
  deps: TestDeps,
  { workflow, userId, tried, cases, maxCostUsd }: CasesToRun,
): Promise<string> {
  const id = randomUUID();
  await deps.db.transaction().execute(async (transaction) => {
    await insertCaseRun(transaction, deps.secretBox, { id, workflowId: workflow.id, userId, maxCostUsd, tried });
    for (const { id: caseId, content } of cases) {
      const detail = { expect: content.expect, failures: [] };
      await insertCaseResult(transaction, deps.secretBox, { caseRunId: id, caseId, detail });
    }
    if (cases.length === 0) await endCaseRun(transaction, deps.secretBox, id, 'passed');
  });
  return id;
}

/**
 * Continues all open case runs, oldest first. A round handles up to `AT_ONCE` of them; the next round continues with
 * those that follow in this order, or with the oldest again if there were fewer. Every API process runs this loop.
 * `stop` resolves when the current round has ended.
 */
export function startRunningCases(deps: TestDeps): BackgroundLoop {
  let last: string | undefined;
  return startLoop(async (stopped) => {
    try {
      const runs = await listOpenCaseRuns(deps.db, AT_ONCE, last);
      last = runs.length < AT_ONCE ? undefined : runs.at(-1)!.id;
      for (const run of runs) {
        if (stopped.aborted) break;
        await driveCases(deps, deps.logger, run, stopped);
      }
    } catch (error) {
      deps.logger.warn({ err: error }, 'the open runs of cases could not be listed; the next round tries again');
    }
    return INTERVAL_MS;
  });
}

/**
 * Ends the cases whose runs have ended, starts the next ones, and ends the case run after the last. Several processes
 * may do so at once: a case gets only one run, and ends once. Logs errors and does not throw them, because the case run
 * is stored and a later round continues it. Aborting `signal` ends the comparison of texts, which may take long, and
 * leaves the other cases to a later round.
 */
export async function driveCases(deps: TestDeps, log: Logger, run: CaseRun, signal: AbortSignal): Promise<void> {
  try {
    await continueCases(deps, log, run, signal);
  } catch (error) {
    if (signal.aborted) return;
    log.warn({ err: error, case_run_id: run.id }, 'cases were not continued; a later round tries again');
  }
}

async function continueCases(deps: TestDeps, log: Logger, run: CaseRun, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  const access = await findWorkflowRole(db, run.workflowId, { userId: run.userId });
  const isGone = !run.isUserActive || !mayRun(access?.role ?? null);
  const results = await listCaseResults(db, run.id);
  const cost = sumOf(results.map(({ costUsd }) => costUsd));
  const isTooDear = run.maxCostUsd !== null && (run.hasReachedLimit || cost.gt(run.maxCostUsd));
  const stop = isGone ? GONE : run.isCancelled ? CANCELLED : isTooDear ? TOO_DEAR : undefined;
  let open = 0;
  // The workflow is read only if a case is started, because rounds are frequent and the drawing may be large.
  let workflow: StoredDrawing | undefined;
  for (const result of results) {
    signal.throwIfAborted();
    if (result.status !== 'in progress') continue;
    const isJudged = await endIfOver(deps, run, result, signal);
    if (isJudged === false) open += 1;
    if (isJudged !== undefined) continue;
    // At the money limit, started runs continue, because each paid call is checked against the limit before it is made.
    const isStopped = stop !== undefined && (stop !== TOO_DEAR || result.runId === null);
    if (isStopped) await stopCase(deps, log, run, result, stop);
    else if (result.runId !== null) open += 1;
    else if (open < CASES_AT_ONCE) {
      open += 1;
      workflow ??= await findDrawing(db, run.workflowId);
      if (workflow !== undefined) await startCase(deps, log, { run, workflow, result });
    }
  }
  const after = await listCaseResults(db, run.id);
  if (after.some(({ status }) => status === 'in progress')) return;
  const status = after.every((result) => result.status === 'passed') ? 'passed' : 'failed';
  await endCaseRun(db, deps.secretBox, run.id, status);
}

const GONE = {
  code: 'workflow_not_found',
  message: 'The workflow was deleted, or the user who started its cases may not run it any more.',
};
const CANCELLED = { code: 'cancelled', message: 'The run of these cases was cancelled.' };
const TOO_DEAR = { code: 'budget_exceeded', message: 'The runs of these cases have reached max_cost.' };

/**
 * Judges a case whose run has ended, and ends the case. Returns undefined if the case has no run or the run goes on,
 * and false if the case is to be judged in a later round.
 */
async function endIfOver(
  deps: TestDeps,
  run: CaseRun,
  result: CaseResult,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { runId, runStatus, caseId } = result;
  if (runId === null || runStatus === null || runStatus === 'In Progress') return undefined;
  const detail = await readCaseDetail(deps.db, deps.secretBox, { caseRunId: run.id, caseId });
  const judged = await judgeCase(deps, { ...result, runId, detail }, { userId: run.userId, signal });
  if (judged === undefined) return false;
  await endCase(deps.db, deps.secretBox, { caseRunId: run.id, caseId, ...judged });
  return true;
}

/** Ends a case without a run; otherwise cancels the run, whose end then ends the case. */
async function stopCase(
  deps: TestDeps,
  log: Logger,
  run: CaseRun,
  { caseId, runId, isCancelRequested }: CaseResult,
  error: typeof CANCELLED,
): Promise<void> {
  if (runId === null) return endAsError(deps, { caseRunId: run.id, caseId }, error);
  // The reconciler repeats the request until the run has ended.
  if (isCancelRequested) return;
  await cancelRun(deps, log, { workflowId: run.workflowId, runId, doer: SYSTEM }).catch((thrown: unknown) => {
    // The run has ended meanwhile.
    if (!(thrown instanceof ApiError)) throw thrown;
  });
}

/** Leaves a case for a later round if another process has started its run meanwhile. */
async function endAsError(
  { db, secretBox }: TestDeps,
  place: { caseRunId: string; caseId: number },
  error: { code: string; message: string },
): Promise<void> {
  const detail = await readCaseDetail(db, secretBox, place);
  await endCase(db, secretBox, { ...place, status: 'error', detail: { ...detail, error }, isWithoutRun: true });
}

interface CaseToStart {
  run: CaseRun;
  workflow: StoredDrawing;
  result: CaseResult;
}

async function startCase(deps: TestDeps, log: Logger, { run, workflow, result }: CaseToStart): Promise<void> {
  const { db, secretBox } = deps;
  const { caseId } = result;
  const end = (error: { code: string; message: string }): Promise<void> =>
    endAsError(deps, { caseRunId: run.id, caseId }, error);
  const found = await findCase(db, secretBox, run.workflowId, caseId);
  if (found === undefined) return end({ code: 'case_not_found', message: 'The case was deleted.' });
  const { drawing, version } = await readTriedDrawing(db, secretBox, run.id);
  try {
    const { envelope } = await startTest(deps, log, {
      workflow,
      userId: run.userId,
      mode: 'from',
      nodeId: readDrawing(drawing).document.startNode,
      path: undefined,
      input: found.content.input,
      passedSecrets: secretsOfCase(found.content),
      drawing,
      isResolved: true,
      version,
      mocks: found.content.mocks,
      usesPins: false,
      skipsWaits: true,
      claim: (transaction, runId) => claimCase(transaction, { caseRunId: run.id, caseId, runId }),
      keyed: undefined,
    });
    if (envelope.status === 201) return;
    const message = envelope.data.detail ?? 'The drawing or the input of the case is not valid.';
    await end({ code: envelope.status === 400 ? 'invalid_workflow' : 'invalid_nodes', message });
  } catch (error) {
    if (error instanceof CaseUsed) return;
    if (!(error instanceof ApiError)) throw error;
    const message = error.fields === undefined ? error.message : Object.values(error.fields).flat().join(' ');
    await end({ code: error.code, message: cutText(message, 1_000) });
  }
}
