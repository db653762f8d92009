// The run workflow: one execution runs one user's workflow once. It decides and waits; everything it knows of contents
// is ids, labels and edges. docs/adr/0001-claim-check.md says why.
import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  defineQuery,
  isCancellation,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { FinishRunInput } from '../activities/finish-run.js';
import { runNodeOfKind, terminal } from './activity-options.js';
import { STATUS_QUERY, type RunGraphInput, type RunStatusAnswer } from './messages.js';
import { Planner } from './planner.js';

const statusQuery = defineQuery<RunStatusAnswer>(STATUS_QUERY);
/** The trigger's activity reports the start as update 1; the end of the run is the only other report. */
const FINISH_SEQUENCE = 2;

export async function runGraph(input: RunGraphInput): Promise<void> {
  const run = new GraphRun(input);
  setHandler(statusQuery, () => run.status(), { description: 'Phase of the run and one state character a node' });
  await run.settle();
  if (run.isDrained()) {
    await condition(allHandlersFinished);
    await continueAsNew<typeof runGraph>({ ...input, resumed: { planner: run.snapshot() } });
  }
  const end = run.end();
  // Cancelled or not, the end is reported; only then may the workflow close, so that "closed" implies "recorded".
  await CancellationScope.nonCancellable(() => terminal.finishRun(end));
  if (end.status === 'cancelled') throw new CancelledFailure('The run was cancelled.');
  if (end.status === 'failed') throw ApplicationFailure.nonRetryable('The run failed.', end.error?.code);
}

/** The scheduler's state: nodes in flight, why no more are started, and the first failure. */
class GraphRun {
  readonly #input: RunGraphInput;
  readonly #planner: Planner;
  readonly #nodes = new CancellationScope({ cancellable: true });
  #phase: RunStatusAnswer['phase'] = 'running';
  #inFlight = 0;
  #failed: { node: number; code: string } | undefined;
  #wake: () => void = () => undefined;

  constructor(input: RunGraphInput) {
    this.#input = input;
    this.#planner = new Planner(input.plan, input.resumed?.planner);
  }

  /** Resolves when nothing is in flight and nothing more will be started in this execution. */
  async settle(): Promise<void> {
    const idle = new Promise<void>((resolve) => (this.#wake = resolve));
    CancellationScope.current().cancelRequested.catch(() => this.#stop('cancelling'));
    this.#startReady();
    await idle;
  }

  status(): RunStatusAnswer {
    return { phase: this.#phase, states: this.#planner.states() };
  }

  isDrained(): boolean {
    return this.#phase === 'draining' && this.#planner.open > 0;
  }

  snapshot() {
    return this.#planner.snapshot();
  }

  end(): FinishRunInput {
    const { runId, plan } = this.#input;
    const base = { runId, sequence: FINISH_SEQUENCE };
    if (this.#phase === 'cancelling') {
      this.#finish();
      return { ...base, status: 'cancelled' };
    }
    // Open nodes without a failure mean a plan that cannot go on: a bug, but one that must end the run, not hang it.
    if (this.#failed === undefined && this.#planner.open > 0) this.#failed = { node: -1, code: 'stalled' };
    this.#finish();
    if (this.#failed === undefined) return { ...base, status: 'succeed' };
    const { node, code } = this.#failed;
    return { ...base, status: 'failed', error: { code, nodeId: plan.ids[node] } };
  }

  #finish(): void {
    this.#planner.cancelOpen();
    this.#phase = 'finishing';
  }

  #startReady(): void {
    // History is near its limit: start nothing more, let the nodes in flight settle, then go on in a new execution.
    if (this.#phase === 'running' && workflowInfo().continueAsNewSuggested) this.#phase = 'draining';
    while (this.#phase === 'running' && this.#inFlight < this.#input.maxInFlight) {
      const node = this.#planner.take();
      if (node === undefined) break;
      this.#start(node);
    }
    setCurrentDetails(this.#progress());
    if (this.#inFlight === 0) this.#wake();
  }

  #start(node: number): void {
    const { runId, plan } = this.#input;
    const call = { runId, nodeId: plan.ids[node]!, summary: plan.labels[node]! };
    this.#inFlight++;
    this.#nodes
      .run(() => runNodeOfKind[plan.kinds[node]!](call))
      .then(
        ({ branch }) => this.#planner.succeed(node, branch ?? 0),
        (error: unknown) => {
          // A cancelled node stays open here; the end of the run closes it.
          if (isCancellation(error)) return;
          this.#planner.fail(node);
          this.#failed ??= { node, code: failureCode(error) };
          this.#stop('failing');
        },
      )
      .finally(() => {
        this.#inFlight--;
        this.#startReady();
      });
  }

  #stop(why: 'failing' | 'cancelling'): void {
    if (this.#phase !== 'running' && this.#phase !== 'draining') return;
    this.#phase = why;
    this.#nodes.cancel();
    if (this.#inFlight === 0) this.#wake();
  }

  #progress(): string {
    const total = this.#input.plan.ids.length;
    return `${this.#phase}: ${this.#planner.succeeded} of ${total} nodes succeeded, ${this.#inFlight} in flight`;
  }
}

function failureCode(error: unknown): string {
  if (!(error instanceof ActivityFailure)) return 'internal_error';
  // No failure of ours means that Temporal gave up on the activity (time-outs).
  return error.cause instanceof ApplicationFailure ? (error.cause.type ?? 'internal_error') : 'timeout';
}
