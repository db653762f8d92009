// The interface between an attempt (attempt.ts) and the kinds of nodes.
import type { NodeFacts } from '../../contract/activities.js';
import type { AnsweredCall } from '../../db/agents/agent-charges.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { NodeEndRow } from '../../db/nodes/node-results-repository.js';
import type { Handle, NodeKey } from '../../graph/plan.js';
import type { NodeOutput } from '../../graph/template.js';
import type { ByteBudget, ByteLease } from '../../memory/byte-budget.js';
import type { Logger } from '../../telemetry/logger.js';
import type { WorkerMetrics } from '../worker/worker-metrics.js';
import type { Charge } from './failures.js';
import type { Isolation } from './isolation.js';
import type { RunContext, RunContexts, RunNode } from './run-context.js';
import type { SharedWrites } from './shared-writes.js';

export interface NodeDeps {
  db: Database;
  writes: SharedWrites;
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

/** The key of a node, and everything that an attempt of the node works with. */
export interface NodeTask extends NodeKey {
  run: RunContext;
  node: RunNode;
  /** Aborted when the attempt must stop (stop-signal.ts). */
  signal: AbortSignal;
  memory: ByteLease;
  /** The start of this attempt by `performance.now()`. */
  startedAt: number;
  /** The attempt's number in `node_results`. Always 1 if the step is not claimed. */
  attempt: number;
}

export interface NodeOutcome {
  output: NodeOutput;
  /** The output that readers get. Set if `output` may contain secrets that the masker of the run cannot find. */
  publicOutput?: NodeOutput;
  /** The named handle by which the run leaves the node. Absent for the ordinary links. */
  handle?: Handle;
  /** Further handles by which the run leaves the node. */
  alsoHandles?: Handle[];
  charge?: Charge;
}

/** The part of a node's success that decides where the run continues. */
interface Handles {
  handle?: Handle;
  alsoHandles?: Handle[] | null;
}

interface Work {
  /**
   * The name of the step, by which its claims are told from those of the node's other steps (`ClaimedWork.step`). At
   * most one claimed step of a node has no name.
   */
  name?: string;
  /**
   * True if the node is claimed before the work starts. Work that only reads, or whose own writes are idempotent, needs
   * no claim: if it is repeated, the first recorded end counts.
   */
  isClaimed: boolean;
  /** Absent for work that is retried without a limit. */
  retry?: RetryDefaults;
  /** Returns the cost of the node's earlier steps or calls. */
  chargeSoFar?: (task: NodeTask) => Promise<Charge>;
  /** Returns true if the run survives a failure with this code, regardless of the node's `on_error`. */
  survives?: (code: string) => boolean;
  /** Stores the node's end. Returns false if the node or its run had ended. The default is `SharedWrites.recordEnd`. */
  store?: (end: NodeEndRow, answered: AnsweredCall | undefined) => Promise<boolean>;
}

/** The retry policy of a kind. The node's own `retry` takes precedence. */
export interface RetryDefaults {
  /** Includes the first attempt. Attempts that ended because their worker died or was stopped do not count. */
  maxAttempts: number;
  /**
   * The delay before the second attempt. It doubles with each retry, up to a minute, unless the other side requests a
   * delay.
   */
  firstDelayMs: number;
}

/** The work of a kind whose node is run by one activity. */
export interface NodeRunner extends Work {
  run(task: NodeTask): Promise<NodeOutcome>;
}

/** The work of one activity for a node: all of it, or one of several steps. */
export interface NodeStep<Facts> extends Work {
  /** Returns the outcome that ends the node, or `facts` if the node continues in another activity. */
  run(task: NodeTask): Promise<NodeOutcome | { facts: Facts }>;
  /**
   * Returns what the run workflow needs to know once the whole node has succeeded. `end` is the end that this attempt
   * or an earlier one has recorded. If the node continues in another activity, `run` returns the facts instead.
   */
  factsOf(end: Handles): Facts;
}

/** Returns the handles by which the run leaves a node that has succeeded; without handle 0, the ordinary exit. */
export function handlesOf({ handle = 0, alsoHandles = null }: Handles): NodeFacts {
  return { ...(handle !== 0 && { handle }), ...(alsoHandles !== null && { alsoHandles }) };
}
