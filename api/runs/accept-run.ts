// Accepts runs: stores a run for a drawing and an input, and starts it (docs/use/api.md, "Start a run").
import { prepareRun, type PreparedRun, type RunToPrepare } from '../../acceptance/prepare-run.js';
import { START_GRACE_SECONDS, storeRun } from '../../acceptance/store-run.js';
import type { Db } from '../../db/core/client.js';
import { claimKey } from '../../db/runs/idempotency-repository.js';
import { unlessFileGone } from '../../db/files/references-repository.js';
import { insertAcceptedRun, insertDraftRun } from '../../db/runs/runs-repository.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { isQuotaExceeded } from '../../db/projects/stored-bytes-repository.js';
import type { Logger } from '../../telemetry/logger.js';
import type { AcceptDeps } from './deps.js';
import { quotaExceeded } from '../http/errors.js';
import { endTurn } from '../http/heavy-work.js';
import { findFirstAnswer, sealFingerprint, type KeyedRequest } from './idempotency.js';
import { acceptedEnvelope, invalidNodesEnvelope, structuralEnvelope, type Envelope } from '../envelope/run-envelope.js';
import { traceOfAcceptance } from './run-traces.js';
import { startRunWorkflow } from './temporal-calls.js';

const START_PATIENCE_MS = 2_000;

export interface RunRequest extends RunToPrepare {
  /** The key that is stored with the run. The run is accepted only if the key is not taken by another, or withdrawn. */
  keyed?: KeyedRequest | undefined;
  /**
   * True if nothing is stored for errors of nodes or of the input, not even the key. By default a `Draft` is stored.
   */
  leavesNoDraft?: boolean;
  /** Called in the transaction that stores an accepted run. Requires `keyed`, without which there is no transaction. */
  note?: (transaction: Db, runId: string) => Promise<void>;
}

export interface Acceptance {
  envelope: Envelope;
  /** True if this is the answer to an earlier request with the same key. */
  isRepeat: boolean;
}

/**
 * Answers 201 for an accepted run and 422 for node errors (stored as a `Draft` unless `leavesNoDraft`). Answers 400 for
 * structural errors; nothing is stored then, not even the key. Throws `ApiError` if a different request had the same
 * key, and for an exceeded quota.
 */
export function acceptRun(deps: AcceptDeps, log: Logger, request: RunRequest): Promise<Acceptance> {
  return acceptOnce(deps, request.keyed, () => tryToAccept(deps, log, request));
}

/**
 * `attempt` returns undefined if another request has claimed the key meanwhile, and throws `FileGone` if a file of the
 * input or the drawing was deleted meanwhile. In both cases it must have stored nothing: the other request's answer is
 * returned, or `attempt` is called again. For a withdrawn key, which never has an answer, it must throw.
 */
export async function acceptOnce(
  deps: AcceptDeps,
  keyed: KeyedRequest | undefined,
  attempt: () => Promise<Envelope | undefined>,
): Promise<Acceptance> {
  for (;;) {
    const first = keyed && (await findFirstAnswer(deps, keyed));
    if (first !== undefined) return counted(deps, { envelope: first, isRepeat: true });
    const envelope = await attempt().catch(unlessFileGone);
    if (envelope !== undefined) return counted(deps, { envelope, isRepeat: false });
    // A concurrent request with the same key was faster, and its answer is stored now; or a file is gone, which the
    // next attempt reports.
  }
}

function counted({ metrics }: AcceptDeps, acceptance: Acceptance): Acceptance {
  const { envelope, isRepeat } = acceptance;
  const byStatus: Partial<Record<number, string>> = { 201: 'accepted', 422: 'invalid_nodes' };
  metrics.runsAccepted.inc({ outcome: isRepeat ? 'repeated' : (byStatus[envelope.status] ?? 'invalid_workflow') });
  return acceptance;
}

export async function tryToAccept(deps: AcceptDeps, log: Logger, request: RunRequest): Promise<Envelope | undefined> {
  const { workflow, keyed } = request;
  const prepared = await prepareRun(deps, request);
  if (!prepared.ok) return structuralEnvelope(prepared.errors);
  const { facts, nodeErrors, plan } = prepared.run;
  const { id } = facts;
  const isValid = Object.keys(nodeErrors).length === 0;
  if (!isValid && request.leavesNoDraft === true) return invalidNodesEnvelope(null, nodeErrors);
  // The row is stored before Temporal is called. If the process dies in between, the run is accepted and the reconciler
  // of any API process starts it; its id prevents a second start. An unavailable Temporal therefore delays runs and
  // loses none.
  const graph = { document: workflow.document, plan, hash: workflow.cached?.snapshotHash };
  const isStored = await storeRun(deps.snapshots, graph, (snapshotHash) => {
    const run = { ...facts, ...traceOfAcceptance(id), snapshot_hash: snapshotHash };
    return storeOnce(deps, keyed, id, (db) =>
      isValid
        ? insertAcceptedRun(db, run, START_GRACE_SECONDS).then(() => request.note?.(db, id))
        : insertDraftRun(db, { ...run, node_errors: JSON.stringify(nodeErrors) }),
    );
  }).catch((error: unknown) => {
    // Callers get an exceeded quota as an `ApiError`, not as a database error.
    throw isQuotaExceeded(error) ? quotaExceeded() : error;
  });
  if (!isStored) return undefined;
  if (!isValid) return invalidNodesEnvelope(id, nodeErrors);
  await startWithoutWaiting(deps, log, workflow, prepared.run);
  return acceptedEnvelope(id);
}

/**
 * Stores the key, if there is one, and the run in one transaction, so a process that dies has stored both or neither.
 * Returns false, and stores nothing, if another request has claimed the key or it was withdrawn.
 */
export async function storeOnce(
  deps: AcceptDeps,
  keyed: KeyedRequest | undefined,
  runId: string,
  insert: (db: Db) => Promise<void>,
): Promise<boolean> {
  if (keyed === undefined) {
    await insert(deps.db);
    return true;
  }
  const requestEnc = sealFingerprint(deps, keyed);
  return deps.db.transaction().execute(async (transaction) => {
    if (!(await claimKey(transaction, keyed, { runId, requestEnc }))) return false;
    await insert(transaction);
    return true;
  });
}

/**
 * The caller waits for a start slot, so that callers arrive no faster than runs can be started. It does not wait for
 * the start itself, because the run is already accepted. If no slot is free in time, the caller is answered and the
 * reconciler starts the run.
 */
export async function startWithoutWaiting(
  deps: AcceptDeps,
  log: Logger,
  { id: workflowId, project_id, project_pool: pool, title }: StoredDrawing,
  { facts: { id, resumed_from: resumedFrom, purpose }, drawing, plan }: Omit<PreparedRun, 'nodeErrors'>,
): Promise<void> {
  const start = async (): Promise<void> => {
    try {
      const isResumed = resumedFrom !== undefined || purpose === 'test';
      const run = {
        id,
        plan,
        workflow_id: workflowId,
        project_id,
        title,
        settings: drawing['settings'],
        isResumed,
        pool,
      };
      await startRunWorkflow(deps.temporal, deps.config, run);
    } catch (error) {
      log.warn({ err: error, run_id: id }, 'the run is not started yet; the reconciler will start it');
    }
  };
  // While Temporal hangs, no slot is free, and large work of other tenants must not wait for that.
  endTurn();
  await deps.startSlots.begin(start, START_PATIENCE_MS);
}
