import {
  ActivityFailure,
  CancellationScope,
  condition,
  isCancellation,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { FinishRunInput } from '../activities/node/finish-run.js';
import type { DoneNodes } from '../activities/node/failures.js';
import type { FusedFacts } from '../activities/dense/fused-nodes.js';
import type { Branch } from '../graph/plan.js';
import { FIRST_STEP, runAgent } from './agent-loop.js';
import { besideEachOther } from './fusion.js';
import { begin, FINISH_SEQUENCE, goOn } from './node-activities.js';
import { doneBefore, nodeFailureOf } from './node-failure.js';
import {
  toMarkdown,
  type AgentCursor,
  type Decision,
  type LiveNode,
  type ResumedRun,
  type RunGraphInput,
  type RunStatusAnswer,
} from '../contract/run-workflow.js';
import { NodeState, Planner } from './planner.js';

const runStateKey = { name: 'RunState', type: 'KEYWORD' } as const;

/** The scheduler of one run: nodes in flight, agents that wait, why no more are started, and the first failure. */
export class GraphRun {
  readonly #input: RunGraphInput;
  readonly #planner: Planner;
  readonly #nodes = new CancellationScope({ cancellable: true });
  readonly #agents: Map<number, AgentCursor>;
  readonly #decisions: Map<string, boolean>;
  #phase: RunStatusAnswer['phase'] = 'running';
  #inFlight = 0;
  /** Agents that wait for approvals: they hold no slot and do not keep a drained run from going on. */
  #waiting = 0;
  #failed: { node: number; code: string } | undefined;
  #isEndReported = false;
  #wake: () => void = () => undefined;

  constructor(input: RunGraphInput) {
    this.#input = input;
    this.#planner = new Planner(input.plan, input.resumed?.planner);
    this.#agents = new Map(input.resumed?.agents);
    this.#decisions = new Map(input.resumed?.decisions);
  }

  /** Resolves when nothing is in flight and nothing more will be started in this execution. */
  async settle(): Promise<void> {
    const idle = new Promise<void>((resolve) => (this.#wake = resolve));
    CancellationScope.current().cancelRequested.catch(() => this.#stop('cancelling'));
    for (const [node] of this.#input.resumed?.agents ?? []) this.#start([node]);
    this.#startReady();
    await idle;
  }

  status(): RunStatusAnswer {
    const states = this.#planner.states();
    const live = Array.from(states).flatMap((state, node) =>
      Number(state) === NodeState.running ? this.#live(node) : [],
    );
    return { phase: this.#phase, states, live };
  }

  #live(node: number): LiveNode {
    const begun = { id: this.#input.plan.ids[node]!, path: '' };
    const { requests, deadlineMs } = this.#agents.get(node) ?? FIRST_STEP;
    const isWaiting = deadlineMs > Date.now() && requests.some((requestId) => !this.#decisions.has(requestId));
    return isWaiting ? { ...begun, waiting: { for: 'approval', untilMs: deadlineMs } } : begun;
  }

  /** The first answer counts. One that comes before the run knows of the request is kept. Never throws. */
  decide({ requestId, isApproved }: Decision): void {
    if (!this.#decisions.has(requestId)) this.#decisions.set(requestId, isApproved);
  }

  /** The last activity has told the end of the run, which is then its success: not even a cancel changes it. */
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
    const { runId, plan } = this.#input;
    const base = { runId, sequence: FINISH_SEQUENCE };
    const isCancelled = this.#phase === 'cancelling' && !this.#isEndReported;
    // Open nodes without a failure mean a plan that cannot go on: a bug, but one that must end the run, not hang it.
    if (!isCancelled && this.#planner.open > 0) this.#failed ??= { node: -1, code: 'stalled' };
    this.#planner.cancelOpen();
    this.#phase = 'finishing';
    setCurrentDetails(this.#progress());
    if (isCancelled) return { ...base, status: 'cancelled' };
    if (this.#failed === undefined) return { ...base, status: 'succeed' };
    const { node, code } = this.#failed;
    return { ...base, status: 'failed', error: { code, nodeId: plan.ids[node] } };
  }

  #startReady(): void {
    this.#drainWhenFull();
    const ready: number[] = [];
    while (this.#phase === 'running' && this.#inFlight + ready.length < this.#input.maxInFlight) {
      const node = this.#planner.take();
      if (node === undefined) break;
      ready.push(node);
    }
    for (const nodes of this.#byActivity(ready)) this.#start(nodes);
    setCurrentDetails(this.#progress());
    if (this.#inFlight === 0 && (this.#waiting === 0 || this.#phase === 'draining')) this.#wake();
  }

  /** History is near its limit: start nothing more, let what is in flight settle, then go on in a new execution. */
  #drainWhenFull(): void {
    if (this.#phase === 'running' && workflowInfo().continueAsNewSuggested) this.#phase = 'draining';
  }

  #byActivity(ready: number[]): number[][] {
    const { plan, local = '', isFused } = this.#input;
    return isFused === true ? besideEachOther(plan, local, ready) : ready.map((node) => [node]);
  }

  /** One node, or several side by side in one activity. `begun`: where another activity has left it. */
  #start(nodes: number[], begun?: FusedFacts): void {
    this.#inFlight += nodes.length;
    // Goes on to those that follow in the activity.
    const at = { node: nodes.at(-1)! };
    this.#nodes
      .run(() => (nodes.length === 1 ? this.#run(at, begun) : this.#runBeside(nodes, at)))
      .then(
        (branch) => branch !== undefined && this.#planner.succeed(at.node, branch),
        (error: unknown) => {
          // A cancelled node stays open here; the end of the run closes it.
          if (isCancellation(error)) return;
          this.#passDone(nodes, at, doneBefore(error));
          this.#planner.fail(at.node);
          this.#failed ??= { node: at.node, code: failureCode(error) };
          this.#stop('failing');
        },
      )
      .finally(() => {
        this.#inFlight -= nodes.length;
        this.#startReady();
      });
  }

  async #runBeside(nodes: number[], at: { node: number }): Promise<Branch | undefined> {
    const facts = await begin(this.#input, nodes, this.#planner.open);
    if (facts.undone === undefined) {
      this.#succeed(nodes.slice(0, -1));
      return this.#run(at, facts);
    }
    const left = new Map(facts.undone);
    this.#succeed(nodes.filter((_, place) => !left.has(place)));
    for (const [place, goOnAfterMs] of left) this.#start([nodes[place]!], { goOnAfterMs });
    return undefined;
  }

  #succeed(nodes: number[]): void {
    for (const node of nodes) this.#planner.succeed(node, 0);
  }

  /** To the node that the activity has failed with. */
  #passDone(nodes: number[], at: { node: number }, { done, branches, beside = [], failed }: DoneNodes): void {
    if (done > 0 || nodes.length === 1) {
      this.#succeed(nodes.slice(0, -1));
      this.#pass(at, done, branches);
      return;
    }
    const isDone = new Set(beside);
    const place = failed ?? nodes.findIndex((_, index) => !isDone.has(index));
    this.#succeed(nodes.filter((_, index) => isDone.has(index)));
    at.node = nodes[place]!;
  }

  async #run(at: { node: number }, begun?: FusedFacts): Promise<Branch> {
    if (this.#input.plan.kinds[at.node] === 'agent') return this.#runAgent(at.node);
    let facts = begun ?? (await begin(this.#input, [at.node], this.#planner.open));
    for (;;) {
      const { goOnAfterMs, done = goOnAfterMs === undefined ? 1 : 0, branches } = facts;
      // To the last that is done; or to the one after it, which is left undone.
      this.#pass(at, goOnAfterMs === undefined ? done - 1 : done, branches);
      if (goOnAfterMs === undefined) break;
      if (goOnAfterMs > 0) await sleep(goOnAfterMs);
      facts = await goOn(this.#input, at.node, this.#planner.open);
    }
    if (facts.isEnded === true) this.#isEndReported = true;
    return facts.branch ?? 0;
  }

  #pass(at: { node: number }, count: number, branches: Branch[] = []): void {
    const answers = [...branches];
    for (let passed = 0; passed < count; passed++) {
      const isDecision = this.#input.plan.kinds[at.node] === 'condition';
      at.node = this.#planner.pass(at.node, isDecision ? answers.shift()! : 0);
    }
  }

  async #runAgent(node: number): Promise<Branch> {
    const { runId, plan } = this.#input;
    const agent = { runId, nodeId: plan.ids[node]!, summary: toMarkdown(plan.labels[node]!) };
    const host = {
      remember: (cursor: AgentCursor) => void this.#agents.set(node, cursor),
      gate: () => this.#gate(),
      decisions: (cursor: AgentCursor) => this.#decided(cursor),
    };
    await runAgent(host, agent, this.#agents.get(node) ?? FIRST_STEP);
    this.#agents.delete(node);
    return 0;
  }

  /** A draining run parks its agents for good; the next execution goes on from their cursors. */
  #gate(): Promise<void> {
    this.#drainWhenFull();
    if (this.#phase !== 'draining') return Promise.resolve();
    this.#inFlight--;
    this.#startReady();
    return new Promise(() => undefined);
  }

  async #decided({ requests, deadlineMs }: AgentCursor): Promise<void> {
    const isDecided = () => requests.every((requestId) => this.#decisions.has(requestId));
    if (isDecided()) return;
    this.#inFlight--;
    this.#setWaiting(this.#waiting + 1);
    try {
      this.#startReady();
      await condition(isDecided, Math.max(1, deadlineMs - Date.now()));
    } finally {
      this.#setWaiting(this.#waiting - 1);
      this.#inFlight++;
    }
  }

  /** `RunState` is what operators filter by; one history event each time it changes. */
  #setWaiting(waiting: number): void {
    const [before, after] = [this.#waiting > 0, waiting > 0];
    this.#waiting = waiting;
    if (before !== after) upsertSearchAttributes([{ key: runStateKey, value: after ? 'approval' : 'running' }]);
  }

  #stop(why: 'failing' | 'cancelling'): void {
    if (this.#phase !== 'running' && this.#phase !== 'draining') return;
    this.#phase = why;
    this.#nodes.cancel();
    if (this.#inFlight === 0 && this.#waiting === 0) this.#wake();
  }

  #progress(): string {
    const { ids, labels } = this.#input.plan;
    const counts = `${this.#phase}: ${this.#planner.succeeded} of ${ids.length} nodes succeeded, ${this.#inFlight} in flight`;
    const waiting = [...this.#agents].filter(([, { requests }]) => requests.some((id) => !this.#decisions.has(id)));
    if (waiting.length === 0) return counts;
    return `${counts}\n\nWaiting for approval: ${waiting.map(([node]) => toMarkdown(labels[node]!)).join(', ')}`;
  }
}

function failureCode(error: unknown): string {
  const failure = nodeFailureOf(error);
  if (failure !== undefined) return failure.type ?? 'internal_error';
  // No failure of ours means that Temporal gave up on the activity (time-outs).
  return error instanceof ActivityFailure ? 'timeout' : 'internal_error';
}
