// The window of time in which one round of one subject is measured.
import { cpuBetween, idleShareBetween, type CpuSeconds, type Idleness } from './processes.js';

export interface Job {
  id: string;
  /** From the start request to the first poll that says the run has ended. */
  tookMs: number;
  firstByteMs: number;
  acceptedMs: number;
  polls: number;
}

/** One round of one subject. */
export interface Round {
  /** The jobs that ended in the window. */
  jobs: Job[];
  /** The number of jobs that were done in the window. A job of which a third lies in it counts as a third. */
  done: number;
  perSecond: number;
  /** Processor seconds of each part in the window. */
  cpu: CpuSeconds;
  /** The share of the machine's processors that nobody used. Near 0, runs/s is the inverse of what a run costs. */
  idleShare: number;
}

interface Reading {
  cpu: CpuSeconds;
  idleness: Idleness;
}

interface Options {
  lanes: number;
  durationMs: number;
  read: () => Reading;
}

interface Moment extends Reading {
  at: number;
}

/**
 * The window opens when every lane has done a job, and closes at the end of the first job after `durationMs`. Lanes
 * continue until all jobs that began in the window have ended, so that the load is the same until its last moment. Jobs
 * that lie across its edges count by the share of them that lies in it: jobs that last nearly as long as the window and
 * end together would otherwise distort the figures by a third.
 */
export class Window {
  readonly #options: Options;
  readonly #jobs: Job[] = [];
  #done: { startedAt: number; endedAt: number }[] = [];
  #coldLanes: number;
  /** Jobs in flight that began before the window closed; undefined while it is not closed. */
  #unsettled: number | undefined;
  #opened: Moment | undefined;
  #closed: Moment | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#coldLanes = options.lanes;
  }

  laneIsWarm(at: number): void {
    if (--this.#coldLanes === 0) this.#opened = { at, ...this.#options.read() };
  }

  /** Times in milliseconds of one clock. */
  add(job: Job, startedAt: number, endedAt: number): void {
    if (this.#opened === undefined) return;
    if (this.#closed !== undefined) {
      if (startedAt >= this.#closed.at) return;
      this.#done.push({ startedAt, endedAt });
      this.#unsettled!--;
      return;
    }
    this.#done.push({ startedAt, endedAt });
    this.#jobs.push(job);
    if (endedAt - this.#opened.at < this.#options.durationMs) return;
    this.#closed = { at: endedAt, ...this.#options.read() };
    // Every lane but the one whose job has just ended has a job in flight.
    this.#unsettled = this.#options.lanes - 1;
  }

  isSettled(): boolean {
    return this.#unsettled === 0;
  }

  toRound(): Round {
    const [opened, closed] = [this.#opened, this.#closed];
    if (opened === undefined || closed === undefined) throw new Error('the window of a round was never open');
    const shares = this.#done.map(({ startedAt, endedAt }) => {
      const insideMs = Math.min(endedAt, closed.at) - Math.max(startedAt, opened.at);
      return insideMs / (endedAt - startedAt);
    });
    const done = shares.reduce((sum, share) => sum + share, 0);
    return {
      jobs: this.#jobs,
      done,
      perSecond: (done * 1000) / (closed.at - opened.at),
      cpu: cpuBetween(opened.cpu, closed.cpu),
      idleShare: idleShareBetween(opened.idleness, closed.idleness),
    };
  }
}
