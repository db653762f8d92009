// Hands the results of local activities to a run one after the other, and cancels local activities by the worker.
//
// The first time, the SDK hands over each result when it is there. When it replays the run, it hands over several of them
// at once, and what follows them interleaves: the run would start its next nodes in another order, and take the results
// of one node for those of another. docs/adr/0019-iterations-inside-the-run.md
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
    void inTurn(rest, handOver);
  },
};

async function inTurn(parts: Job[][], handOver: (part: Job[]) => void): Promise<void> {
  for (const part of parts) {
    await CancellationScope.nonCancellable(allIsDone);
    handOver(part);
  }
}

/**
 * Resolves when the run has done all that follows from what it was handed. The SDK asks the conditions of a workflow again
 * when no microtask is left. No other condition of the run becomes true at that moment: signals alone change what they ask.
 */
function allIsDone(): Promise<void> {
  let wasAsked = false;
  return condition(() => {
    const isAskedAgain = wasAsked;
    wasAsked = true;
    return isAskedAgain;
  });
}

const { localActivities } = proxySinks<LocalActivitySinks>();

/** Tells the worker which local activities are cancelled, in place of the SDK (contract/local-activities.ts). */
const cancelling: WorkflowInternalsInterceptor = {
  activate(input: ActivateInput, next: Activate): void {
    if (input.activation.jobs?.some(({ initializeWorkflow: begun }) => begun)) localActivities.begin();
    next(input);
  },

  concludeActivation(input: ConcludeActivationInput, next: Conclude): ConcludeActivationOutput {
    const { commands } = next(input);
    for (const { requestCancelLocalActivity: cancel } of commands) {
      // The id of a local activity is its number.
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

/** The SDK calls this export by its name. */
export function interceptors(): WorkflowInterceptors {
  return { internals: [cancelling, oneByOne], outbound: [cancelled] };
}
