// The runs that nodes start: of a sub-workflow's node, and of an agent's tools that are workflows. Each is accepted as
// the API accepts those that people ask for, exactly once by the node's row in `waits`.
import { toSentences, prepareRun } from '../../acceptance/prepare-run.js';
import { toSummary } from '../../acceptance/run-summary.js';
import { START_GRACE_SECONDS, storeRun, type SnapshotStore } from '../../acceptance/store-run.js';
import { currentTraceparent } from '../../telemetry/spans.js';
import type { ChildToStart } from '../../contract/activities.js';
import type { Database } from '../../db/core/client.js';
import { readOutputs } from '../../db/nodes/node-outputs-repository.js';
import {
  beginChild,
  countRunsBelow,
  findChild,
  type BegunChild,
  type EndedChild,
} from '../../db/runs/child-runs-repository.js';
import { arePassable, passSecrets } from '../../db/runs/passed-secrets.js';
import { areResultsExpired, findRunResult, type RunResult } from '../../db/nodes/run-output.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import { measureDrawing } from '../../db/workflows/called-workflows.js';
import { findDrawing, type StoredDrawing } from '../../db/workflows/workflows-repository.js';
import type { JsonObject } from '../../graph/json.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import { MAX_WAIT_SECONDS } from '../../graph/nodes/shared-fields.js';
import type { NodeOutput } from '../../graph/template.js';
import { NodeFailure, runClosedFailure } from '../node/failures.js';
import type { NodeTask } from '../node/node-step.js';
import { PARSED_FACTOR, RECORDING_FACTOR } from '../node/payload-weight.js';
import type { RunContext, RunContexts } from '../node/run-context.js';

/** The dependencies of reading the output of a run. */
export interface ReadingDeps {
  db: Database;
  secretBox: SecretBox;
  contexts: RunContexts;
}

/** The dependencies of starting a child run. */
export interface ChildDeps extends ReadingDeps {
  snapshots: SnapshotStore;
  runTimeoutDays: number;
}

/** A run that is to be started. */
interface ChildRequest {
  workflowId: number;
  /** The number of the run among those of the node (`WaitsTable.call`). */
  call: number;
  /** Whether the node waits for its end. */
  waits: boolean;
}

/** How many runs may be above a run. */
const MAX_DEPTH = 10;
/** The limit on the runs below one that no other run has started: each may start several, and these again. */
const MAX_RUNS_BELOW = 10_000;
/** Bytes of memory per byte of a drawing, which consists mostly of small objects. */
export const DRAWING_FACTOR = 8;

/**
 * Returns the run that an attempt before this one has started, or else starts it. `makeInput` is not called where the run
 * is there. Throws a `NodeFailure` where it cannot run.
 */
export async function ensureChild(
  deps: ChildDeps,
  task: NodeTask,
  request: ChildRequest,
  makeInput: () => Promise<JsonObject> | JsonObject,
): Promise<BegunChild> {
  const known = await findChild(deps.db, task, request.call);
  if (known !== undefined) return known;
  await accept(deps, task, request, await makeInput());
  // Another attempt may have been faster.
  const begun = await findChild(deps.db, task, request.call);
  if (begun === undefined) throw runClosedFailure();
  return begun;
}

/** The run workflow needs this to start the run. */
export function toChildToStart(
  { runTimeoutDays }: Pick<ChildDeps, 'runTimeoutDays'>,
  { runId, workflowId, projectId, title, isResumed }: BegunChild,
): ChildToStart {
  const kept = isResumed && { keepsResults: true as const };
  return { runId, workflowId, projectId, summary: toSummary(title), timeoutDays: runTimeoutDays, ...kept };
}

/** By the rules of every run, as the user who has started the node's own run. */
async function accept(deps: ChildDeps, task: NodeTask, request: ChildRequest, input: JsonObject): Promise<void> {
  const { db, snapshots } = deps;
  const { run } = task;
  const { workflowId, call, waits } = request;
  await checkRoom(db, task);
  const workflow = await loadDrawing(db, task, workflowId, RECORDING_FACTOR * writeJson(input).length);
  const passedSecrets = secretsIn(input, run);
  const prepared = await prepareRun(deps, { workflow, userId: run.userId, input, passedSecrets });
  if (!prepared.ok) throw cannotRun(prepared.errors[0]?.message ?? 'Its drawing cannot run.');
  const { facts, nodeErrors, plan } = prepared.run;
  if (Object.keys(nodeErrors).length > 0) throw cannotRun(toSentences(nodeErrors));
  const parent = { parent_run_id: task.runId, parent_path: task.path, parent_node_id: task.nodeId };
  const purpose = run.isTest && { purpose: 'test' as const };
  const place = { ...parent, ...purpose, root_run_id: run.rootRunId, depth: run.depth + 1 };
  const untilMs = waits ? Date.now() + MAX_WAIT_SECONDS * 1000 : null;
  const traceparent = currentTraceparent() ?? null;
  await storeRun(snapshots, { document: workflow.document, plan }, (snapshotHash) => {
    const child = { ...facts, ...place, traceparent, snapshot_hash: snapshotHash };
    return beginChild(db, task, { call, run: child, untilMs, checkInSeconds: START_GRACE_SECONDS });
  });
}

