// What the frame around nodes and the kinds of nodes say to each other.
import type { Charge } from './failures.js';
import type { RunContext, RunContexts, RunNode } from './run-context.js';
import type { Logger } from '../../config/logger.js';
import type { Database } from '../../db/core/client.js';
import type { NodeClaim, NodeEnd as NodeEndRow } from '../../db/nodes/node-results-repository.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { NodeKind } from '../../graph/kinds.js';
import type { Handle, NodeKey } from '../../graph/plan.js';
import type { NodeOutput } from '../../graph/template.js';
import type { ByteBudget, ByteLease } from '../../outgoing/byte-budget.js';
import type { WorkerMetrics } from '../worker/worker-metrics.js';

export interface NodeDeps {
  db: Database;
  secretBox: SecretBox;
  contexts: RunContexts;
  /** What the nodes of all runs may keep in memory together. */
  memory: ByteBudget;
  logger: Logger;
  metrics: WorkerMetrics;
}

export interface NodeOutcome {
  output: NodeOutput;
  /** What readers get instead, where more of it is secret than the masker finds. */
  publicOutput?: NodeOutput;
  /** By which named handle the node is left. */
  handle?: Handle;
  charge?: Charge;
}

export interface NodeTask extends NodeKey {
  run: RunContext;
  node: RunNode;
  /** Aborted when the run is cancelled or the worker must stop: stop-signal.ts. */
  stop: AbortSignal;
  /** Aborted with it, and when a local attempt takes too long. */
  signal: AbortSignal;
  /** This node's part of the worker's memory. */
  memory: ByteLease;
  /** When this attempt began, by `performance.now()`. */
  startedAt: number;
}

export interface NodeKindRunner {
  kind: NodeKind;
  /** Attempts in all, the first included; attempts that a dying worker took down count. */
  maxAttempts: number;
  /** Delay before the second attempt; doubles after that, unless the other side says how long. */
  firstDelayMs: number;
  execute(task: NodeTask): Promise<NodeOutcome>;
}

/** What an activity does for a node: all of it (`NodeKindRunner`), or one step of several (agents). */
export interface NodeStep<Facts> {
  maxAttempts: number;
  firstDelayMs: number;
  /** Which attempt this is. */
  attemptOf(claim: NodeClaim): number;
  /** What to answer when an earlier attempt has settled the node. */
  settled(claim: NodeClaim): Facts;
  /** Does the work; `end` records the node as succeeded. */
  perform(task: NodeTask, end: (outcome: NodeOutcome) => Promise<void>): Promise<Facts>;
  /** Money that the node has spent in steps before this one. */
  chargeSoFar?: (task: NodeTask) => Promise<Charge>;
  /** Stores the node's end; by default `recordNodeEnd`. False for a repeat. */
  store?: (end: NodeEndRow) => Promise<boolean>;
}
