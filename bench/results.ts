// The results file of a benchmark. It has the figures of each round, so that a reader sees how much the rounds differ.
import type { HistorySize } from './histories.js';
import type { PollMode } from './load.js';
import type { Part } from './processes.js';
import type { Spread } from './statistics.js';
import type { ServiceName, SubjectName } from './subjects.js';

export interface Results {
  measuredAt: string;
  machine: Machine;
  settings: Settings;
  throughput: Throughput[];
  costs: Cost[];
  polls: PollLatencies[];
  kills: Kill[];
  memory: Memory[];
}

/** The settings that the benchmark was started with. */
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
  /** The load average of the last minute before the benchmark, which shows whether the machine was busy otherwise. */
  loadBefore: number;
}

export interface Throughput {
  subject: SubjectName;
  row: string;
  lanes: number;
  pollMode: PollMode;
  calls: number;
  /** The method and address of each call, if the row compares the service with a peer that makes the same calls. */
  call?: string;
  jobs: number;
  pollsPerJob: number;
  /** One figure per round. */
  perSecond: number[];
  p50Ms: number[];
  /** The p99 over the jobs of all rounds, because one round has too few jobs. */
  p99Ms: number;
  /** 0 if the client waited for the end. */
  acceptedMs: { p50: number; p99: number };
  /** Processor milliseconds per run, one figure per round. */
  cpuMsPerRun: Record<Part, number[]>;
  /** The idle share of the machine's processor time, from 0 to 1; one figure per round. */
  idleShare: number[];
  /** Undefined for peers. */
  history?: HistorySize;
}

/**
 * `in a crowd` means 20 keys and 50 runs in flight; other costs use one key and one run. The costs of a client that
 * waits and of a stream exclude the run that they follow.
 */
export type CostName =
  | 'a request'
  | 'a request in a crowd'
  | 'a GET of a project'
  | 'a poll'
  | 'a poll in a crowd'
  | 'an unchanged poll (304)'
  | 'a start'
  | 'a start and its execution'
  | 'a client that waits at the start'
  | 'a client that waits later'
  | 'a stream'
  | 'a node'
  | 'an item';

/** The processor time of one action of a client, or of one part of its runs. */
export interface Cost {
  subject: SubjectName;
  what: CostName;
  /** Processor milliseconds of each process, one figure per round. */
  cpuMs: Record<Part, number[]>;
}

export interface PollLatencies {
  subject: ServiceName;
  /** `alone`: the stack does nothing else; `loaded`: 20 runs are in flight. */
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
  /** The longest time from the kill to a run's first call after it. */
  longestPauseMs: number;
  medianPauseMs: number;
  /** Calls that were repeated although the run had already used their answers. */
  finishedCallsRepeated: number;
  /** Calls that were in flight at the kill and were repeated. */
  openCallsRepeated: number;
}

export interface Memory {
  subject: ServiceName;
  waitingRuns: number;
  workerKibPerWaitingRun: number;
  /** Resident MiB in each third of a load of 20 runs at once. */
  apiMib: number[];
  workerMib: number[];
}

export interface Limit {
  what: string;
  /** The median is compared with the limit. */
  measured: Spread;
  unit: string;
  limit: number;
  must: 'at most' | 'at least';
  isMet: boolean;
}
