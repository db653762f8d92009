// Dense execution: what the run workflow and the activity that executes several nodes say to each other.
import type { Handle } from '../graph/plan.js';
import type { NodeFacts, NodeRef } from './nodes.js';

/** What to execute after a node. */
export interface FollowingNodes {
  /** Ids, one after the other. */
  followers?: string[];
  /** The last of them (or the node itself) is a condition: what follows each of its handles, the first being handle 1. */
  forks?: FollowingNodes[];
}

/** The first node, and what to execute concurrently with it and after it. */
export interface ChainRef extends NodeRef, FollowingNodes {
  /** Ids of nodes to execute concurrently with the first one. What follows, follows all of them. */
  concurrent?: string[];
}

/** How far an activity has come. */
export interface ChainProgress {
  /** How many nodes have succeeded one after the other; concurrent ones at the beginning count as one. */
  done: number;
  /** By which handles the conditions among them were left, in their order. */
  handles: Handle[];
  /** Which of the concurrent ones have succeeded, by their place, while not all of them have. */
  concurrent?: number[];
  /** Which of the concurrent ones has failed. */
  failed?: number;
}

/** A node, by its place among the concurrent ones, that continues in an activity of its own, after so many milliseconds. */
export type Continuation = [place: number, afterMs: number];

/** About the last node that was executed, where there were several. */
export interface ChainFacts extends NodeFacts, Partial<Pick<ChainProgress, 'done' | 'handles'>> {
  /** The node after those that are done was attempted, and continues in an activity of its own after this long. */
  continueAfterMs?: number;
  /** The concurrent nodes that continue; the others have succeeded, and nothing after them has begun. */
  continuations?: Continuation[];
}
