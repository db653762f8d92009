/** The node kinds of `data.nodes[].type`, by their file word. */
export type NodeKind = 'trigger' | 'condition' | 'llm' | 'http' | 'mcp' | 'agent';

/** Which way an edge is taken: 0 always, 1 when the condition is true, 2 when it is false. */
export type Branch = 0 | 1 | 2;

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
  out: [to: number, branch: Branch][][];
  indegree: number[];
}

/** One execution of a node in a run. */
export interface NodeKey {
  runId: string;
  /** The iteration that encloses it, such as `LOOP[3]/INNER[0]`; empty for nodes that no loop encloses. */
  path: string;
  nodeId: string;
}
