/** A unit of work in flight: one node or, with dense execution, several nodes that share an activity. */
export interface NodeWork {
  /** The number of nodes that it adds to the run's nodes in flight. */
  size: number;
  /** Executes the nodes, and settles those that have succeeded in the planner. */
  run(): Promise<WorkEnd>;
  /** Returns the node that failed with `error`, the reason why `run` was rejected. Settles the nodes before it. */
  failedNode(error: unknown): number;
}

export interface WorkEnd {
  /** Whether the end of the run has been reported. */
  isEnded?: boolean;
  /** Nodes that have begun and continue as work of their own. */
  rest?: NodeWork[];
}
