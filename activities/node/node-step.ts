// The types shared by the frame around nodes and the kinds of nodes.
import type { Charge } from './failures.js';
import type { Isolation } from './isolation.js';
import type { RunContext, RunContexts, RunNode } from './run-context.js';
import type { Logger } from '../../telemetry/logger.js';
import type { AnsweredCall } from '../../db/agents/agent-charges.js';
import type { Database } from '../../db/core/client.js';
import type { NodeClaim, NodeEndRow } from '../../db/nodes/node-results-repository.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { NodeKind } from '../../graph/kinds.js';
import type { Handle, NodeKey } from '../../graph/plan.js';
import type { NodeOutput } from '../../graph/template.js';
import type { ByteBudget, ByteLease } from '../../memory/byte-budget.js';
import type { WorkerMetrics } from '../worker/worker-metrics.js';

export interface NodeDeps {
  db: Database;
  secretBox: SecretBox;
  contexts: RunContexts;
  /** The memory budget that the nodes of all runs share. */
  memory: ByteBudget;
  logger: Logger;
  metrics: WorkerMetrics;
  /** Identifies this process in the claims of nodes. */
  workerId: string;
  isolation: Isolation;
}

export interface NodeOutcome {
  output: NodeOutput;
  /** The output for readers, where it contains more secrets than the masker can find. */
  publicOutput?: NodeOutput;
  /** The named handle by which the node is left. */
  handle?: Handle;
  /** Further handles by which it is left. */
  alsoHandles?: Handle[];
  charge?: Charge;
}

export interface NodeTask extends NodeKey {
  run: RunContext;
  node: RunNode;
  /** Aborted when the run is cancelled or the worker must stop (stop-signal.ts). */
  signal: AbortSignal;
  /** This node's lease on the worker's memory budget. */
  memory: ByteLease;
  /** The time at which this attempt began, by `performance.now()`. */
  startedAt: number;
  /** The number of this attempt by the node's claim, under which readers find it; 1 for a node that is executed without one. */
  attempt: number;
}

/** The frame around a node knows this of its beginning. */
export interface NodeBeginning {
  /** Aborted when another node of the same activity has failed, and nothing has caught that. */
  givenUp?: AbortSignal | undefined;
  /** When the node became ready, in milliseconds since the epoch. The default is the time at which its activity was scheduled. */
  readyAtMs?: number | undefined;
}

export interface NodeKindRunner extends Pick<NodeStep<unknown>, 'chargeSoFar' | 'store'> {
  kind: NodeKind;
  /** The limit on attempts, including the first one. Those that ended with their worker do not count. */
  maxAttempts: number;
  /**
   * Delay before the second attempt. It doubles with each retry, unless the other side asks for a certain delay. The
   * node's own `retry` takes precedence over this and over `maxAttempts`.
   */
  firstDelayMs: number;
  execute(task: NodeTask): Promise<NodeOutcome>;
}

/** The work that an activity does for a node: all of it (`NodeKindRunner`), or one of several steps (agents). */
export interface NodeStep<Facts> {
  /** Names the step of a node that takes several activities; absent for other nodes. */
  name?: string;
  maxAttempts: number;
  firstDelayMs: number;
  /** Returns the number of this attempt. */
  attemptOf(claim: NodeClaim): number;
  /** Returns the facts of a node that an earlier attempt has settled. */
  settled(claim: NodeClaim): Facts;
  /** Does the work; `end` records the node as succeeded. */
  perform(task: NodeTask, end: (outcome: NodeOutcome) => Promise<void>): Promise<Facts>;
  /** Returns the cost of the node's earlier steps or calls. */
  chargeSoFar?: (task: NodeTask) => Promise<Charge>;
  /** Whether the run survives a failure with this code, whatever the node's `on_error` says. */
  survives?: (code: string) => boolean;
  /** Stores the node's end, by default with `recordNodeEnd`. Returns false for a repeat. */
  store?: (end: NodeEndRow, answered: AnsweredCall | undefined) => Promise<boolean>;
}
