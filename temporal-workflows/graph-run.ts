import {
  ActivityFailure,
  CancellationScope,
  condition,
  isCancellation,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { FinishRunInput } from '../activities/finish-run.js';
import type { Branch } from '../graph/plan.js';
import { runNodeOfKind, tryNodeLocally } from './activity-options.js';
import { FIRST_STEP, runAgent } from './agent-loop.js';
import { nodeFailureOf } from './node-failure.js';
import {
  toMarkdown,
  type AgentCursor,
  type Decision,
  type ResumedRun,
  type RunGraphInput,
  type RunStatusAnswer,
} from './messages.js';
import { Planner } from './planner.js';

/** The trigger's activity reports the start as update 1; the end of the run is the only other report. */
const FINISH_SEQUENCE = 2;
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
    for (const [node] of this.#input.resumed?.agents ?? []) this.#start(node);
    this.#startReady();
    await idle;
  }

  status(): RunStatusAnswer {
    return { phase: this.#phase, states: this.#planner.states() };
  }

  /** The first answer counts. One that comes before the run knows of the request is kept. Never throws. */
  decide({ requestId, isApproved }: Decision): void {
    if (!this.#decisions.has(requestId)) this.#decisions.set(requestId, isApproved);
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
    const isCancelled = this.#phase === 'cancelling';
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
    while (this.#phase === 'running' && this.#inFlight < this.#input.maxInFlight) {
      const node = this.#planner.take();
      if (node === undefined) break;
      this.#start(node);
    }
    setCurrentDetails(this.#progress());
    if (this.#inFlight === 0 && (this.#waiting === 0 || this.#phase === 'draining')) this.#wake();
  }

  /** History is near its limit: start nothing more, let what is in flight settle, then go on in a new execution. */
  #drainWhenFull(): void {
    if (this.#phase === 'running' && workflowInfo().continueAsNewSuggested) this.#phase = 'draining';
  }

  #start(node: number): void {
    this.#inFlight++;
    this.#nodes
      .run(() => this.#run(node))
      .then(
        (branch) => this.#planner.succeed(node, branch),
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

  async #run(node: number): Promise<Branch> {
    const { runId, plan } = this.#input;
    const kind = plan.kinds[node]!;
    const call = { runId, nodeId: plan.ids[node]!, summary: toMarkdown(plan.labels[node]!) };
    if (kind !== 'agent') {
      const isLocal = this.#isLocal(node);
      const facts = isLocal ? await tryNodeLocally(kind, { ...call, isFirst: isFirstTask() }) : undefined;
      return (facts ?? (await runNodeOfKind[kind]({ ...call, isFirst: !isLocal && isFirstExecution() }))).branch ?? 0;
    }
    const host = {
      remember: (cursor: AgentCursor) => void this.#agents.set(node, cursor),
      gate: () => this.#gate(),
      decisions: (cursor: AgentCursor) => this.#decided(cursor),
    };
    await runAgent(host, call, this.#agents.get(node) ?? FIRST_STEP);
    this.#agents.delete(node);
    return 0;
  }

  #isLocal(node: number): boolean {
    return this.#input.local?.charAt(node) === '1';
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

/** Its history has three events: no other worker has had a workflow task of this run. */
function isFirstTask(): boolean {
  return workflowInfo().historyLength <= 3;
}

/** Neither continued nor reset by an operator: what this execution has not begun was never begun. */
function isFirstExecution(): boolean {
  const { runId, firstExecutionRunId } = workflowInfo();
  return runId === firstExecutionRunId;
}

function failureCode(error: unknown): string {
  const failure = nodeFailureOf(error);
  if (failure !== undefined) return failure.type ?? 'internal_error';
  // No failure of ours means that Temporal gave up on the activity (time-outs).
  return error instanceof ActivityFailure ? 'timeout' : 'internal_error';
}
