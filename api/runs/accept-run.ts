// Accepts runs: stores a run for a drawing and an input, and starts it. Specification, "Running workflows".
import { randomUUID } from 'node:crypto';
import type { Db } from '../../db/core/client.js';
import { claimKey } from '../../db/runs/idempotency-repository.js';
import { insertAcceptedRun, insertDraftRun, type RunFacts } from '../../db/runs/runs-repository.js';
import { isSnapshotGone } from '../../db/runs/snapshots-repository.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { compilePlan } from '../../graph/compile-plan.js';
import type { Document } from '../../graph/document.js';
import { completeInput, defaultOf, inputFieldsOf, secretFieldsOf, type RunInput } from '../../graph/input.js';
import { writeJson } from '../../graph/json-text.js';
import { findLostSecrets, lostSecretErrors } from '../../graph/lost-secrets.js';
import { createMasker } from '../../graph/mask.js';
import type { Plan } from '../../graph/plan.js';
import { keepInputSecrets, maskInput, secretStrings } from '../../graph/secrets.js';
import { mergeErrors, validateNodes, type NodeErrors } from '../../graph/validate.js';
import type { Logger } from '../../config/logger.js';
import type { AppDeps } from '../deps.js';
import { openDrawing, sealSecrets } from '../workflows/drawing-secrets.js';
import { findFirstAnswer, sealFingerprint, type KeyedRequest } from './idempotency.js';
import { acceptedEnvelope, invalidNodesEnvelope, structuralEnvelope, type Envelope } from './run-envelope.js';
import { traceOfAcceptance } from './run-traces.js';
import { startRunWorkflow } from './temporal-calls.js';

/**
 * After this time the reconciler asks Temporal for the run. It exceeds the time of a start, so that an unknown run then
 * means a lost start.
 */
export const START_GRACE_SECONDS = 15;

/** How long an acceptance waits for a start slot. */
const START_PATIENCE_MS = 2_000;

export interface RunRequest {
  workflow: StoredDrawing;
  userId: number;
  input: RunInput;
  /** The value for `********` in a secret field of the input; it precedes the field's stored default. */
  storedSecret?: (fieldId: string) => unknown;
  /** If present, the run is accepted only if no earlier request had the same key. */
  keyed?: KeyedRequest | undefined;
}

export interface Acceptance {
  envelope: Envelope;
  /** Whether this is the answer to an earlier request with the same `Idempotency-Key`. */
  isRepeat: boolean;
}

/**
 * Answers 201 for an accepted run, 422 for node errors (kept as a `Draft`), 400 for structural errors (nothing is
 * stored, not even the key).
 */
export async function acceptRun(deps: AppDeps, log: Logger, request: RunRequest): Promise<Acceptance> {
  for (;;) {
    const first = request.keyed && (await findFirstAnswer(deps, request.keyed));
    if (first !== undefined) return { envelope: first, isRepeat: true };
    const envelope = await tryToAccept(deps, log, request);
    if (envelope !== undefined) return { envelope, isRepeat: false };
    // A concurrent request with the same key was faster; its answer is stored now.
  }
}

/** Returns undefined when another request has taken the key; nothing was stored then. */
async function tryToAccept(deps: AppDeps, log: Logger, request: RunRequest): Promise<Envelope | undefined> {
  const { workflow } = request;
  const { drawing, secrets } = openDrawing(deps.secretBox, workflow);
  const compiled = compilePlan(drawing);
  if (!compiled.ok) return structuralEnvelope(compiled.errors);
  const { document, plan } = compiled;
  const { input, errors: inputErrors } = fillInput(drawing, request);
  const { startNode } = document;
  const lost = lostSecretErrors(findLostSecrets(drawing, secrets), { nodeIds: plan.ids, startNode, input });
  const nodeErrors = mergeErrors(
    mergeErrors(validateNodes(document, plan), lost),
    inputErrorsOf(document, inputErrors, lost),
  );
  const isValid = Object.keys(nodeErrors).length === 0;

  const id = randomUUID();
  const facts = {
    id,
    workflow_id: workflow.id,
    workflow_version: workflow.version,
    project_id: workflow.project_id,
    user_id: request.userId,
    ...sealInput(deps, { drawing, secrets }, input),
    secrets_enc: sealSecrets(deps.secretBox, secrets, 'run-secrets'),
    ...traceOfAcceptance(id),
  };
  if (!isValid) {
    const draft = { ...facts, node_errors: JSON.stringify(nodeErrors) };
    const isStored = await storeRun(deps, request, draft, plan, insertDraftRun);
    return isStored ? invalidNodesEnvelope(id, nodeErrors) : undefined;
  }
  // The row is stored before Temporal is called. If the process dies in between, the run is accepted and the reconciler
  // of any API process starts it; its id prevents a second start. An unavailable Temporal therefore delays runs and
  // loses none.
  const isStored = await storeRun(deps, request, facts, plan, (db, run) =>
    insertAcceptedRun(db, run, START_GRACE_SECONDS),
  );
  if (!isStored) return undefined;
  await beginStart(deps, log, { workflow, id, drawing, document, plan });
  return acceptedEnvelope(id);
}

