import type { Client, HistoryAndWorkflowId } from '@temporalio/client';
import { historiesOfRun } from '../../cli/replay/histories.js';
import { eventually } from '../../harness/timing/eventually.js';

/**
 * Returns the Temporal histories of a run, the newest execution first. Waits until the workflow is closed, which
 * happens a moment after the run's end is reported.
 */
export async function closedHistories(client: Client, runId: string): Promise<HistoryAndWorkflowId[]> {
  await eventually(async () => (await client.workflow.getHandle(runId).describe()).status.name !== 'RUNNING');
  const histories: HistoryAndWorkflowId[] = [];
  for await (const history of historiesOfRun(client, runId)) histories.push(history);
  return histories;
}
