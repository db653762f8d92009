// The run workflow executes one run, in as many Temporal executions as its history needs. It only decides and waits: it
// sees ids, labels and edges, never contents (docs/adr/0001-claim-check.md).
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
import { finishRun, loadPlan, loadReused } from './activity-options.js';
import { GraphRun, type PlannedRun } from './graph-run.js';
import {
  DECIDE_SIGNAL,
  STATUS_QUERY,
  WAKE_SIGNAL,
  type Decision,
  type RunGraphInput,
  type RunStatusAnswer,
  type Wake,
} from '../contract/run-workflow.js';

const statusQuery = defineQuery<RunStatusAnswer>(STATUS_QUERY);
const wakeSignal = defineSignal<[Wake]>(WAKE_SIGNAL);
const decideSignal = defineSignal<[Decision]>(DECIDE_SIGNAL);

export async function runGraph(input: RunGraphInput): Promise<void> {
  // A cancel that arrives while the plan loads must not interrupt here: `finishRun` below records the end of the run.
  const loaded = input.plan === undefined && (await CancellationScope.nonCancellable(() => loadPlan(input.runId)));
  const isFirstExecution = input.resumed === undefined;
  const reused =
    input.keepsResults === true && isFirstExecution
      ? await CancellationScope.nonCancellable(() => loadReused(input.runId))
      : [];
  // The state must exist before `setHandler`, which delivers signals that have already arrived.
  const run = new GraphRun({ ...input, ...loaded } as PlannedRun, reused);
  setHandler(statusQuery, () => run.status(), {
    description: 'Phase of the run, a state for each node, and what is in flight',
  });
  setHandler(wakeSignal, (wake) => run.wake(wake), { description: 'What a node waits for may have come' });
  setHandler(decideSignal, (decision) => run.decide(decision), { description: 'An approver has answered a request' });
  await run.execute();
  if (run.isDrained()) {
    await condition(allHandlersFinished);
    await continueAsNew<typeof runGraph>({
      ...input,
      ...(run.hasPools && { hasPools: true }),
      resumed: run.snapshot(),
    });
  }
  const end = run.end();
  // Record the end even after a cancel, and before the workflow closes: closing by itself implies a recorded end.
  if (!run.isEndWritten) await CancellationScope.nonCancellable(() => finishRun(end));
  if (end.status === 'cancelled') throw new CancelledFailure('The run was cancelled.');
  if (end.status === 'failed') throw ApplicationFailure.nonRetryable('The run failed.', end.error?.code);
}