/**
 * Returns a workflow of the run's project, when the node has memory for it and for `moreBytes`. Throws
 * `workflow_not_found`.
 */
export async function loadDrawing(
  db: Database,
  { run, memory }: NodeTask,
  workflowId: number,
  moreBytes = 0,
): Promise<StoredDrawing> {
  const sizeBytes = await measureDrawing(db, run.projectId, workflowId);
  if (sizeBytes === undefined) throw notFound(workflowId);
  await memory.resize(memory.bytes + DRAWING_FACTOR * sizeBytes + moreBytes);
  const workflow = await findDrawing(db, workflowId);
  if (workflow === undefined || workflow.project_id !== run.projectId) throw notFound(workflowId);
  return workflow;
}

async function checkRoom(db: Database, { run }: NodeTask): Promise<void> {
  if (run.depth >= MAX_DEPTH) {
    throw new NodeFailure(
      'too_deep',
      `Sub-workflows may start each other ${MAX_DEPTH} deep, and this run is the last.`,
    );
  }
  if ((await countRunsBelow(db, run.rootRunId, MAX_RUNS_BELOW)) < MAX_RUNS_BELOW) return;
  throw cannotRun(`A run and the runs below it may start ${MAX_RUNS_BELOW} runs in all, and they have.`);
}

function notFound(workflowId: number): NodeFailure {
  return new NodeFailure('workflow_not_found', `The project has no workflow ${workflowId}, or it is archived.`);
}

function cannotRun(reason: string): NodeFailure {
  return new NodeFailure('child_failed', `The sub-workflow cannot run: ${reason}`);
}

/** The secrets of the run that the child must mask, too: all of them, where its input holds one. */
function secretsIn(input: JsonObject, { masker, secretTexts }: RunContext): readonly string[] {
  if (masker.isEmpty || writeJson(masker.json(input)) === writeJson(input)) return [];
  if (arePassable(secretTexts)) return secretTexts;
  throw cannotRun('Its input holds secrets, and those of this run have too many characters to be handed on.');
}

interface ChildOutput {
  /** Later nodes get this. */
  output: unknown;
  /** Readers get this; where it is absent, they get what later nodes get. */
  shown?: unknown;
}

/**
 * Returns what a run has put out: the value of its output node, or else the content of its last node. Throws
 * `child_failed` where it has failed or was cancelled, or its results have expired. Before anything of this run can hold
 * secrets of that one, this run masks them.
 */
export async function readChildOutput(deps: ReadingDeps, task: NodeTask, ended: EndedChild): Promise<ChildOutput> {
  const { db, secretBox, contexts } = deps;
  const { runId } = ended;
  if (ended.status !== 'Succeeded') throw failureOf(ended);
  const found = await findRunResult(db, runId);
  await task.memory.resize(task.memory.bytes + (PARSED_FACTOR + RECORDING_FACTOR) * (found?.sizeBytes ?? 0));
  const [stored] = found === undefined ? [] : await readOutputs(db, { runId, path: found.path }, [found.nodeId]);
  // Asked last: nothing of what was found has expired then. A run that was taken over may have ended long ago.
  if (await areResultsExpired(db, runId)) {
    throw new NodeFailure('child_failed', `The results of the run ${runId} of the sub-workflow have expired.`);
  }
  if (found === undefined || stored === undefined) return { output: '' };
  const shown = valueOf(found, stored.result);
  if (stored.resultEnc === null) return { output: shown };
  const { secretTexts } = await contexts.load(runId);
  if (!(await passSecrets(db, secretBox, task.runId, secretTexts))) return { output: shown };
  const whole = secretBox.open(stored.resultEnc, 'node-result', runId, found.path, found.nodeId);
  return { output: valueOf(found, whole), shown };
}

function failureOf({ runId, status, errorCode, errorMessage }: EndedChild): NodeFailure {
  const reason = status === 'Cancelled' ? 'was cancelled' : 'failed';
  const told = errorCode === null ? '' : `: ${errorCode}: ${errorMessage ?? ''}`;
  return new NodeFailure('child_failed', `The run ${runId} of the sub-workflow ${reason}${told}`);
}

function valueOf({ isOutput }: RunResult, result: string): unknown {
  const { content, value } = parseJson(result) as NodeOutput;
  return isOutput ? value : content;
}

/** The output as a text. */
export function toContent(output: unknown): string {
  return typeof output === 'string' ? output : writeJson(output);
}
