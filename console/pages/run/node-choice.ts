/** A node of the run, in one of its iterations where it stands in a loop. */
export interface NodeChoice {
  nodeId: string;
  path: string;
}
