import type { NodeKind } from './kinds.js';

/**
 * The handle by which a node is left, and by which its edges are taken: 0 is its ordinary links, and 1 and up are its
 * kind's named handles in their order (`kinds.ts`).
 */
export type Handle = number;

/** The handle of the first item that the node's own data lists (`KindTraits.handlesFrom`). The others follow it. */
export const FIRST_LISTED_HANDLE = 100;
export const MAX_LISTED_HANDLES = 50;
/** The link `error_node`, which is taken after a failure that is caught (`on_error: "branch"`). Every kind has it. */
export const ERROR_HANDLE = 1000;

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
  /**
   * The nodes whose failure the run survives, each with the handle that is taken then: 0 (`on_error: "continue"`) or
   * `ERROR_HANDLE` (`"branch"`). Absent where there are none.
   */
  caught?: Record<number, Handle>;
  /** The nodes that start with the first of their incoming edges that is taken (`join: "any"`). Absent likewise. */
  joinsAny?: number[];
}

/** Identifies one execution of a node in a run. */
export interface NodeKey {
  runId: string;
  /** The enclosing iteration, such as `LOOP[3]/INNER[0]`; empty for nodes outside loops. */
  path: string;
  nodeId: string;
}
