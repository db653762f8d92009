// Dense execution: the messages between the run workflow and the activity that executes several nodes.
import type { Handle } from '../graph/plan.js';
import type { NodeFacts, NodeRef } from './nodes.js';

/** The nodes to execute after a node. */
export interface FollowingNodes {
  /** Node ids in the order of execution. */
  followers?: string[];
  /**
   * Set when the last of these nodes (or the node itself) is a condition: the nodes after each of its handles, starting
   * with handle 1.
   */
  forks?: FollowingNodes[];
}

/** The first node, and the nodes to execute concurrently with it and after it. */
export interface ChainRef extends NodeRef, FollowingNodes {
  /** Ids of nodes to execute concurrently with the first one. The following nodes come after all of them. */
  concurrent?: string[];
}

/** The progress of an activity. */
export interface ChainProgress {
  /** How many consecutive nodes have succeeded. The concurrent nodes at the beginning count as one. */
  done: number;
  /** The handles by which the conditions among them were left, in order. */
  handles: Handle[];
  /** The places of the concurrent nodes that have succeeded. Absent once all of them have. */
  concurrent?: number[];
  /** The place of the concurrent node that has failed. */
  failed?: number;
}

/** A node (its place among the concurrent nodes) that continues in an activity of its own after `afterMs`. */
export type Continuation = [place: number, afterMs: number];

/** The facts of the last node that was executed. */
export interface ChainFacts extends NodeFacts, Partial<Pick<ChainProgress, 'done' | 'handles'>> {
  /** The next node was attempted and continues in an activity of its own after this delay. */
  continueAfterMs?: number;
  /** The concurrent nodes that continue. The others have succeeded, and no following node has begun. */
  continuations?: Continuation[];
}
