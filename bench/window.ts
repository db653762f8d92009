// The window of time in which one round of one subject is measured.
import { cpuBetween, idleShareBetween, type CpuSeconds, type Idleness } from './processes.js';

export interface Job {
  id: string;
  /** The time from the start request to the first answer that reports the end of the run. */
  tookMs: number;
  /** 0 if the client waited for the end. */
  acceptedMs: number;
  polls: number;
}

export interface Round {
  /** The jobs that ended in the window. */
  jobs: Job[];
  /** The number of jobs that were done in the window. A job of which a third lies in it counts as a third. */
  done: number;
  perSecond: number;
  /** Processor seconds of each part in the window. */
  cpu: CpuSeconds;
  /** The idle share of the machine's processors. If it is near 0, runs/s is the inverse of the cost of a run. */
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
 * The window opens when every lane has completed a job, and closes when the first job ends after `durationMs`. Lanes
 * continue until all jobs that started in the window have ended, so that the load is constant until the window closes.
 * A job that is only partly in the window counts with the share of its time in it. Otherwise jobs that last nearly as
 * long as the window and end at the same time would distort the figures by a third.
 */
export class Window {
  readonly #options: Options;
  readonly #jobs: Job[] = [];
  #done: { startedAt: number; endedAt: number }[] = [];
  #coldLanes: number;
  /** The number of jobs in flight that started before the window closed; undefined until it closes. */
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

  /** Both times are milliseconds of the same clock as that of `laneIsWarm`. */
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
