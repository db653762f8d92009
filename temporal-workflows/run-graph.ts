// The run workflow. One workflow executes one run, in as many Temporal executions as its history needs. It only decides
// and waits, and it knows only ids, labels and edges, never contents (docs/adr/0001-claim-check.md).
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
import { finishRun, loadKept, loadPlan } from './activity-options.js';
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
  // A cancel that arrives meanwhile ends the run below, where its end is reported.
  const loaded = input.plan === undefined && (await CancellationScope.nonCancellable(() => loadPlan(input.runId)));
  const isFirstExecution = input.resumed === undefined;
  const kept =
    input.keepsResults === true && isFirstExecution
      ? await CancellationScope.nonCancellable(() => loadKept(input.runId))
      : [];
  // The state is created first, because setHandler delivers a signal that has already arrived.
  const run = new GraphRun({ ...input, ...loaded } as PlannedRun, kept);
  setHandler(statusQuery, () => run.status(), {
    description: 'Phase of the run, a state for each node, and what is in flight',
  });
  setHandler(wakeSignal, (wake) => run.wake(wake), { description: 'What a node waits for may have come' });
  setHandler(decideSignal, (decision) => run.decide(decision), { description: 'An approver has answered a request' });
  await run.execute();
  if (run.isDrained()) {
    await condition(allHandlersFinished);
    await continueAsNew<typeof runGraph>({ ...input, resumed: run.snapshot() });
  }
  const end = run.end();
  // The end is recorded even after a cancel. Only then may the workflow close, so that a closed workflow implies a
  // recorded end.
  if (!run.isEndWritten) await CancellationScope.nonCancellable(() => finishRun(end));
  if (end.status === 'cancelled') throw new CancelledFailure('The run was cancelled.');
  if (end.status === 'failed') throw ApplicationFailure.nonRetryable('The run failed.', end.error?.code);
}
