// Counts the events and workflow tasks of a run in Temporal's history, over all its executions.
import { Client, Connection } from '@temporalio/client';
import type { StackFile } from '../cli/embedded/stack-file.js';

export interface HistorySize {
  events: number;
  workflowTasks: number;
}

export async function historySizeOf(stack: StackFile, runId: string): Promise<HistorySize> {
  const connection = await Connection.connect({ address: stack.temporal_address });
  try {
    const { workflow } = new Client({ connection, namespace: stack.temporal_namespace });
    const size: HistorySize = { events: 0, workflowTasks: 0 };
    let execution: string | undefined = (await workflow.getHandle(runId).describe()).runId;
    while (execution !== undefined && execution !== '') {
      const { events } = await workflow.getHandle(runId, execution).fetchHistory();
      execution = undefined;
      for (const event of events ?? []) {
        size.events++;
        if (event.workflowTaskCompletedEventAttributes) size.workflowTasks++;
        // A long run continues in a new execution (continue-as-new), whose first event names the previous one.
        execution ??= event.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
      }
    }
    return size;
  } finally {
    await connection.close();
  }
}
