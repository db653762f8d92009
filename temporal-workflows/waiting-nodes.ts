import { condition, upsertSearchAttributes } from '@temporalio/workflow';
import type { WaitFacts } from '../contract/activities.js';
import type { NodeFacts } from '../contract/nodes.js';
import type { AgentCursor, Decision, ResumedRun, Waiting, Wake } from '../contract/run-workflow.js';
import { FIRST_STEP, runAgent, type AgentNode } from './agent-loop.js';
import { runWait } from './wait.js';

/** The interface of the run to its nodes that wait. */
export interface RunOfWaits {
  /** A node holds its slot no longer. The run starts what is ready. */
  leaveSlot(): void;
  /** A node that has waited goes on, and holds a slot again. */
  takeSlot(): void;
  /** Whether the run starts nothing more in this execution, and continues in a new one. */
  isDraining(): boolean;
}

const runStateKey = { name: 'RunState', type: 'KEYWORD' } as const;

/**
 * The nodes of a run that wait: for decisions, for a time, or for a callback. One that waits holds no slot of the run and
 * does not keep a drained run from continuing: the next execution continues from what is remembered here.
 */
export class WaitingNodes {
  readonly #run: RunOfWaits;
  readonly #agents: Map<number, AgentCursor>;
  readonly #decisions: Map<string, boolean>;
  readonly #waits: Map<number, WaitFacts>;
  /** Ids of the nodes that were woken. */
  readonly #woken: Set<string>;
  readonly #parked = new Map<number, Waiting>();

  constructor(run: RunOfWaits, resumed: ResumedRun | undefined) {
    this.#run = run;
    this.#agents = new Map(resumed?.agents);
    this.#decisions = new Map(resumed?.decisions);
    this.#waits = new Map(resumed?.waits);
    this.#woken = new Set(resumed?.woken);
  }

  /** The number of nodes that wait now. */
  get size(): number {
    return this.#parked.size;
  }

  /** Nodes that wait now. */
  nodes(): number[] {
    return [...this.#parked.keys()];
  }

  waitingOf(node: number): Waiting | undefined {
    return this.#parked.get(node);
  }

  /** Nodes that an earlier execution has begun. */
  begun(): number[] {
    return [...this.#agents.keys(), ...this.#waits.keys()];
  }

  /** The first decision counts. A decision that arrives before its request is kept. Never throws. */
  decide({ requestId, isApproved }: Decision): void {
    if (!this.#decisions.has(requestId)) this.#decisions.set(requestId, isApproved);
  }

  /** A node may be woken before it waits. */
  wake({ nodeId }: Wake): void {
    this.#woken.add(nodeId);
  }

  snapshot(): Omit<ResumedRun, 'planner'> {
    const awaited = new Set([...this.#agents.values()].flatMap(({ requests }) => requests));
    const waits = { waits: [...this.#waits], woken: [...this.#woken] };
    return {
      agents: [...this.#agents],
      decisions: [...this.#decisions].filter(([requestId]) => awaited.has(requestId)),
      ...(this.#waits.size + this.#woken.size > 0 && waits),
    };
  }

  async runAgent(node: number, agent: AgentNode): Promise<NodeFacts> {
    const host = {
      remember: (cursor: AgentCursor) => void this.#agents.set(node, cursor),
      gate: () => this.#gate(),
      decisions: (cursor: AgentCursor) => this.#decided(node, cursor),
    };
    try {
      await runAgent(host, agent, this.#agents.get(node) ?? FIRST_STEP);
    } finally {
      // Also after a failure, which the run may survive: a later execution must not continue a node that has ended.
      this.#agents.delete(node);
    }
    return {};
  }

  async runWait(node: number, wait: AgentNode & { hasTimeoutLink: boolean }): Promise<NodeFacts> {
    const { nodeId } = wait.key;
    const host = {
      remember: (begun: WaitFacts) => void this.#waits.set(node, begun),
      park: (waiting: Waiting) => this.#park(node, waiting, () => this.#woken.has(nodeId)),
      gate: async () => {
        await this.#gate();
        // Not before the gate: a run that continues in a new execution must know that the node was woken.
        this.#woken.delete(nodeId);
      },
    };
    try {
      return await runWait(host, wait, this.#waits.get(node));
    } finally {
      this.#waits.delete(node);
      this.#woken.delete(nodeId);
    }
  }

  #decided(node: number, { requests, deadlineMs }: AgentCursor): Promise<void> {
    const isDecided = () => requests.every((requestId) => this.#decisions.has(requestId));
    return this.#park(node, { for: 'approval', untilMs: deadlineMs }, isDecided);
  }

  /** Nodes of a draining run stop here for good. The next execution continues from what is remembered. */
  #gate(): Promise<void> {
    if (!this.#run.isDraining()) return Promise.resolve();
    this.#run.leaveSlot();
    return new Promise(() => undefined);
  }

  /** Resolves when `isOver` says so, or at the time. */
  async #park(node: number, waiting: Waiting, isOver: () => boolean): Promise<void> {
    if (isOver()) return;
    this.#change(() => this.#parked.set(node, waiting));
    try {
      this.#run.leaveSlot();
      await condition(isOver, Math.max(1, waiting.untilMs - Date.now()));
    } finally {
      this.#change(() => this.#parked.delete(node));
      this.#run.takeSlot();
    }
  }

  /** Operators filter by `RunState`. Each change of it costs one history event. */
  #change(change: () => unknown): void {
    const before = this.#runState();
    change();
    const after = this.#runState();
    if (before !== after) upsertSearchAttributes([{ key: runStateKey, value: after }]);
  }

  /** A person's decision comes first: it is what operators look for. */
  #runState(): 'approval' | 'running' | 'waiting' {
    if (this.#parked.size === 0) return 'running';
    return [...this.#parked.values()].some((waiting) => waiting.for === 'approval') ? 'approval' : 'waiting';
  }
}
