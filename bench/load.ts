// The client. Each of its lanes starts a job, polls it or waits until the job ends, and then starts the next one.
import { setTimeout as pause } from 'node:timers/promises';
import type { Graph, JobInput } from './graphs.js';
import { cpuOf, idleness } from './processes.js';
import type { PolledSubject, Subject } from './subjects.js';
import { Window, type Job, type Round } from './window.js';

export const PLAIN_INPUT: JobInput = { tag: 'plain', delayMs: 0 };
const JOB_TIMEOUT_MS = 900_000;

/**
 * The milliseconds between two polls of a job; or `waits` if the client sends one request that is answered at the end.
 */
export type PollMode = number | 'waits';

export function describePollMode(pollMode: PollMode): string {
  return pollMode === 'waits' ? 'clients that wait' : `polls every ${pollMode} ms`;
}

/** The poll interval of a single run: about a tenth of the shortest job. */
export const ALONE_POLL_MS = 10;
/** Many runs at once are measured with patient clients and with impatient ones. */
export const PATIENT_POLL_MS = 500;
export const CROWD_POLLS_MS = [50, PATIENT_POLL_MS];

interface Load {
  subject: Subject;
  graph: Graph;
  /** The number of jobs at once. */
  lanes: number;
  durationMs: number;
  pollMode: PollMode;
}

/** Executes one job until it ends. Throws if it fails or does not end. */
async function doJob(subject: Subject, graph: Graph, pollMode: PollMode): Promise<Job> {
  if (pollMode !== 'waits') return runJob(subject as PolledSubject, graph, pollMode);
  const startedAt = performance.now();
  const { id } = await subject.runToEnd!(graph, PLAIN_INPUT);
  return { id, tookMs: performance.now() - startedAt, acceptedMs: 0, polls: 0 };
}

/** Starts one job and polls it until it ends. Throws if it fails or does not end in time. */
export async function runJob(
  subject: PolledSubject,
  graph: Graph,
  intervalMs: number,
  input = PLAIN_INPUT,
): Promise<Job> {
  const startedAt = performance.now();
  const { id, acceptedMs } = await subject.start(graph, input);
  for (let polls = 1; ; polls++) {
    await pause(intervalMs);
    const { isTerminal, hasSucceeded } = await subject.poll(id);
    const tookMs = performance.now() - startedAt;
    if (isTerminal && !hasSucceeded) throw new Error(`${subject.name}: a run of ${graph.name} failed (${id})`);
    if (isTerminal) return { id, tookMs, acceptedMs, polls };
    if (tookMs > JOB_TIMEOUT_MS) throw new Error(`${subject.name}: a run of ${graph.name} does not end (${id})`);
  }
}

export async function drive({ subject, graph, lanes, durationMs, pollMode }: Load): Promise<Round> {
  const window = new Window({ lanes, durationMs, read: () => ({ cpu: cpuOf(subject.pids()), idleness: idleness() }) });
  const lane = async (number: number): Promise<void> => {
    // Lanes that start at the same moment would send every poll at the same moment.
    if (pollMode !== 'waits') await pause((number * pollMode) / lanes);
    await doJob(subject, graph, pollMode);
    window.laneIsWarm(performance.now());
    while (!window.isSettled()) {
      const startedAt = performance.now();
      const job = await doJob(subject, graph, pollMode);
      window.add(job, startedAt, performance.now());
    }
  };
  await subject.prepare(graph);
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
  return window.toRound();
}
