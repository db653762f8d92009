// Starts runs as child workflows of a run or of a schedule's firing (docs/adr/0021-runs-that-start-runs.md).
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  ParentClosePolicy,
  startChild,
  type ChildWorkflowHandle,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError, type Workflow } from '@temporalio/common';
import type { ChildToStart } from '../contract/activities.js';
import { MAX_NODES_IN_FLIGHT, RUN_PRIORITY, RUN_WORKFLOW_TYPE, type RunGraphInput } from '../contract/run-workflow.js';

/** Temporal allows 2,000 open children of one execution, and fails the workflow task that starts one more. */
const MAX_OPEN = 1_000;

/**
 * Starts the runs of sub-workflow nodes and of agents' tools as child workflows, so that the Temporal UI shows their
 * parent. Each run is already in Postgres: if its start is lost or exceeds `MAX_OPEN`, the reconciler starts it.
 */
export class ChildRuns {
  #open = 0;

  /**
   * Resolves when the run has started, or at once if `MAX_OPEN` runs are open. The process that records the end of the
   * run wakes the waiting node; if that process dies first, the reconciler does.
   */
  async start(child: ChildToStart): Promise<void> {
    if (this.#open >= MAX_OPEN) return;
    this.#open++;
    const leave = (): void => void this.#open--;
    const handle = await CancellationScope.nonCancellable(() => startChildRun(child));
    if (handle === undefined) leave();
    else void handle.result().then(leave, leave);
  }
}

/** Returns undefined if the run was started before, for example by the reconciler. */
export async function startChildRun(run: ChildToStart): Promise<ChildWorkflowHandle<Workflow> | undefined> {
  try {
    return await startAsChild(run);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return undefined;
  }
}

function startAsChild({ runId, workflowId, projectId, summary, timeoutDays, keepsResults }: ChildToStart) {
  const input: RunGraphInput = { runId, maxInFlight: MAX_NODES_IN_FLIGHT, ...(keepsResults && { keepsResults }) };
  return startChild(RUN_WORKFLOW_TYPE, {
    workflowId: runId,
    args: [input],
    // The transaction that records the end of the parent requests the cancellation of the child runs that the parent
    // awaits, and the reconciler cancels them. Other children continue.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    cancellationType: ChildWorkflowCancellationType.ABANDON,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    workflowExecutionTimeout: `${timeoutDays} days`,
    staticSummary: summary,
    typedSearchAttributes: [
      { key: { name: 'ProjectId', type: 'KEYWORD' }, value: String(projectId) },
      { key: { name: 'WorkflowDefId', type: 'KEYWORD' }, value: String(workflowId) },
      { key: { name: 'RunState', type: 'KEYWORD' }, value: 'running' },
    ],
    priority: { priorityKey: RUN_PRIORITY, fairnessKey: `p${projectId}` },
  });
}
