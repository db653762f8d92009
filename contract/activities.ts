// What the run workflow and its activities say to each other, and so what stands in Temporal's history: ids, handles, codes
// and numbers, never contents.
import type { KindThatRuns, kinds } from '../graph/kinds.js';
import type { NodeKey } from '../graph/plan.js';
import type { ChainFacts, ChainRef } from './dense.js';
import type { NodeFacts, NodeRef } from './nodes.js';

/** To the activities of one turn of an agent. */
export interface TurnRef extends NodeKey {
  turn: number;
}

/** From the model call of one turn of an agent. */
export interface TurnFacts {
  next: 'final' | 'tools';
  /** Requests that the turn's tool calls wait for. */
  approvals: string[];
  /** Until they expire. */
  waitMs: number;
}

/** To the report of a run's end. */
export interface FinishRunInput {
  runId: string;
  /** Of the execution update: the endpoint applies a number once. */
  sequence: number;
  status: 'succeed' | 'failed' | 'cancelled';
  error?: RunError;
}

/** Why a run failed, and at which node; a stalled run has none. */
export interface RunError {
  code: string;
  node?: Pick<NodeKey, 'path' | 'nodeId'>;
}

type RunNode = (ref: NodeRef) => Promise<NodeFacts>;

/** By the names that operators see. Each kind that is one activity has its own (`KindTraits.activity`). */
export type NodeActivities = Record<(typeof kinds)[KindThatRuns<'activity' | 'inline'>]['activity'], RunNode>;

export interface Activities extends NodeActivities {
  agentTurn: (ref: TurnRef) => Promise<TurnFacts>;
  agentTools: (ref: TurnRef) => Promise<void>;
  finishRun: (end: FinishRunInput) => Promise<void>;
  /** Dense execution only: several nodes in one activity. */
  nodeChain: (ref: ChainRef) => Promise<ChainFacts>;
}
