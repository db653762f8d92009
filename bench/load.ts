// The client: so many jobs at once, each started, polled to its end and followed by the next one.
import { setTimeout as pause } from 'node:timers/promises';
import type { Graph, JobInput } from './graphs.js';
import { cpuBetween, cpuOf, idleness, idleShareBetween, type CpuSeconds, type Idleness } from './processes.js';
import type { Subject } from './subjects.js';

export const PLAIN_INPUT: JobInput = { tag: 'plain', delayMs: 0 };
const JOB_TIMEOUT_MS = 900_000;

export interface Job {
  id: string;
  /** From the start request to the first poll that says the run has ended. */
  tookMs: number;
  firstByteMs: number;
  acceptedMs: number;
  polls: number;
}

export interface Load {
  subject: Subject;
  graph: Graph;
  /** Jobs at once. */
  lanes: number;
  durationMs: number;
}

/** One round of one subject. */
export interface Round {
  jobs: Job[];
  perSecond: number;
  /** Processor seconds of each part while `jobs` were done. */
  cpu: CpuSeconds;
  /** Of the machine's processors, what was not used by anybody: near 0, runs/s is the inverse of what a run costs. */
  idleShare: number;
}

/**
 * Milliseconds between two polls of a job. Alone, 10: a tenth of the shortest job, and as often as a person's page would
 * ever ask. With many jobs at once the client as a whole stays below 100 polls a second (each of 20 runs five times a
 * second, when clients are advised to ask every 3 to 5 seconds), or the figures would be those of polls; and a run of
 * thousands of nodes, whose answer is long, is asked about 40 times, whatever its length.
 */
export function pollIntervalMs(lanes: number, calls: number): number {
  return Math.max(10, lanes * 10, calls / 2);
}

/** Starts one job and follows it to its end. Throws where it fails or does not end. */
export async function runJob(subject: Subject, graph: Graph, intervalMs: number, input = PLAIN_INPUT): Promise<Job> {
  const startedAt = performance.now();
  const { id, firstByteMs, acceptedMs } = await subject.start(graph, input);
  for (let polls = 1; ; polls++) {
    await pause(intervalMs);
    const { isTerminal, hasSucceeded } = await subject.poll(id);
    const tookMs = performance.now() - startedAt;
    if (isTerminal && !hasSucceeded) throw new Error(`${subject.name}: a run of ${graph.name} failed (${id})`);
    if (isTerminal) return { id, tookMs, firstByteMs, acceptedMs, polls };
    if (tookMs > JOB_TIMEOUT_MS) throw new Error(`${subject.name}: a run of ${graph.name} does not end (${id})`);
  }
}

export async function drive({ subject, graph, lanes, durationMs }: Load): Promise<Round> {
  const intervalMs = pollIntervalMs(lanes, graph.calls);
  const window = new Window(lanes, durationMs, () => cpuOf(subject.pids()));
  const lane = async (number: number): Promise<void> => {
    // Lanes that start together would go on together, poll after poll.
    await pause((number * intervalMs) / lanes);
    await runJob(subject, graph, intervalMs);
    window.laneIsWarm();
    while (!window.isClosed()) window.count(await runJob(subject, graph, intervalMs));
  };
  await subject.prepare(graph);
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
  return window.toRound();
}

interface Moment {
  at: number;
  cpu: CpuSeconds;
  idleness: Idleness;
}

/**
 * It opens when every lane has done a job, at the end of one, and closes at the end of another: neither the beginning,
 * when nothing can end yet, nor the end, when lanes run dry, is in it.
 */
class Window {
  readonly #durationMs: number;
  readonly #readCpu: () => CpuSeconds;
  readonly #jobs: Job[] = [];
  #coldLanes: number;
  #opened: Moment | undefined;
  #closed: Moment | undefined;

  constructor(lanes: number, durationMs: number, readCpu: () => CpuSeconds) {
    this.#coldLanes = lanes;
    this.#durationMs = durationMs;
    this.#readCpu = readCpu;
  }

  laneIsWarm(): void {
    if (--this.#coldLanes === 0) this.#opened = this.#moment(performance.now());
  }

  count(job: Job): void {
    if (this.#opened === undefined || this.#closed !== undefined) return;
    this.#jobs.push(job);
    const at = performance.now();
    if (at - this.#opened.at >= this.#durationMs) this.#closed = this.#moment(at);
  }

  isClosed(): boolean {
    return this.#closed !== undefined;
  }

  toRound(): Round {
    const [opened, closed, jobs] = [this.#opened, this.#closed, this.#jobs];
    if (opened === undefined || closed === undefined) throw new Error('the window of a round was never open');
    const perSecond = (jobs.length * 1000) / (closed.at - opened.at);
    const idleShare = idleShareBetween(opened.idleness, closed.idleness);
    return { jobs, perSecond, cpu: cpuBetween(opened.cpu, closed.cpu), idleShare };
  }

  #moment(at: number): Moment {
    return { at, cpu: this.#readCpu(), idleness: idleness() };
  }
}
