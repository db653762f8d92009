// A node that runs another workflow of its project. Its first step accepts that run, as the API accepts those that people
// ask for; the run workflow then starts it. Its last step (wait.ts) takes over how the run has ended.
import { prepareRun } from '../../acceptance/prepare-run.js';
import { toSummary } from '../../acceptance/run-summary.js';
import type { SnapshotStore } from '../../acceptance/snapshot-store.js';
import { START_GRACE_SECONDS, storeRun } from '../../acceptance/store-run.js';
import type { WaitFacts } from '../../contract/activities.js';
import { currentTraceparent } from '../../config/spans.js';
import type { Database } from '../../db/core/client.js';
import { findNodeClaim } from '../../db/nodes/node-results-repository.js';
import { readOutputs } from '../../db/nodes/node-outputs-repository.js';
import { beginChild, countRunsBelow, endChildWait, findChild } from '../../db/runs/child-runs-repository.js';
import { arePassable, passSecrets } from '../../db/runs/passed-secrets.js';
import { findRunResult, type RunResult } from '../../db/runs/run-output.js';
import { measureDrawing } from '../../db/workflows/called-workflows.js';
import { findDrawing } from '../../db/workflows/workflows-repository.js';
import type { JsonObject } from '../../graph/json.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import { MAX_WAIT_SECONDS } from '../../graph/nodes/timeout-field.js';
import { childInput, workflowNode } from '../../graph/nodes/workflow.js';
import type { NodeOutput } from '../../graph/template.js';
import type { NodeErrors } from '../../graph/validate.js';
import { NodeFailure, runClosedFailure } from '../node/failures.js';
import type { NodeOutcome, NodeStep, NodeTask } from '../node/node-step.js';
import { PARSED_FACTOR, RECORDING_FACTOR } from '../node/payload-weight.js';
import type { RunContext } from '../node/run-context.js';
import { REPEATABLE, settledFacts } from '../node/run-node.js';
import { overWait, type WaitDeps } from './wait-deps.js';

interface BeginDeps extends WaitDeps {
  snapshots: SnapshotStore;
}

/** How many runs may be above a run. */
const MAX_DEPTH = 10;
/** The limit on the runs below one that no other run has started: each may start several, and these again. */
const MAX_RUNS_BELOW = 10_000;
/** Of an input as JSON text. */
const MAX_INPUT_CHARACTERS = 8 * 1024 * 1024;
/** Bytes of memory per byte of a drawing, which consists mostly of small objects. */
const DRAWING_FACTOR = 8;
const ERRORS_SHOWN = 5;

/** Nothing is claimed before: the node begins together with the acceptance of its run, which a repetition finds. */
export function createBeginChildStep(deps: BeginDeps): NodeStep<WaitFacts> {
  const { db } = deps;
  return {
    ...REPEATABLE,
    settled: () => overWait('child'),
    async perform(task) {
      const claim = await findNodeClaim(db, task);
      if (claim?.status === 'failed') settledFacts(claim);
      if ((await findChild(db, task)) === undefined) await accept(deps, task);
      const begun = await findChild(db, task);
      if (begun === undefined) throw runClosedFailure();
      const { runId, workflowId, projectId, isOpen, untilMs } = begun;
      const isOver = untilMs === null || !isOpen;
      const child = { runId, workflowId, projectId, summary: toSummary(begun.title) };
      return { for: 'child', untilMs: untilMs ?? 0, ...(isOver && { isOver }), ...(isOpen && { child }) };
    },
  };
}

/** By the rules of every run, as the user who has started the node's own run. Another attempt may be faster. */
async function accept({ db, secretBox, contexts, snapshots }: BeginDeps, task: NodeTask): Promise<void> {
  const { run, node, memory } = task;
  await checkRoom(db, task);
  const data = workflowNode.schema.parse(node.data);
  const sizeBytes = await measureDrawing(db, run.projectId, data.workflow_id);
  if (sizeBytes === undefined) throw notFound(data.workflow_id);
  const scope = await contexts.loadScope(task, data.input);
  const input = childInput(data, scope, MAX_INPUT_CHARACTERS);
  await memory.resize(memory.bytes + DRAWING_FACTOR * sizeBytes + RECORDING_FACTOR * writeJson(input).length);
  const workflow = await findDrawing(db, data.workflow_id);
  if (workflow === undefined || workflow.project_id !== run.projectId) throw notFound(data.workflow_id);
  const passedSecrets = secretsIn(input, run);
  const prepared = prepareRun(secretBox, { workflow, userId: run.userId, input, passedSecrets });
  if (!prepared.ok) throw childFailed(prepared.errors[0]?.message ?? 'Its drawing cannot run.');
  const { facts, nodeErrors, plan } = prepared.run;
  if (Object.keys(nodeErrors).length > 0) throw childFailed(toSentences(nodeErrors));
  const parent = { parent_run_id: task.runId, parent_path: task.path, parent_node_id: task.nodeId };
  const place = { ...parent, root_run_id: run.rootRunId, depth: run.depth + 1 };
  const untilMs = data.wait ? Date.now() + MAX_WAIT_SECONDS * 1000 : null;
  const traceparent = currentTraceparent() ?? null;
  await storeRun(snapshots, { document: workflow.document, plan }, (snapshotHash) => {
    const child = { ...facts, ...place, traceparent, snapshot_hash: snapshotHash };
    return beginChild(db, task, { run: child, untilMs, checkInSeconds: START_GRACE_SECONDS });
  });
}

