// A node that runs another workflow of its project. Its first step accepts the child run, which the run workflow then
// starts. Its last step (end-wait.ts) takes over the output or the failure of the child run, or only the id of the
// child run if the node does not wait for the end.
import type { WaitFacts } from '../../contract/activities.js';
import { findNodeClaim } from '../../db/nodes/node-results-repository.js';
import { endChildWait, NODE_ITSELF } from '../../db/runs/child-runs-repository.js';
import { childInput, workflowNode } from '../../graph/nodes/workflow.js';
import type { NodeOutcome, NodeStep, NodeTask } from '../node/node-step.js';
import { finalFailure } from '../node/failures.js';
import {
  ensureChild,
  readChildOutput,
  toChildToStart,
  toContent,
  type ChildDeps,
  type ReadingDeps,
} from './child-run.js';
import { endedWait } from './wait-deps.js';

/** The limit on the filled-in variables of the input together. */
const MAX_INPUT_CHARACTERS = 8 * 1024 * 1024;

/** Needs no claim, because accepting the child run also starts the node, and a repeated attempt finds the child run. */
export function createStartChildStep(deps: ChildDeps): NodeStep<WaitFacts> {
  return {
    isClaimed: false,
    factsOf: () => endedWait('child'),
    async run(task) {
      const claim = await findNodeClaim(deps.db, task);
      if (claim?.status === 'failed') throw finalFailure(claim.errorCode ?? 'internal_error');
      const data = workflowNode.schema.parse(task.node.data);
      const request = { workflowId: data.workflow_id, call: NODE_ITSELF, waits: data.wait };
      const started = await ensureChild(deps, task, request, async () =>
        childInput(data, await deps.contexts.loadValues(task, data.input), MAX_INPUT_CHARACTERS),
      );
      const { isOpen, untilMs } = started;
      const isOver = untilMs === null || !isOpen;
      const child = toChildToStart(deps, started);
      const over = { ...(isOver && { isOver }), ...(isOpen && { child }) };
      return { facts: { for: 'child', untilMs: untilMs ?? 0, ...over } };
    },
  };
}

/**
 * Returns undefined while the node waits for the end of the child run. Throws `child_failed` if that run has failed or
 * was cancelled, or if its results have expired.
 */
export async function endChild(deps: ReadingDeps, task: NodeTask): Promise<NodeOutcome | undefined> {
  const ended = await endChildWait(deps.db, task, NODE_ITSELF);
  if (ended === undefined) return undefined;
  const { runId } = ended;
  if (!workflowNode.schema.parse(task.node.data).wait) {
    return { output: { content: '', output: null, run_id: runId, status: 'in progress' } };
  }
  const { output, shown } = await readChildOutput(deps, task, ended);
  if (shown === undefined) return { output: toOutput(runId, output) };
  return { output: toOutput(runId, output), publicOutput: toOutput(runId, shown) };
}

function toOutput(runId: string, output: unknown) {
  return { content: toContent(output), output, run_id: runId, status: 'succeed' };
}
