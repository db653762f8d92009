// Reads histories of runs from a Temporal server.
import { WorkflowNotFoundError, type Client, type HistoryAndWorkflowId } from '@temporalio/client';
import { RUN_WORKFLOW_TYPE } from '../../contract/run-workflow.js';
import { SCHEDULED_RUN_TYPE } from '../../contract/scheduled-run.js';

/** All executions of one run, the newest first (continue-as-new creates several). Throws WorkflowNotFoundError. */
export async function* historiesOfRun(client: Client, workflowId: string): AsyncGenerator<HistoryAndWorkflowId> {
  let executionId: string | undefined = (await client.workflow.getHandle(workflowId).describe()).runId;
  while (executionId !== undefined) {
    const history = await client.workflow.getHandle(workflowId, executionId).fetchHistory();
    yield { workflowId, history };
    executionId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
  }
}

/** The executions that a visibility query finds, newest first. It skips one that retention removes meanwhile. */
export async function* historiesByQuery(
  client: Client,
  query: string,
  limit: number,
): AsyncGenerator<HistoryAndWorkflowId> {
  const ofOurs = `WorkflowType IN ('${RUN_WORKFLOW_TYPE}', '${SCHEDULED_RUN_TYPE}')`;
  let count = 0;
  for await (const { workflowId, runId } of client.workflow.list({
    query: query.trim() === '' ? ofOurs : `${ofOurs} AND (${query})`,
  })) {
    if (count === limit) return;
    try {
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      count++;
      yield { workflowId, history };
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }
}
