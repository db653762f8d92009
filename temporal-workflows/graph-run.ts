import { CancellationScope, isCancellation, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { FinishRunInput, RunError } from '../contract/activities.js';
import { FINISH_SEQUENCE, type NodeFacts } from '../contract/nodes.js';
import {
  toMarkdown,
  type Decision,
  type LiveNode,
  type ResumedRun,
  type RunGraphInput,
  type RunStatusAnswer,
  type Wake,
} from '../contract/run-workflow.js';
import { mayBeCaught } from '../graph/caught.js';
import { callNode, closeNode, type SingleStepKind } from './activity-options.js';
import { createDenseExecution, type DenseExecution } from './dense/dense-execution.js';
import { failureCode, nodeFailureOf } from './node-failure.js';
import type { NodeWork, WorkEnd } from './node-work.js';
import { Planner } from './planner.js';
import { handleAfter, hasTimeoutWay } from './wait.js';
import { WaitingNodes } from './waiting-nodes.js';

/** Labels of nodes that wait, in the progress that the Temporal UI shows. */
const WAITING_SHOWN = 20;

/**
 * The scheduler of one run. It keeps the nodes in flight, the phase (whether more nodes may start) and the first failure.
 * `WaitingNodes` keeps the nodes that wait.
 */
export class GraphRun {
  readonly #input: RunGraphInput;
  readonly #planner: Planner;
  readonly #dense: DenseExecution | undefined;
  readonly #nodes = new CancellationScope({ cancellable: true });
  readonly #waiting: WaitingNodes;
  #phase: RunStatusAnswer['phase'] = 'running';
  #inFlight = 0;
  #error: RunError | undefined;
  #isEndReported = false;
  #wake: () => void = () => undefined;

  constructor(input: RunGraphInput) {
    this.#input = input;
    this.#planner = new Planner(input.plan, input.resumed?.planner);
    this.#dense = createDenseExecution(input, this.#planner, (node) => this.#single(node));
    this.#waiting = new WaitingNodes(this.#ofWaits, input.resumed);
  }

  /** Resolves when nothing is in flight and this execution starts nothing more. */
  async settle(): Promise<void> {
    const idle = new Promise<void>((resolve) => (this.#wake = resolve));
    CancellationScope.current().cancelRequested.catch(() => this.#stop('cancelling'));
    for (const node of this.#waiting.begun()) this.#start(this.#single(node));
    this.#startReady();
    await idle;
  }

  status(): RunStatusAnswer {
    return { phase: this.#phase, states: this.#planner.states(), live: this.#planner.running().map(this.#toLive) };
  }

  decide(decision: Decision): void {
    this.#waiting.decide(decision);
  }

  wake(wake: Wake): void {
    this.#waiting.wake(wake);
  }

  /** Whether the last activity has reported the run's success. After that not even a cancel changes the outcome. */
  get isEndReported(): boolean {
    return this.#isEndReported;
  }

  isDrained(): boolean {
    return this.#phase === 'draining' && this.#planner.open > 0;
  }

  snapshot(): ResumedRun {
    return { planner: this.#planner.snapshot(), ...this.#waiting.snapshot() };
  }

  end(): FinishRunInput {
    const base = { runId: this.#input.runId, sequence: FINISH_SEQUENCE };
    const isCancelled = this.#phase === 'cancelling' && !this.#isEndReported;
    // Open nodes without a failure mean a plan that cannot be finished. That is a bug, but it must end the run instead
    // of hanging it.
    if (!isCancelled && this.#planner.open > 0) this.#error ??= { code: 'stalled' };
    this.#planner.cancelOpen();
    this.#phase = 'finishing';
    setCurrentDetails(this.#progress());
    if (isCancelled) return { ...base, status: 'cancelled' };
    if (this.#error === undefined) return { ...base, status: 'succeed' };
    return { ...base, status: 'failed', error: this.#error };
  }

  #startReady(): void {
    this.#drainWhenFull();
    const ready: number[] = [];
    while (this.#phase === 'running' && this.#inFlight + ready.length < this.#input.maxInFlight) {
      const node = this.#planner.take();
      if (node === undefined) break;
      ready.push(node);
    }
    const works = this.#dense?.group(ready) ?? ready.map((node) => this.#single(node));
    for (const work of works) this.#start(work);
    setCurrentDetails(this.#progress());
    if (this.#inFlight === 0 && (this.#waiting.size === 0 || this.#phase === 'draining')) this.#wake();
  }

  /**
   * When history is near its limit, the run starts nothing more and waits for the nodes in flight. It then continues in
   * a new execution.
   */
  #drainWhenFull(): void {
    if (this.#phase === 'running' && workflowInfo().continueAsNewSuggested) this.#phase = 'draining';
  }

  #start(work: NodeWork): void {
    this.#inFlight += work.size;
    this.#nodes
      .run(() => work.run())
      .then(
        (end) => this.#settleWork(end),
        // A cancelled node stays open here. The end of the run closes it.
        (error: unknown) => (isCancellation(error) ? undefined : this.#failOrCatch(work.failedNode(error), error)),
      )
      .finally(() => {
        this.#inFlight -= work.size;
        this.#startReady();
      });
  }

  #settleWork({ isEnded, rest = [] }: WorkEnd): void {
    if (isEnded === true) this.#isEndReported = true;
    for (const left of rest) this.#start(left);
  }

  /** A failure that comes when the run is already being stopped is not caught: nothing follows it. */
  async #failOrCatch(node: number, error: unknown): Promise<void> {
    const code = failureCode(error);
    const taken = handleAfter(code, this.#input.plan, node);
    const isCaught = taken !== undefined && mayBeCaught(code) && this.#isGoingOn;
    if (isCaught && nodeFailureOf(error) === undefined) await this.#close(node, code);
    // Meanwhile the run may have been stopped.
    if (isCaught && this.#isGoingOn) this.#planner.survive(node, taken);
    else this.#fail(node, code);
  }

  get #isGoingOn(): boolean {
    return this.#phase === 'running' || this.#phase === 'draining';
  }

  async #close(node: number, code: string): Promise<void> {
    const key = { runId: this.#input.runId, path: '', nodeId: this.#input.plan.ids[node]! };
    await CancellationScope.nonCancellable(() => closeNode({ ...key, code }));
  }

  #fail(node: number, code: string): void {
    this.#planner.fail(node);
    this.#error ??= { code, node: { path: '', nodeId: this.#input.plan.ids[node]! } };
    this.#stop('failing');
  }

  /** Executes one node in the activity of its kind, or in the loop of an agent. */
  #single(node: number): NodeWork {
    const run = async (): Promise<WorkEnd> => {
      const facts = await this.#execute(node);
      this.#planner.succeed(node, facts.handle ?? 0, ...(facts.alsoHandles ?? []));
      return facts.isEnded === true ? { isEnded: true } : {};
    };
    return { size: 1, run, failedNode: () => node };
  }

  #execute(node: number): Promise<NodeFacts> {
    const { runId, plan } = this.#input;
    const kind = plan.kinds[node]!;
    const key = { runId, path: '', nodeId: plan.ids[node]! };
    const summary = toMarkdown(plan.labels[node]!);
    if (kind === 'agent') return this.#waiting.runAgent(node, { key, summary });
    if (kind === 'wait') {
      return this.#waiting.runWait(node, { key, summary, hasTimeoutLink: hasTimeoutWay(plan, node) });
    }
    const isLast = this.#planner.open === 1;
    return callNode(kind satisfies SingleStepKind, {
      node: isLast ? { ...key, endSequence: FINISH_SEQUENCE } : key,
      summary,
    });
  }

  readonly #ofWaits = {
    leaveSlot: (): void => {
      this.#inFlight--;
      this.#startReady();
    },
    takeSlot: (): void => void this.#inFlight++,
    isDraining: (): boolean => {
      this.#drainWhenFull();
      return this.#phase === 'draining';
    },
  };

  #stop(why: 'failing' | 'cancelling'): void {
    if (!this.#isGoingOn) return;
    this.#phase = why;
    this.#nodes.cancel();
    if (this.#inFlight === 0 && this.#waiting.size === 0) this.#wake();
  }

  readonly #toLive = (node: number): LiveNode => {
    const waiting = this.#waiting.waitingOf(node);
    return { id: this.#input.plan.ids[node]!, path: '', ...(waiting && { waiting }) };
  };

  #progress(): string {
    const { ids, labels } = this.#input.plan;
    const counts = `${this.#phase}: ${this.#planner.succeeded} of ${ids.length} nodes succeeded, ${this.#inFlight} in flight`;
    if (this.#waiting.size === 0) return counts;
    const shown = this.#waiting.nodes().slice(0, WAITING_SHOWN);
    const more = this.#waiting.size > shown.length ? ` and ${this.#waiting.size - shown.length} more` : '';
    return `${counts}\n\nWaiting: ${shown.map((node) => toMarkdown(labels[node]!)).join(', ')}${more}`;
  }
}
