import type { NodeKind } from './kinds.js';

/**
 * The handle by which a node is left: 0 is its ordinary links, and 1 and up are its kind's named handles in their order
 * (`kinds.ts`). An edge with handle 0 is always taken. Any other edge is taken when the node was left by its handle.
 */
export type Handle = number;

/**
 * What a run executes: the reachable part of the drawing as integer arrays, with the start as node 0. It is frozen when
 * the run is accepted. Temporal's history stores it, so it holds ids, kinds, labels and edges, never contents.
 */
export interface Plan {
  /** Node UUIDs. The index is the node's number everywhere in the engine. */
  ids: string[];
  kinds: NodeKind[];
  /** Labels of at most 60 characters, for the Temporal UI. */
  labels: string[];
  out: [to: number, handle: Handle][][];
  indegree: number[];
}

/** Identifies one execution of a node in a run. */
export interface NodeKey {
  runId: string;
  /** The enclosing iteration, such as `LOOP[3]/INNER[0]`; empty for nodes outside loops. */
  path: string;
  nodeId: string;
}
