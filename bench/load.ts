// The client. Each of its lanes starts a job, polls until the job ends, and then starts the next one.
import { setTimeout as pause } from 'node:timers/promises';
import type { Graph, JobInput } from './graphs.js';
import { cpuOf, idleness } from './processes.js';
import type { Subject } from './subjects.js';
import { Window, type Job, type Round } from './window.js';

export const PLAIN_INPUT: JobInput = { tag: 'plain', delayMs: 0 };
const JOB_TIMEOUT_MS = 900_000;

interface Load {
  subject: Subject;
  graph: Graph;
  /** The number of jobs at once. */
  lanes: number;
  durationMs: number;
  /** The time between two polls of a job. The default is `pollIntervalMs`. */
  pollMs?: number | undefined;
}

/**
 * Returns the milliseconds between two polls of a job. A single job is polled every 10 ms: a tenth of the shortest job,
 * and as often as a page of the console would ever poll. With more jobs, the client makes at most 100 polls a second
 * (each of 20 runs five times a second, while clients are advised to poll every 3 to 5 seconds), so that the figures do
 * not measure polls. A run of thousands of nodes has long answers, so it is polled about 40 times, whatever its length.
 */
export function pollIntervalMs(lanes: number, calls: number): number {
  return Math.max(10, lanes * 10, calls / 2);
}

/** Starts one job and polls it until it ends. Throws if it fails or does not end in time. */
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

export async function drive({ subject, graph, lanes, durationMs, pollMs }: Load): Promise<Round> {
  const intervalMs = pollMs ?? pollIntervalMs(lanes, graph.calls);
  const window = new Window({ lanes, durationMs, read: () => ({ cpu: cpuOf(subject.pids()), idleness: idleness() }) });
  const lane = async (number: number): Promise<void> => {
    // Lanes that start at the same moment would send every poll at the same moment.
    await pause((number * intervalMs) / lanes);
    await runJob(subject, graph, intervalMs);
    window.laneIsWarm(performance.now());
    while (!window.isSettled()) {
      const startedAt = performance.now();
      const job = await runJob(subject, graph, intervalMs);
      window.add(job, startedAt, performance.now());
    }
  };
  await subject.prepare(graph);
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
  return window.toRound();
}
