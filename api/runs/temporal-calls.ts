// Makes the API's calls to Temporal that concern runs, except the signals that wake runs (`acceptance/wake-run.ts`).
// Checks whether Temporal answers. Each call has a time limit. `api/schedules/temporal-schedules.ts` makes the calls
// that concern schedules.
import {
  isGrpcServiceError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type Client,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { activeTraceIds, inSpan, SpanKind } from '../../telemetry/spans.js';
import { executionOf, type Execution } from '../../graph/document.js';
import { hasPools } from '../../graph/pools.js';
import type { RunToStart } from '../../db/runs/runs-repository.js';
import {
  DECIDE_SIGNAL,
  MAX_NODES_IN_FLIGHT,
  RUN_WORKFLOW_TYPE,
  STATUS_QUERY,
  type Decision,
  type RunGraphInput,
  type RunStatusAnswer,
  RUN_PRIORITY,
} from '../../contract/run-workflow.js';
import { bounded } from '../../acceptance/bounded-call.js';
import { toSummary } from '../../acceptance/run-summary.js';
import type { Environment } from '../../config/environment.js';

export const projectIdKey = defineSearchAttributeKey('ProjectId', 'KEYWORD');
export const workflowIdKey = defineSearchAttributeKey('WorkflowDefId', 'KEYWORD');
const runStateKey = defineSearchAttributeKey('RunState', 'KEYWORD');
const INVALID_ARGUMENT = 3;

export type Closing = 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed out';

/** `missing`: Temporal answers that it has no such run workflow. */
export type RunExecution =
  | { state: 'missing' }
  | { state: 'open'; taskAttempts: number }
  | { state: 'closed'; how: Closing; closedAt: Date | undefined };

/** Every other status is open, also that of a paused workflow. After continue-as-new, the newest execution answers. */
const CLOSED: Partial<Record<string, Closing>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed out',
};

export type StartConfig = Pick<Environment, 'execution' | 'publicUrl' | 'runTimeoutDays'> & { taskQueue: string };

/** Idempotent: the run's id is the workflow's id, and a run that was started once is never started again. */
export async function startRunWorkflow(
  client: Client,
  config: StartConfig,
  run: RunToStart,
  timeoutMs?: number,
): Promise<void> {
  const execution = executionOf({ settings: run.settings }, config.execution);
  const input: RunGraphInput = {
    runId: run.id,
    plan: run.plan,
    maxInFlight: MAX_NODES_IN_FLIGHT,
    ...(execution === 'dense' && { stride: execution }),
    ...(run.isResumed && { keepsResults: true }),
    ...(hasPools(run.plan, run.pool) && { hasPools: true }),
  };
  try {
    await traced('start', run.id, () =>
      bounded(
        client,
        () =>
          client.workflow.start(RUN_WORKFLOW_TYPE, {
            workflowId: run.id,
            taskQueue: config.taskQueue,
            args: [input],
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
            workflowExecutionTimeout: `${config.runTimeoutDays} days`,
            staticSummary: toSummary(run.title),
            staticDetails: toDetails(run, execution, config.publicUrl),
            typedSearchAttributes: [
              { key: projectIdKey, value: String(run.project_id) },
              { key: workflowIdKey, value: String(run.workflow_id) },
              { key: runStateKey, value: 'running' },
            ],
            priority: { priorityKey: RUN_PRIORITY, fairnessKey: `p${run.project_id}` },
          }),
        timeoutMs,
      ),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/**
 * True if Temporal refuses the start of a run, or a schedule, and would refuse it again: for example, the plan is too
 * large, or a search attribute is not registered.
 */
export function isStartRefused(error: unknown): boolean {
  if (!(error instanceof ServiceError) || !isGrpcServiceError(error.cause)) return false;
  const code: number = error.cause.code;
  return code === INVALID_ARGUMENT;
}

/** Reads the history store instead of visibility, so the answer is exact and needs no worker. */
export async function describeRun(client: Client, runId: string): Promise<RunExecution> {
  try {
    return toRunExecution(await bounded(client, () => client.workflow.getHandle(runId).describe()));
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { state: 'missing' };
    throw error;
  }
}

/** `taskAttempts`: the attempts of the open workflow task, 1 while no worker polls the task, 0 if no task is open. */
export function toRunExecution({
  status,
  closeTime,
  raw,
}: Pick<WorkflowExecutionDescription, 'status' | 'closeTime' | 'raw'>): RunExecution {
  const how = CLOSED[status.name];
  if (how === undefined) return { state: 'open', taskAttempts: raw.pendingWorkflowTask?.attempt ?? 0 };
  return { state: 'closed', how, closedAt: closeTime };
}

/** Returns false if there is no open run to cancel. */
export async function cancelRunWorkflow(client: Client, runId: string): Promise<boolean> {
  try {
    await traced('cancel', runId, () => bounded(client, () => client.workflow.getHandle(runId).cancel()));
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** A run that has ended needs no decision, so its absence is not an error. */
export async function signalDecision(client: Client, runId: string, decision: Decision): Promise<void> {
  try {
    await traced('signal', runId, () =>
      bounded(client, () => client.workflow.getHandle(runId).signal<[Decision]>(DECIDE_SIGNAL, decision)),
    );
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** Queries an open run, which needs a worker. Throws if none answers within `timeoutMs` or Temporal has no such run. */
export function queryRunStatus(client: Client, runId: string, timeoutMs: number): Promise<RunStatusAnswer> {
  return bounded(client, () => client.workflow.getHandle(runId).query<RunStatusAnswer>(STATUS_QUERY), timeoutMs);
}

/** True if the server ended a terminated run by its limits of size and length, rather than a person. */
export async function isTerminatedByServer(client: Client, runId: string): Promise<boolean> {
  const { history } = await bounded(client, () =>
    client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution: { workflowId: runId },
      maximumPageSize: 1,
    }),
  );
  return history?.events?.[0]?.workflowExecutionTerminatedEventAttributes?.identity === 'history-service';
}

/**
 * Throws unless Temporal answers within `timeoutMs` and has our namespace. A Temporal without the namespace knows no
 * run, and its answers would make all runs look lost.
 */
export async function pingTemporal(client: Client, timeoutMs: number): Promise<void> {
  const { namespace } = client.options;
  await bounded(client, () => client.workflowService.describeNamespace({ namespace }), timeoutMs);
}

function traced<T>(what: 'start' | 'cancel' | 'signal', runId: string, call: () => Promise<T>): Promise<T> {
  return inSpan(`temporal ${what}`, { kind: SpanKind.CLIENT, attributes: { 'run.id': runId } }, call);
}

/** Markdown for the Temporal UI with ids and links, never contents. */
function toDetails(run: RunToStart, execution: Execution, publicUrl: string): string {
  const link = `${publicUrl}/api/v1/workflows/${run.workflow_id}/history/${run.id}/`;
  const trace = activeTraceIds()?.trace_id;
  return [
    `- Project: ${run.project_id}`,
    `- Workflow: ${run.workflow_id}`,
    `- Run: [${run.id}](${link})`,
    `- What it cost: [transactions](${publicUrl}/api/v1/billing-history/workflowrun/${run.id}/)`,
    `- Who must approve: [requests](${publicUrl}/api/v1/workflows/workflow_run/${run.id}/agent-approval/)`,
    ...(trace === undefined ? [] : [`- Trace: ${trace}`]),
    `- Nodes: ${run.plan.ids.length}`,
    `- Execution: ${execution}`,
  ].join('\n');
}