async function checkRoom(db: Database, { run }: NodeTask): Promise<void> {
  if (run.depth >= MAX_DEPTH) {
    throw new NodeFailure(
      'too_deep',
      `Sub-workflows may start each other ${MAX_DEPTH} deep, and this run is the last.`,
    );
  }
  if ((await countRunsBelow(db, run.rootRunId, MAX_RUNS_BELOW)) < MAX_RUNS_BELOW) return;
  throw childFailed(`A run and the runs below it may start ${MAX_RUNS_BELOW} runs in all, and they have.`);
}

function notFound(workflowId: number): NodeFailure {
  return new NodeFailure('workflow_not_found', `The project has no workflow ${workflowId}, or it is archived.`);
}

function childFailed(reason: string): NodeFailure {
  return new NodeFailure('child_failed', `The sub-workflow cannot run: ${reason}`);
}

/** The secrets of the run that the child must mask, too: all of them, where its input holds one. */
function secretsIn(input: JsonObject, { masker, secretTexts }: RunContext): readonly string[] {
  if (masker.isEmpty || writeJson(masker.json(input)) === writeJson(input)) return [];
  if (arePassable(secretTexts)) return secretTexts;
  throw childFailed('Its input holds secrets, and those of this run have too many characters to be handed on.');
}

function toSentences(errors: NodeErrors): string {
  const all = Object.entries(errors).flatMap(([nodeId, mistakes]) =>
    mistakes.flatMap((mistake) => Object.entries(mistake).map(([place, text]) => `node ${nodeId}, ${place}: ${text}`)),
  );
  const more = all.length > ERRORS_SHOWN ? `, and ${all.length - ERRORS_SHOWN} more` : '';
  return `${all.slice(0, ERRORS_SHOWN).join('; ')}${more}.`;
}

/** Undefined while the run of the node has not ended. Throws `child_failed` where it has failed or was cancelled. */
export async function endChild(deps: WaitDeps, task: NodeTask): Promise<NodeOutcome | undefined> {
  const { db } = deps;
  const ended = await endChildWait(db, task);
  if (ended === undefined) return undefined;
  const { runId } = ended;
  if (!workflowNode.schema.parse(task.node.data).wait) {
    return { output: { content: '', output: null, run_id: runId, status: 'in progress' } };
  }
  if (ended.status === 'Succeeded') return toOutcome(deps, task, runId);
  const reason = ended.status === 'Cancelled' ? 'was cancelled' : 'failed';
  const told = ended.errorCode === null ? '' : `: ${ended.errorCode}: ${ended.errorMessage ?? ''}`;
  throw new NodeFailure('child_failed', `The run ${runId} of the sub-workflow ${reason}${told}`);
}

/** Later nodes get what the run has put out; readers get what the readers of that run get. */
async function toOutcome({ db, secretBox, contexts }: WaitDeps, task: NodeTask, runId: string): Promise<NodeOutcome> {
  const found = await findRunResult(db, runId);
  await task.memory.resize((PARSED_FACTOR + RECORDING_FACTOR) * (found?.sizeBytes ?? 0));
  const [stored] = found === undefined ? [] : await readOutputs(db, { runId, path: found.path }, [found.nodeId]);
  if (found === undefined || stored === undefined) return { output: toOutput(runId, '') };
  const publicOutput = toOutput(runId, valueOf(found, stored.result));
  if (stored.resultEnc === null) return { output: publicOutput };
  // Before anything of this run can hold the secrets, it masks them.
  const { secretTexts } = await contexts.load(runId);
  if (!(await passSecrets(db, secretBox, task.runId, secretTexts))) return { output: publicOutput };
  return { output: toOutput(runId, valueOf(found, secretBox.open(stored.resultEnc, 'node-result'))), publicOutput };
}

function valueOf({ isOutput }: RunResult, result: string): unknown {
  const { content, value } = parseJson(result) as NodeOutput;
  return isOutput ? value : content;
}

function toOutput(runId: string, output: unknown): NodeOutput {
  const content = typeof output === 'string' ? output : writeJson(output);
  return { content, output, run_id: runId, status: 'succeed' };
}
