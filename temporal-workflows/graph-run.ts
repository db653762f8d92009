import {
  CancellationScope,
  condition,
  isCancellation,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { FinishRunInput, RunError } from '../contract/activities.js';
import { FINISH_SEQUENCE, type NodeFacts } from '../contract/nodes.js';
import {
  toMarkdown,
  type AgentCursor,
  type Decision,
  type LiveNode,
  type ResumedRun,
  type RunGraphInput,
  type RunStatusAnswer,
  type Waiting,
} from '../contract/run-workflow.js';
import { mayBeCaught } from '../graph/caught.js';
import { callNode, closeNode, type SingleStepKind } from './activity-options.js';
import { FIRST_STEP, runAgent } from './agent-loop.js';
import { createDenseExecution, type DenseExecution } from './dense/dense-execution.js';
import { failureCode, nodeFailureOf } from './node-failure.js';
import type { NodeWork, WorkEnd } from './node-work.js';
import { Planner } from './planner.js';

const runStateKey = { name: 'RunState', type: 'KEYWORD' } as const;

/**
 * The scheduler of one run. It keeps the nodes in flight, the agents that wait, the phase (whether more nodes may
 * start) and the first failure.
 */
export class GraphRun {
  readonly #input: RunGraphInput;
  readonly #planner: Planner;
  readonly #dense: DenseExecution | undefined;
  readonly #nodes = new CancellationScope({ cancellable: true });
  readonly #agents: Map<number, AgentCursor>;
  readonly #decisions: Map<string, boolean>;
  /** Nodes that wait. They hold no slot and do not keep a drained run from continuing. */
  readonly #waiting = new Map<number, Waiting>();
  #phase: RunStatusAnswer['phase'] = 'running';
  #inFlight = 0;
  #error: RunError | undefined;
  #isEndReported = false;
  #wake: () => void = () => undefined;

  constructor(input: RunGraphInput) {
    this.#input = input;
    this.#planner = new Planner(input.plan, input.resumed?.planner);
    this.#dense = createDenseExecution(input, this.#planner, (node) => this.#single(node));
    this.#agents = new Map(input.resumed?.agents);
    this.#decisions = new Map(input.resumed?.decisions);
  }

  /** Resolves when nothing is in flight and this execution starts nothing more. */
  async settle(): Promise<void> {
    const idle = new Promise<void>((resolve) => (this.#wake = resolve));
    CancellationScope.current().cancelRequested.catch(() => this.#stop('cancelling'));
    for (const [node] of this.#input.resumed?.agents ?? []) this.#start(this.#single(node));
    this.#startReady();
    await idle;
  }

  status(): RunStatusAnswer {
    return { phase: this.#phase, states: this.#planner.states(), live: this.#planner.running().map(this.#toLive) };
  }

  /** The first decision counts. A decision that arrives before its request is kept. Never throws. */
  decide({ requestId, isApproved }: Decision): void {
    if (!this.#decisions.has(requestId)) this.#decisions.set(requestId, isApproved);
  }

  /** Whether the last activity has reported the run's success. After that not even a cancel changes the outcome. */
  get isEndReported(): boolean {
    return this.#isEndReported;
  }

  isDrained(): boolean {
    return this.#phase === 'draining' && this.#planner.open > 0;
  }

  snapshot(): ResumedRun {
    const awaited = new Set([...this.#agents.values()].flatMap(({ requests }) => requests));
    return {
      planner: this.#planner.snapshot(),
      agents: [...this.#agents],
      decisions: [...this.#decisions].filter(([requestId]) => awaited.has(requestId)),
    };
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
    const taken = this.#input.plan.caught?.[node];
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
    if (kind === 'agent') return this.#runAgent(node, { key, summary });
    const isLast = this.#planner.open === 1;
    return callNode(kind satisfies SingleStepKind, {
      node: isLast ? { ...key, endSequence: FINISH_SEQUENCE } : key,
      summary,
    });
  }

  async #runAgent(node: number, agent: Parameters<typeof runAgent>[1]): Promise<NodeFacts> {
    const host = {
      remember: (cursor: AgentCursor) => void this.#agents.set(node, cursor),
      gate: () => this.#gate(),
      decisions: (cursor: AgentCursor) => this.#decided(node, cursor),
    };
    await runAgent(host, agent, this.#agents.get(node) ?? FIRST_STEP);
    this.#agents.delete(node);
    return {};
  }

  /** Agents of a draining run stop here for good. The next execution continues from their cursors. */
  #gate(): Promise<void> {
    this.#drainWhenFull();
    if (this.#phase !== 'draining') return Promise.resolve();
    this.#inFlight--;
    this.#startReady();
    return new Promise(() => undefined);
  }

  async #decided(node: number, { requests, deadlineMs }: AgentCursor): Promise<void> {
    const isDecided = () => requests.every((requestId) => this.#decisions.has(requestId));
    if (isDecided()) return;
    this.#inFlight--;
    this.#changeWaiting(() => this.#waiting.set(node, { for: 'approval', untilMs: deadlineMs }));
    try {
      this.#startReady();
      await condition(isDecided, Math.max(1, deadlineMs - Date.now()));
    } finally {
      this.#changeWaiting(() => this.#waiting.delete(node));
      this.#inFlight++;
    }
  }

  /** Operators filter by `RunState`. Each change of it costs one history event. */
  #changeWaiting(change: () => unknown): void {
    const before = this.#waiting.size > 0;
    change();
    const after = this.#waiting.size > 0;
    if (before !== after) upsertSearchAttributes([{ key: runStateKey, value: after ? 'approval' : 'running' }]);
  }

  #stop(why: 'failing' | 'cancelling'): void {
    if (!this.#isGoingOn) return;
    this.#phase = why;
    this.#nodes.cancel();
    if (this.#inFlight === 0 && this.#waiting.size === 0) this.#wake();
  }

  readonly #toLive = (node: number): LiveNode => {
    const waiting = this.#waiting.get(node);
    return { id: this.#input.plan.ids[node]!, path: '', ...(waiting && { waiting }) };
  };

  #progress(): string {
    const { ids, labels } = this.#input.plan;
    const counts = `${this.#phase}: ${this.#planner.succeeded} of ${ids.length} nodes succeeded, ${this.#inFlight} in flight`;
    if (this.#waiting.size === 0) return counts;
    const waiting = [...this.#waiting.keys()].map((node) => toMarkdown(labels[node]!));
    return `${counts}\n\nWaiting for approval: ${waiting.join(', ')}`;
  }
}
