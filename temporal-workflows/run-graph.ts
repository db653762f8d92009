// The run workflow: one execution runs one user's workflow once. It decides and waits; everything it knows of contents
// is ids, labels and edges. docs/adr/0001-claim-check.md says why.
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  setHandler,
} from '@temporalio/workflow';
import { reportEnd } from './activity-options.js';
import { GraphRun } from './graph-run.js';
import {
  DECIDE_SIGNAL,
  STATUS_QUERY,
  type Decision,
  type RunGraphInput,
  type RunStatusAnswer,
} from '../contract/run-workflow.js';

const statusQuery = defineQuery<RunStatusAnswer>(STATUS_QUERY);
const decideSignal = defineSignal<[Decision]>(DECIDE_SIGNAL);

export async function runGraph(input: RunGraphInput): Promise<void> {
  // State first: a signal that is already there is handed over inside setHandler.
  const run = new GraphRun(input);
  setHandler(statusQuery, () => run.status(), {
    description: 'Phase of the run, one state character a node, and the nodes in flight',
  });
  setHandler(decideSignal, (decision) => run.decide(decision), { description: 'An approver has answered a request' });
  await run.settle();
  if (run.isDrained()) {
    await condition(allHandlersFinished);
    await continueAsNew<typeof runGraph>({ ...input, resumed: run.snapshot() });
  }
  const end = run.end();
  // Cancelled or not, the end is reported; only then may the workflow close, so that "closed" implies "recorded".
  if (!run.isEndReported) await CancellationScope.nonCancellable(() => reportEnd(end, input.local !== undefined));
  if (end.status === 'cancelled') throw new CancelledFailure('The run was cancelled.');
  if (end.status === 'failed') throw ApplicationFailure.nonRetryable('The run failed.', end.error?.code);
}
