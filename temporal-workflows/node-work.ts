/** What a run has in flight: one node, or with dense execution several that share an activity. */
export interface NodeWork {
  /** How many nodes of the run's bound it takes up. */
  size: number;
  /** Executes the nodes, and settles in the planner those that have succeeded. */
  run(): Promise<WorkEnd>;
  /** The node that `error`, with which `run` was rejected, has ended. Settles those before it. */
  failedNode(error: unknown): number;
}

export interface WorkEnd {
  /** The end of the run has been reported. */
  isEnded?: boolean;
  /** Nodes that have begun and continue by themselves. */
  rest?: NodeWork[];
}
