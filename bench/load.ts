// The client: so many jobs at once, each started, polled to its end and followed by the next one.
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
  /** Jobs at once. */
  lanes: number;
  durationMs: number;
  /** Between two polls of a job. By default `pollIntervalMs`. */
  pollMs?: number | undefined;
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

export async function drive({ subject, graph, lanes, durationMs, pollMs }: Load): Promise<Round> {
  const intervalMs = pollMs ?? pollIntervalMs(lanes, graph.calls);
  const window = new Window({ lanes, durationMs, read: () => ({ cpu: cpuOf(subject.pids()), idleness: idleness() }) });
  const lane = async (number: number): Promise<void> => {
    // Lanes that start together would go on together, poll after poll.
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
