// Holds the waiting nodes of a run, wakes them, and snapshots them for the next execution.
import { condition, upsertSearchAttributes } from '@temporalio/workflow';
import type { ChildToStart, NodeFacts, WaitFacts, Walked } from '../contract/activities.js';
import { nodePlace } from '../contract/node-names.js';
import type { AgentCursor, Decision, ResumedRun, Waiting, Wake } from '../contract/run-workflow.js';
import { FIRST_STEP, runAgent, type AgentNode } from './agent-loop.js';
import { ChildRuns } from './child-runs.js';
import type { ScopeNode } from './scope.js';
import { leavesAtTimeout } from '../graph/plan.js';
import { runWait, type WaitNode } from './wait.js';

export interface RunOfWaits {
  /** Releases the node's slot; the run then starts ready nodes. */
  leaveSlot(): void;
  /** A node that has waited continues and takes a slot again. */
  takeSlot(): void;
  /** True if the run starts nothing more in this execution and will continue as new. */
  isDraining(): boolean;
  /** Called if an agent belongs to another pool (`Walked.isElsewhere`). The run then asks for the pool of each node. */
  isElsewhere(): void;
}

const runStateKey = { name: 'RunState', type: 'KEYWORD' } as const;

/** A node, and the state from which a later execution continues it. */
interface Started<State> {
  path: string;
  node: number;
  state: State;
}

interface Parked {
  waiting: Waiting;
  label: string;
}

/**
 * The nodes of a run that wait: for decisions, a time, a callback, a person, a sign-in or another run. A waiting node
 * holds no slot of the run and doesn't keep a drained run open: the next execution continues it from the state stored
 * here.
 */
export class WaitingNodes {
  readonly #run: RunOfWaits;
  // The keys of these maps are made by `keyOf`.
  readonly #agents: Map<string, Started<AgentCursor>>;
  readonly #waits: Map<string, Started<WaitFacts>>;
  readonly #parked = new Map<string, Parked>();
  readonly #children = new ChildRuns();
  /** The decisions by the id of their approval request; true if approved. */
  readonly #decisions: Map<string, boolean>;
  /** The nodes that were woken, by `nodePlace`. */
  readonly #woken: Set<string>;

  constructor(run: RunOfWaits, resumed: ResumedRun | undefined) {
    this.#run = run;
    this.#agents = toStarted(resumed?.agents);
    this.#waits = toStarted(resumed?.waits);
    this.#decisions = new Map(resumed?.decisions);
    this.#woken = new Set(resumed?.woken);
  }

  /** The number of nodes that wait now. */
  get size(): number {
    return this.#parked.size;
  }

