// Accepts the run of a schedule's firing, by the rules of the API and on behalf of the schedule's author. The firing's
// row in `schedule_firings` makes sure that the run is accepted exactly once.
import { Context } from '@temporalio/activity';
import { toSentences, prepareRun } from '../../acceptance/prepare-run.js';
import { mayRun } from '../../acceptance/roles.js';
import { toSummary } from '../../acceptance/run-summary.js';
import { openScheduleInput, secretFieldsThen } from '../../acceptance/schedule-input.js';
import { START_GRACE_SECONDS, storeRun, type SnapshotStore } from '../../acceptance/store-run.js';
import { currentTraceparent, inSpan } from '../../telemetry/spans.js';
import type { ScheduleActivities } from '../../contract/scheduled-run.js';
import type { Database } from '../../db/core/client.js';
import { readClock } from '../../db/core/clock.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import {
  acceptFiring,
  findFiredRun,
  findFiringSchedule,
  noteRefusal,
  pauseForLostAccess,
  requestRemoval,
  type FiredRun,
  type FiringKey,
  type FiringSchedule,
  type Refusal,
} from '../../db/schedules/firings-repository.js';
import { isQuotaExceeded } from '../../db/projects/stored-bytes-repository.js';
import { measureDrawing } from '../../db/workflows/called-workflows.js';
import { findDrawing } from '../../db/workflows/workflows-repository.js';
import { maskInput } from '../../graph/secrets.js';
import type { ByteBudget } from '../../memory/byte-budget.js';
import { DRAWING_FACTOR } from '../kinds/child-run.js';

const TOO_LATE: Refusal = {
  code: 'too_late',
  message: 'No worker took the firing within `catchup_seconds`.',
};
const NO_ROOM: Refusal = {
  code: 'quota_exceeded',
  message: 'The project would store more bytes than it may.',
};
const UNREADABLE: Refusal = {
  code: 'input_unreadable',
  message: 'The input cannot be opened with the keys of this service. Enter it again.',
};

export interface FiringDeps {
  db: Database;
  secretBox: SecretBox;
  memory: ByteBudget;
  snapshots: SnapshotStore;
  runTimeoutDays: number;
}

export function createAcceptFiring(deps: FiringDeps): ScheduleActivities['acceptFiring'] {
  const { db } = deps;
  return async ({ scheduleId, atMs, startedMs }) => {
    const firing = { scheduleId, at: new Date(atMs) };
    let fired = await findFiredRun(db, firing);
    if (fired === undefined) {
      const span = { attributes: { 'schedule.id': scheduleId } };
      await inSpan('acceptFiring', span, () => accept(deps, firing, startedMs));
      // A concurrent attempt may have stored its run first.
      fired = await findFiredRun(db, firing);
    }
    return fired?.isOpen === true ? toRunToStart(deps, fired) : undefined;
  };
}

function toRunToStart({ runTimeoutDays }: FiringDeps, { runId, workflowId, projectId, title }: FiredRun) {
  return { runId, workflowId, projectId, summary: toSummary(title), timeoutDays: runTimeoutDays };
}

/**
 * Stores the run, or the reason why it was refused. Pauses a schedule whose author may no longer run the workflow, and
 * has the copy of an unknown schedule removed from Temporal. A paused schedule starts nothing, although its copy in
 * Temporal may still fire: until the copy is paused, too, or if an operator triggers the copy.
 */
async function accept(deps: FiringDeps, firing: FiringKey, startedMs: number): Promise<void> {
  const { db } = deps;
  const schedule = await findFiringSchedule(db, firing.scheduleId);
  if (schedule === undefined) return requestRemoval(db, firing.scheduleId);
  if (schedule.isPaused) return;
  if (!mayRun(schedule.authorRole)) {
    const message = 'The author of this schedule may not run the workflow.';
    await noteRefusal(db, firing, { code: 'author_lost_access', message });
    return pauseForLostAccess(db, firing.scheduleId, schedule.authorId);
  }
  const isLate = isTooLate(schedule, startedMs, await readClock(db));
  const refusal = isLate ? TOO_LATE : await store(deps, firing, schedule);
  if (refusal !== undefined) await noteRefusal(db, firing, refusal);
}

/**
 * Counts from `startedMs`, when Temporal started the firing's workflow, and not from the nominal time, which may be
 * long ago: a firing may wait for the previous run or be caught up.
 */
function isTooLate({ catchupSeconds }: FiringSchedule, startedMs: number, nowMs: number): boolean {
  return nowMs - startedMs > catchupSeconds * 1000;
}

/** Returns the reason why the run was refused, or undefined. A refused run has no row. */
async function store(deps: FiringDeps, firing: FiringKey, schedule: FiringSchedule): Promise<Refusal | undefined> {
  const { db, secretBox, snapshots } = deps;
  const memory = deps.memory.lease(`project:${schedule.projectId}`, Context.current().cancellationSignal);
  try {
    const { workflowId, projectId, authorId, inputEnc } = schedule;
    const sizeBytes = await measureDrawing(db, projectId, workflowId);
    await memory.resize(DRAWING_FACTOR * ((sizeBytes ?? 0) + inputEnc.length));
    const workflow = await findDrawing(db, workflowId);
    if (workflow === undefined) return { code: 'workflow_not_found', message: 'The workflow was deleted.' };
    const stored = openScheduleInput(secretBox, firing.scheduleId, inputEnc);
    if (stored === undefined) return UNREADABLE;
    const { secretValues: passedSecrets } = maskInput(secretFieldsThen(stored), stored.input);
    const prepared = await prepareRun(deps, { workflow, userId: authorId, input: stored.input, passedSecrets });
    if (!prepared.ok) {
      return { code: 'invalid_workflow', message: prepared.errors[0]?.message ?? 'The drawing cannot run.' };
    }
    const { facts, nodeErrors, plan } = prepared.run;
    if (Object.keys(nodeErrors).length > 0) return { code: 'invalid_nodes', message: toSentences(nodeErrors) };
    const traceparent = currentTraceparent() ?? null;
    await storeRun(snapshots, { document: workflow.document, plan }, (snapshotHash) => {
      const run = { ...facts, traceparent, snapshot_hash: snapshotHash };
      return acceptFiring(db, firing, { run, checkInSeconds: START_GRACE_SECONDS });
    });
    return undefined;
  } catch (error) {
    if (isQuotaExceeded(error)) return NO_ROOM;
    throw error;
  } finally {
    memory.end();
  }
}
