// What the run workflow and its activities say to each other, and so what stands in Temporal's history: ids, handles, codes
// and numbers, never contents.
import type { KindThatRuns, kinds } from '../graph/kinds.js';
import type { Handle, NodeKey } from '../graph/plan.js';
import type { ChainFacts, ChainRef } from './dense.js';

/** The trigger's activity reports the start of its run as update 1; the end of the run is the only other report. */
export const START_SEQUENCE = 1;
export const FINISH_SEQUENCE = 2;

/** To the activity of a node. */
export interface NodeRef extends NodeKey {
  /** Nothing else of the run is left: the activity reports the run's success with this number (`FinishRunInput.sequence`). */
  endSequence?: number;
}

/** From the activity of a node that has succeeded. */
export interface NodeFacts {
  /** By which named handle the node was left; its ordinary links where it is absent. */
  handle?: Handle;
  /** The end of the run has been reported. */
  isEnded?: boolean;
}

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