  labels(most: number): string[] {
    return [...this.#parked.values()].slice(0, most).map(({ label }) => label);
  }

  waitingOf(path: string, node: number): Waiting | undefined {
    return this.#parked.get(keyOf(path, node))?.waiting;
  }

  /** Returns the nodes of the scope that an earlier execution started. */
  started(path: string): number[] {
    return [...this.#agents.values(), ...this.#waits.values()].flatMap((of) => (of.path === path ? [of.node] : []));
  }

  /** The first decision about a request counts, and may arrive before the request. Never throws. */
  decide({ requestId, isApproved }: Decision): void {
    if (!this.#decisions.has(requestId)) this.#decisions.set(requestId, isApproved);
  }

  /** A node may be woken before it waits. */
  wake(wake: Wake): void {
    this.#woken.add(nodePlace(wake));
  }

  snapshot(): Pick<ResumedRun, 'agents' | 'decisions' | 'waits' | 'woken'> {
    const awaited = new Set([...this.#agents.values()].flatMap(({ state }) => state.requests));
    const waits = { waits: fromStarted(this.#waits), woken: [...this.#woken] };
    return {
      agents: fromStarted(this.#agents),
      decisions: [...this.#decisions].filter(([requestId]) => awaited.has(requestId)),
      ...(this.#waits.size + this.#woken.size > 0 && waits),
    };
  }

  async runAgent(place: ScopeNode, agent: AgentNode): Promise<Walked> {
    const { scope, node } = place;
    const key = keyOf(scope.path, node);
    const name = nodePlace(agent.key);
    const host = {
      remember: (state: AgentCursor) => void this.#agents.set(key, { path: scope.path, node, state }),
      gate: () => this.#gate(),
      decisions: (cursor: AgentCursor) => this.#decided(place, cursor),
      connected: (wait: WaitFacts) => this.#untilConnected(place, wait),
      startRun: (child: ChildToStart) => this.#children.start(child),
      isElsewhere: () => this.#run.isElsewhere(),
      runEnded: async (untilMs: number) => {
        await this.#park(place, { for: 'child', untilMs }, () => this.#woken.has(name));
        await this.#goOn(name);
      },
    };
    try {
      return await runAgent(host, agent, this.#agents.get(key)?.state ?? FIRST_STEP);
    } finally {
      // Forget a failed node, too: the run may survive its failure, and a later execution must not continue the node.
      this.#agents.delete(key);
      this.#woken.delete(name);
    }
  }

  async runWait(place: ScopeNode, wait: WaitNode): Promise<NodeFacts> {
    const { scope, node } = place;
    const key = keyOf(scope.path, node);
    const name = nodePlace(wait.key);
    const host = {
      remember: (state: WaitFacts) => void this.#waits.set(key, { path: scope.path, node, state }),
      park: (waiting: Waiting) => this.#park(place, waiting, () => this.#woken.has(name)),
      startRun: (child: ChildToStart) => this.#children.start(child),
      // Unlike an agent's gate, this one clears the wake, too.
      gate: () => this.#goOn(name),
    };
    try {
      const hasTimeoutLink = leavesAtTimeout(scope.plan, node);
      return await runWait(host, wait, { started: this.#waits.get(key)?.state, hasTimeoutLink });
    } finally {
      this.#waits.delete(key);
      this.#woken.delete(name);
    }
  }

  /**
   * Resolves when the node's connection is ready or was deleted, or at the end of the wait; the caller then starts the
   * node.
   */
  async waitForConnection(place: ScopeNode, wait: WaitFacts): Promise<void> {
    const { scope, node } = place;
    this.#waits.set(keyOf(scope.path, node), { path: scope.path, node, state: wait });
    try {
      await this.#untilConnected(place, wait);
    } finally {
      this.forget(place);
    }
  }

  /** Removes the wait of a node that has started, so that a later execution doesn't continue the wait. */
  forget({ scope, node }: ScopeNode): void {
    this.#waits.delete(keyOf(scope.path, node));
  }

  async #untilConnected(place: ScopeNode, wait: WaitFacts): Promise<void> {
    const name = nodePlace(place.scope.keyOf(place.node));
    if (wait.isOver !== true) await this.#park(place, wait, () => this.#woken.has(name));
    await this.#goOn(name);
  }

  #decided(place: ScopeNode, { requests, deadlineMs }: AgentCursor): Promise<void> {
    const isDecided = () => requests.every((requestId) => this.#decisions.has(requestId));
    return this.#park(place, { for: 'approval', untilMs: deadlineMs }, isDecided);
  }

  /** Nodes of a draining run stop here for good. The next execution continues them from their stored state. */
  #gate(): Promise<void> {
    if (!this.#run.isDraining()) return Promise.resolve();
    this.#run.leaveSlot();
    return new Promise(() => undefined);
  }

  /** Passes the gate, then clears the wake. The node then checks if its wait is over. */
  async #goOn(name: string): Promise<void> {
    await this.#gate();
    // Clear the wake only after the gate: if the run continues as new, its snapshot must contain the wake.
    this.#woken.delete(name);
  }

  /** Resolves when `isOver` returns true, or at `waiting.untilMs`. */
  async #park({ scope, node }: ScopeNode, waiting: Waiting, isOver: () => boolean): Promise<void> {
    if (isOver()) return;
    const key = keyOf(scope.path, node);
    this.#change(() => this.#parked.set(key, { waiting, label: scope.plan.labels[node]! }));
    try {
      this.#run.leaveSlot();
      await condition(isOver, Math.max(1, waiting.untilMs - Date.now()));
    } finally {
      this.#change(() => this.#parked.delete(key));
      this.#run.takeSlot();
    }
  }

  /** Operators filter by `RunState`. Each change costs one history event, so only real changes are written. */
  #change(change: () => unknown): void {
    const before = this.#runState();
    change();
    const after = this.#runState();
    if (before !== after) upsertSearchAttributes([{ key: runStateKey, value: after }]);
  }

  /** Approvals and human tasks come first, because operators look for them. */
  #runState(): 'approval' | 'human' | 'running' | 'waiting' {
    if (this.#parked.size === 0) return 'running';
    const reasons = new Set([...this.#parked.values()].map(({ waiting }) => waiting.for));
    if (reasons.has('approval')) return 'approval';
    return reasons.has('human') ? 'human' : 'waiting';
  }
}

function keyOf(path: string, node: number): string {
  return `${path}#${node}`;
}

type Listed<State> = [node: number, state: State, path?: string];

function toStarted<State>(listed: Listed<State>[] = []): Map<string, Started<State>> {
  return new Map(listed.map(([node, state, path = '']) => [keyOf(path, node), { path, node, state }]));
}

function fromStarted<State>(started: ReadonlyMap<string, Started<State>>): Listed<State>[] {
  return [...started.values()].map(({ path, node, state }) => (path === '' ? [node, state] : [node, state, path]));
}
