import type { NodeKind } from './kinds.js';

/**
 * By which way a node is left: 0 are its ordinary links, 1 and up its kind's named handles in their order (`kinds.ts`).
 * On an edge it says when the edge is taken: 0 always, otherwise when the node was left by that handle.
 */
export type Handle = number;

/**
 * What a run executes: the reachable part of the drawing as integer arrays, node 0 being the start. It is frozen when
 * the run is accepted, travels in Temporal's history and therefore holds ids, kinds, labels and edges, never contents.
 */
export interface Plan {
  /** Node UUIDs; the index is the node's number everywhere in the engine. */
  ids: string[];
  kinds: NodeKind[];
  /** At most 60 characters, for the Temporal UI. */
  labels: string[];
  out: [to: number, handle: Handle][][];
  indegree: number[];
}

/** One execution of a node in a run. */
export interface NodeKey {
  runId: string;
  /** The iteration that encloses it, such as `LOOP[3]/INNER[0]`; empty for nodes that no loop encloses. */
  path: string;
  nodeId: string;
}
