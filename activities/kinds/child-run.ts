// The runs that nodes start: for a sub-workflow node, and for an agent's tools that are workflows. Each is accepted by
// the rules of the API, and the node's row in `waits` makes sure that it is accepted exactly once.
import { toSentences, prepareRun } from '../../acceptance/prepare-run.js';
import { toSummary } from '../../acceptance/run-summary.js';
import { START_GRACE_SECONDS, storeRun, type SnapshotStore } from '../../acceptance/store-run.js';
import { currentTraceparent } from '../../telemetry/spans.js';
import type { ChildToStart } from '../../contract/activities.js';
import type { Database } from '../../db/core/client.js';
import { readOutputs } from '../../db/nodes/node-outputs-repository.js';
import {
  insertChild,
  countRunsBelow,
  findChild,
  type StoredChild,
  type EndedChild,
} from '../../db/runs/child-runs-repository.js';
import { arePassable, passSecrets } from '../../db/runs/passed-secrets.js';
import { areResultsExpired, findRunResult, type RunResult } from '../../db/nodes/run-output.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import { measureDrawing } from '../../db/workflows/called-workflows.js';
import { findDrawing, type StoredDrawing } from '../../db/workflows/workflows-repository.js';
import type { JsonObject } from '../../graph/json.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import type { NodeOutput } from '../../graph/template.js';
import { NodeFailure, runClosedFailure } from '../node/failures.js';
import type { NodeTask } from '../node/node-step.js';
import { PARSED_FACTOR, RECORDING_FACTOR } from '../node/payload-weight.js';
import type { RunContext, RunContexts } from '../node/run-context.js';

export interface ReadingDeps {
  db: Database;
  secretBox: SecretBox;
  contexts: RunContexts;
}

export interface ChildDeps extends ReadingDeps {
  snapshots: SnapshotStore;
  runTimeoutDays: number;
}

interface ChildRequest {
  workflowId: number;
  /** 0 for a sub-workflow node, else the number of the agent's tool call (`toolCallNumber`); `waits.call` stores it. */
  call: number;
  /** True if the node waits for the end of the run. */
  waits: boolean;
}

const DAY_MS = 86_400_000;
/** The maximum number of ancestors of a run that a node starts. */
const MAX_DEPTH = 10;
/** The limit on all descendants of a root run, because each run may start several others. */
const MAX_RUNS_BELOW = 10_000;
/** Bytes of memory per byte of a drawing, which consists mostly of small objects. */
export const DRAWING_FACTOR = 8;

/**
 * Returns the child run that an earlier attempt has accepted, or else accepts one; the run workflow starts it later.
 * Calls `makeInput` only to accept a run. Throws a `NodeFailure` if the run cannot be accepted, and `run_closed` if the
 * node or the parent run has ended meanwhile.
 */
export async function ensureChild(
  deps: ChildDeps,
  task: NodeTask,
  request: ChildRequest,
  makeInput: () => Promise<JsonObject> | JsonObject,
): Promise<StoredChild> {
  const known = await findChild(deps.db, task, request.call);
  if (known !== undefined) return known;
  await accept(deps, task, request, await makeInput());
  // A concurrent attempt may have stored its run first.
  const started = await findChild(deps.db, task, request.call);
  if (started === undefined) throw runClosedFailure();
  return started;
}

/** Returns the facts with which the run workflow starts the run. */
export function toChildToStart(
  { runTimeoutDays }: Pick<ChildDeps, 'runTimeoutDays'>,
  { runId, workflowId, projectId, title, isResumed }: StoredChild,
): ChildToStart {
  const kept = isResumed && { keepsResults: true as const };
  return { runId, workflowId, projectId, summary: toSummary(title), timeoutDays: runTimeoutDays, ...kept };
}

/** Accepts the run by the rules of every run, as the user who has started the node's own run. */
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
  // The wait must not end before the child run: after that, the node would ask each second whether the run has ended.
  const untilMs = waits ? Date.now() + deps.runTimeoutDays * DAY_MS : null;
  const traceparent = currentTraceparent() ?? null;
  await storeRun(snapshots, { document: workflow.document, plan }, (snapshotHash) => {
    const child = { ...facts, ...place, traceparent, snapshot_hash: snapshotHash };
    return insertChild(db, task, { call, run: child, untilMs, checkInSeconds: START_GRACE_SECONDS });
  });
}

/**
 * Reserves memory for the drawing of a workflow of the run's project and for `moreBytes`, then returns the workflow.
 * Throws `workflow_not_found`.
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

/** Returns the secrets that the child must also mask: all of the parent's if the child's input contains one. */
function secretsIn(input: JsonObject, { masker, secretTexts }: RunContext): readonly string[] {
  if (masker.isEmpty || writeJson(masker.json(input)) === writeJson(input)) return [];
  if (arePassable(secretTexts)) return secretTexts;
  throw cannotRun('Its input holds secrets, and those of this run have too many characters to be handed on.');
}

interface ChildOutput {
  output: unknown;
  /** The output with secrets masked, which polls show. Defaults to `output`. */
  shown?: unknown;
}

/**
 * Returns the output of a run: the value of its output node, or else the content of its last node, or else an empty
 * text. Throws `child_failed` if the run has failed or was cancelled, or if its results have expired. The parent run
 * masks the secrets of the child before it stores anything that may contain them. If the secrets are too many for that,
 * returns the masked output.
 */
export async function readChildOutput(deps: ReadingDeps, task: NodeTask, ended: EndedChild): Promise<ChildOutput> {
  const { db, secretBox, contexts } = deps;
  const { runId } = ended;
  if (ended.status !== 'Succeeded') throw failureOf(ended);
  const found = await findRunResult(db, runId);
  await task.memory.resize(task.memory.bytes + (PARSED_FACTOR + RECORDING_FACTOR) * (found?.sizeBytes ?? 0));
  const [stored] = found === undefined ? [] : await readOutputs(db, { runId, path: found.path }, [found.nodeId]);
  // Checked after the read, so nothing that was read has expired. A parent that resumes an earlier run may take over a
  // child run of that one, which may have ended long ago.
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
  const details = errorCode === null ? '' : `: ${errorCode}: ${errorMessage ?? ''}`;
  return new NodeFailure('child_failed', `The run ${runId} of the sub-workflow ${reason}${details}`);
}

function valueOf({ isOutput }: RunResult, result: string): unknown {
  const { content, value } = parseJson(result) as NodeOutput;
  return isOutput ? value : content;
}

/** Returns the output as text: a string as it is, anything else as JSON. */
export function toContent(output: unknown): string {
  return typeof output === 'string' ? output : writeJson(output);
}
