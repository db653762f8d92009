// What a benchmark writes down. Figures of rounds stay apart, so that a reader sees how far they lie from each other.
import type { HistorySize } from './histories.js';
import type { Part } from './processes.js';
import type { SubjectName } from './subjects.js';

/**
 * How the service places its nodes: `normal` forces every call into normal activities, which calls in a row share; `alone`
 * into one of its own; `quick` leaves the choice to the service (after warm-up it knows these calls as quick), `local`
 * forces local ones.
 */
export const VARIANTS = ['normal', 'alone', 'quick', 'local'] as const;
export type Variant = (typeof VARIANTS)[number];

export interface Results {
  measuredAt: string;
  machine: Machine;
  settings: { rounds: number; seconds: number; variants: Variant[]; only: string[]; env: Record<string, string> };
  throughput: Throughput[];
  nodes: NodesCost[];
  polls: PollLatencies[];
  kills: Kill[];
  memory: Memory[];
  limits: Limit[];
}

export interface Machine {
  cores: number;
  model: string;
  memoryGib: number;
  platform: string;
  node: string;
  /** Of the last minute when the benchmark began: what else the machine was doing. */
  loadBefore: number;
}

/** Which subject, in which variant's stack. */
export interface Measured {
  variant: Variant;
  subject: SubjectName;
}

export interface Throughput extends Measured {
  row: string;
  lanes: number;
  calls: number;
  jobs: number;
  pollsPerJob: number;
  /** One figure a round. */
  perSecond: number[];
  p50Ms: number[];
  /** Over the jobs of all rounds: one round alone has too few. */
  p99Ms: number;
  firstByteMs: { p50: number; p99: number };
  acceptedMs: { p50: number; p99: number };
  /** Processor milliseconds a run, one figure a round. */
  cpuMsPerRun: Record<Part, number[]>;
  /** What the machine had nothing to do for, from 0 to 1; one figure a round. */
  idleShare: number[];
  history: HistorySize;
}

/** A chain of so many nodes, one run at a time; one figure a round. */
export interface NodesCost extends Measured {
  nodes: number;
  msPerRun: number[];
  cpuMsPerRun: Record<Part, number[]>;
  history: HistorySize;
}

export interface PollLatencies {
  variant: Variant;
  /** `alone`: nothing else goes on; `loaded`: 20 runs in flight. */
  load: 'alone' | 'loaded';
  of: 'finished' | 'live';
  perSecond: number;
  polls: number;
  p50Ms: number;
  p99Ms: number;
}

export interface Kill extends Measured {
  runs: number;
  finished: number;
  /** From the kill to the first call of each run after it; the longest. */
  longestPauseMs: number;
  medianPauseMs: number;
  /** Calls that had been answered and gone on from, and were made again. */
  finishedCallsRepeated: number;
  /** Calls that were on the wire, and were made again. */
  openCallsRepeated: number;
}

export interface Memory {
  variant: Variant;
  waitingRuns: number;
  workerKibPerWaitingRun: number;
  /** Resident MiB in the three thirds of a load of 20 at once. */
  apiMib: number[];
  workerMib: number[];
}

export interface Limit {
  what: string;
  value: number;
  unit: string;
  /** What the value must not be above (or below). */
  limit: number;
  must: 'at most' | 'at least';
  isMet: boolean;
}
