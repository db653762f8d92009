// Hands the results of local activities to a run one after the other.
//
// The first time, the SDK hands over each result when it is there. When it replays the run, it hands over several of them
// at once, and what follows them interleaves: the run would start its next nodes in another order, and take the results
// of one node for those of another. docs/adr/0019-iterations-inside-the-run.md
import type { ActivateInput, Next, WorkflowInternalsInterceptor, WorkflowInterceptors } from '@temporalio/workflow';

type Activate = Next<WorkflowInternalsInterceptor, 'activate'>;
type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

/** Microtasks between two results. The test of replayed loops fails with two of them and passes with five. */
const STEPS_AFTER_A_RESULT = 200;

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

/** The SDK concludes an activation when no microtask is left, so all of this belongs to it. */
async function inTurn(parts: Job[][], handOver: (part: Job[]) => void): Promise<void> {
  for (const part of parts) {
    for (let step = 0; step < STEPS_AFTER_A_RESULT; step++) await Promise.resolve();
    handOver(part);
  }
}

/** The SDK calls this export by its name. */
export function interceptors(): WorkflowInterceptors {
  return { internals: [oneByOne] };
}
