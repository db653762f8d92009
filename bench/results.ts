// What a benchmark writes down. Figures of rounds stay apart, so that a reader sees how far they lie from each other.
import type { HistorySize } from './histories.js';
import type { Part } from './processes.js';
import type { Spread } from './statistics.js';
import type { ServiceName, SubjectName } from './subjects.js';

export interface Results {
  measuredAt: string;
  machine: Machine;
  settings: Settings;
  throughput: Throughput[];
  polls: PollLatencies[];
  kills: Kill[];
  memory: Memory[];
}

/** What was asked for. */
interface Settings {
  command: string;
  rounds: number;
  seconds: number;
}

export interface Machine {
  cores: number;
  model: string;
  memoryGib: number;
  platform: string;
  node: string;
  /** The load of the last minute when the benchmark began, which shows what else the machine was doing. */
  loadBefore: number;
}

export interface Throughput {
  subject: SubjectName;
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

export interface PollLatencies {
  subject: ServiceName;
  /** `alone`: nothing else goes on; `loaded`: 20 runs in flight. */
  load: 'alone' | 'loaded';
  of: 'finished' | 'live';
  perSecond: number;
  polls: number;
  p50Ms: number;
  p99Ms: number;
}

export interface Kill {
  subject: SubjectName;
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
  subject: ServiceName;
  waitingRuns: number;
  workerKibPerWaitingRun: number;
  /** Resident MiB in the three thirds of a load of 20 at once. */
  apiMib: number[];
  workerMib: number[];
}

export interface Limit {
  what: string;
  /** Its median is judged. */
  measured: Spread;
  unit: string;
  /** What the median must not be above (or below). */
  limit: number;
  must: 'at most' | 'at least';
  isMet: boolean;
}
