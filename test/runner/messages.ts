// What a lane (a process that runs test files) and the runner say to each other over the channel between them.

export type ToLane =
  | { type: 'run'; file: string; grep: string | undefined }
  | { type: 'shared-stack'; at: SharedStackAt }
  | { type: 'no-shared-stack'; reason: string }
  | { type: 'end'; leakAfterMs: number };

export type FromLane = { type: 'ready' } | ({ type: 'ran' } & FileResult) | { type: 'wants-shared-stack' };

/** Where the runner's one stack is to be found. */
export interface SharedStackAt {
  dataDir: string;
  /** Of the model provider that asks each lane's own (harness/target/model-router.ts). */
  modelRouterUrl: string;
}

export interface FileResult {
  file: string;
  passes: number;
  failures: number;
  pending: number;
  /** Processor time of the lane and of what it has started and stopped; not of the shared stack. */
  cpuMs: number;
  /** Memory of the lane after the file. */
  rssMb: number;
  /** The titles of the tests, as mocha's spec reporter shows them, and each failure with its stack. */
  output: string;
}
