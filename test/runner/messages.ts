// The messages between a lane (a process that runs test files) and the runner, over the channel between them.

export type ToLane =
  | { type: 'run'; file: string; grep: string | undefined }
  | { type: 'shared-stack'; at: SharedStackAt }
  | { type: 'no-shared-stack'; reason: string }
  | { type: 'end'; leakAfterMs: number };

export type FromLane = { type: 'ready' } | ({ type: 'ran' } & FileResult) | { type: 'wants-shared-stack' };

/** The location of the runner's one stack. */
export interface SharedStackAt {
  dataDir: string;
  /** The model provider that forwards calls to the providers of the lanes (harness/target/model-router.ts). */
  modelRouterUrl: string;
}

export interface FileResult {
  file: string;
  passes: number;
  failures: number;
  pending: number;
  /** Processor time of the lane and of its child processes that have ended; not of the shared stack. */
  cpuMs: number;
  /** Memory of the lane after the file, in MiB. */
  rssMb: number;
  /** The titles of the tests, as mocha's spec reporter shows them, and each failure with its stack. */
  output: string;
}
