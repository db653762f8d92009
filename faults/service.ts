import type { Outside } from './shapes.js';

/** The address of the service and the key for clients. */
export interface Service {
  apiUrl: string;
  apiKey: string;
}

/** The service to which faults are applied, on one machine or on several hosts. */
export interface Struck extends Service {
  outside: Outside;
  /** Counts the calls of nodes that have reached the outside so far, by the key of the `ExpectedCall`. */
  countCalls: () => Record<string, number>;
  query: <Row>(text: string, values?: unknown[]) => Promise<Row[]>;
  /** The process ids of its parts, by name. A part that was restarted has a new id. */
  pids: () => Partial<Record<string, number>>;
  /** Undoes the changes of a fault that failed halfway. */
  heal: () => void | Promise<void>;
  /** Returns false if the service has ended, so that no further row can be played. */
  isRunning: () => boolean;
  /** The directory of data and logs. */
  readonly folder: string;
  /** Rejects if a process is left behind. `keep` retains the directory. */
  close: (options: { keep: boolean }) => Promise<void>;
}
