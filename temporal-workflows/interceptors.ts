// Delivers the results of local activities to a workflow one at a time, and cancels local activities through the
// worker.
//
// In the first execution, the SDK delivers each result when it arrives. In a replay, it delivers several at once, and
// their continuations interleave. The run would then start its next nodes in another order, and match the results of
// one node to another (docs/adr/0019-iterations-inside-the-run.md).
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  proxySinks,
  type ActivateInput,
  type ConcludeActivationInput,
  type ConcludeActivationOutput,
  type Next,
  type WorkflowInternalsInterceptor,
  type WorkflowInterceptors,
  type WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';
import { CANCELLED_LOCALLY, type LocalActivitySinks } from '../contract/local-activities.js';

type Activate = Next<WorkflowInternalsInterceptor, 'activate'>;
type Conclude = Next<WorkflowInternalsInterceptor, 'concludeActivation'>;
type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

const oneByOne: WorkflowInternalsInterceptor = {
  activate(input: ActivateInput, next: Activate): void {
    const jobs = input.activation.jobs ?? [];
    const isLocalResult = ({ resolveActivity }: Job): boolean => resolveActivity?.isLocal === true;
    const results = jobs.filter(isLocalResult).map((job) => [job]);
    const others = jobs.filter((job) => !isLocalResult(job));
    const [first = [], ...rest] = others.length === 0 ? results : [others, ...results];
    const handOver = (some: Job[]): void => next({ ...input, activation: { ...input.activation, jobs: some } });
    handOver(first);
    void inOrder(rest, handOver);
  },
};

async function inOrder(parts: Job[][], handOver: (part: Job[]) => void): Promise<void> {
  for (const part of parts) {
    await CancellationScope.nonCancellable(allIsDone);
    handOver(part);
  }
}

/**
 * Resolves when the run has processed everything that was delivered so far. The SDK checks conditions again only when
 * no microtask is left, so the second check means that the run is idle. No other condition can become true then,
 * because only signals change what conditions depend on.
 */
function allIsDone(): Promise<void> {
  let wasChecked = false;
  return condition(() => {
    const isCheckedAgain = wasChecked;
    wasChecked = true;
    return isCheckedAgain;
  });
}

const { localActivities } = proxySinks<LocalActivitySinks>();

/** Asks the worker, and not the SDK, to cancel local activities (see contract/local-activities.ts). */
const cancelling: WorkflowInternalsInterceptor = {
  activate(input: ActivateInput, next: Activate): void {
    if (input.activation.jobs?.some(({ initializeWorkflow: start }) => start)) localActivities.begin();
    next(input);
  },

  concludeActivation(input: ConcludeActivationInput, next: Conclude): ConcludeActivationOutput {
    const { commands } = next(input);
    for (const { requestCancelLocalActivity: cancel } of commands) {
      // A local activity's id is its sequence number.
      if (cancel) localActivities.cancel(`${cancel.seq}`);
    }
    return { commands: commands.filter(({ requestCancelLocalActivity: cancel }) => !cancel) };
  },
};

const cancelled: WorkflowOutboundCallsInterceptor = {
  async scheduleLocalActivity(input, next) {
    try {
      return await next(input);
    } catch (error) {
      const isCancelled = error instanceof ApplicationFailure && error.type === CANCELLED_LOCALLY;
      throw isCancelled ? new CancelledFailure(error.message) : error;
    }
  },
};

/** The SDK calls this export by name. */
export function interceptors(): WorkflowInterceptors {
  return { internals: [cancelling, oneByOne], outbound: [cancelled] };
}