const MAX_SNAPSHOT_TRIES = 3;

/**
 * Stores the graph, then the run that refers to it. An existing graph may have been an orphan that retention deleted
 * meanwhile; it is then stored again and is too young to be deleted.
 */
async function storeRun(
  deps: AppDeps,
  { workflow, keyed }: RunRequest,
  facts: Omit<RunFacts, 'snapshot_hash'>,
  plan: Plan,
  insert: (db: Db, run: RunFacts) => Promise<void>,
): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    const snapshot_hash = await deps.snapshots.store(JSON.stringify(workflow.document), plan);
    try {
      return await storeOnce(deps, keyed, facts.id, (db) => insert(db, { ...facts, snapshot_hash }));
    } catch (error) {
      if (!isSnapshotGone(error) || tries === MAX_SNAPSHOT_TRIES) throw error;
      deps.snapshots.forget(snapshot_hash);
    }
  }
}

/**
 * Stores the key and the run in one transaction, so a process that dies has stored both or neither. Returns false when
 * the key is taken.
 */
async function storeOnce(
  deps: AppDeps,
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

interface StoredRun {
  workflow: StoredDrawing;
  id: string;
  drawing: unknown;
  document: Document;
  plan: Plan;
}

/**
 * The caller waits for a start slot, so that callers arrive no faster than runs can be started, but not for the start
 * itself: the run is accepted in any case. Without a slot in time, the caller is answered and the reconciler starts the
 * run.
 */
async function beginStart(
  deps: AppDeps,
  log: Logger,
  { workflow, id, drawing, document, plan }: StoredRun,
): Promise<void> {
  const run = { id, plan, workflow_id: workflow.id, project_id: workflow.project_id, title: workflow.title };
  const start = async (): Promise<void> => {
    try {
      const placements = await deps.placement.place({ workflowId: workflow.id, drawing, document, plan });
      await startRunWorkflow(deps.temporal, deps.config, run, { placements });
    } catch (error) {
      log.warn({ err: error, run_id: id }, 'run not started yet; the reconciler will');
    }
  };
  await deps.startSlots.begin(start, START_PATIENCE_MS);
}

/** Adds the trigger's defaults for absent fields. `********` in a secret field stands for its stored value. */
function fillInput(
  drawing: Record<string, unknown>,
  { input, storedSecret }: RunRequest,
): ReturnType<typeof completeInput> {
  const fields = inputFieldsOf(drawing);
  const defaults = new Map(fields.map((field) => [field['id'], defaultOf(field)]));
  return completeInput(
    fields,
    keepInputSecrets(fields, input, (fieldId) => storedSecret?.(fieldId) ?? defaults.get(fieldId)),
  );
}

/** Seals the input. A secret of the input or the drawing is also masked in every other field that contains it. */
function sealInput(
  deps: AppDeps,
  { drawing, secrets }: ReturnType<typeof openDrawing>,
  input: RunInput,
): { input: string; input_enc: Buffer | null } {
  const whole = writeJson(input);
  const { masked, secretValues } = maskInput(secretFieldsOf(drawing), input);
  const masker = createMasker([...secretValues, ...Object.values(secrets).flatMap(secretStrings)]);
  const visible = writeJson(masker.json(masked));
  return { input: visible, input_enc: visible === whole ? null : deps.secretBox.seal(whole, 'run-input') };
}

/** The input errors of the start node. A lost value replaces the error that the field is required. */
function inputErrorsOf({ startNode }: Document, errors: Record<string, string>[], lost: NodeErrors): NodeErrors {
  const told = new Set((Object.hasOwn(lost, startNode) ? lost[startNode]! : []).flatMap((error) => Object.keys(error)));
  const others = errors.filter((error) => !Object.keys(error).every((field) => told.has(field)));
  return others.length === 0 ? {} : { [startNode]: others };
}
