// Kills the worker (kill -9) with 20 runs in flight; measures how many continue, how soon, and which calls are
// repeated.
import { setTimeout as pause } from 'node:timers/promises';
import { chainOf, type JobInput } from '../graphs.js';
import { runJob } from '../load.js';
import type { Kill } from '../results.js';
import { median } from '../statistics.js';
import type { PolledSubject } from '../subjects.js';
import { callsOf, forgetCalls } from '../../harness/target/recorded-calls.js';
import type { RecordedCall } from '../../harness/target/target-process.js';
import type { RowContext } from './row-context.js';

const RUNS = 20;
const GRAPH = chainOf(5);
/** Slow calls, so that the kill finds runs in the middle of their chains. */
const DELAY_MS = 200;
const POLL_MS = 100;
/** The target may still receive calls that the dead worker had sent; no new worker starts that soon. */
const ON_THE_WIRE_MS = 100;

export async function measureKill(context: RowContext, subject: PolledSubject): Promise<Kill> {
  const { testbed, report } = context;
  const { targetUrl } = testbed;
  await subject.prepare(GRAPH);
  await forgetCalls(targetUrl);
  const inputs = Array.from({ length: RUNS }, (_, run): JobInput => ({ tag: `kill-${run}`, delayMs: DELAY_MS }));
  const jobs = Promise.allSettled(inputs.map((input) => runJob(subject, GRAPH, POLL_MS, input)));
  while ((await callsOf(targetUrl)).length < (RUNS * GRAPH.calls) / 2) await pause(5);
  process.kill(subject.pids().worker, 'SIGKILL');
  const killedAt = Date.now() + ON_THE_WIRE_MS;
  const finished = (await jobs).filter(({ status }) => status === 'fulfilled').length;
  const calls = await callsOf(targetUrl);
  const perRun = inputs.map(({ tag }) => judgeRun(calls, tag, killedAt));
  const pauses = perRun.flatMap(({ pauseMs }) => pauseMs ?? []);
  const sum = (pick: (judged: JudgedRun) => number): number => perRun.reduce((total, run) => total + pick(run), 0);
  const kill: Kill = {
    subject: subject.name,
    runs: RUNS,
    finished,
    longestPauseMs: Math.max(0, ...pauses),
    medianPauseMs: pauses.length === 0 ? 0 : median(pauses),
    finishedCallsRepeated: sum(({ finishedRepeated }) => finishedRepeated),
    openCallsRepeated: sum(({ openRepeated }) => openRepeated),
  };
  report(
    `kill -9: ${subject.name} ${finished} of ${RUNS} finished, going on within ${(kill.longestPauseMs / 1000).toFixed(1)} s, ` +
      `${kill.finishedCallsRepeated} finished calls made again`,
  );
  return kill;
}

interface JudgedRun {
  /** The time from the kill to the first call after it. Undefined if the run had already made its last call. */
  pauseMs: number | undefined;
  finishedRepeated: number;
  openRepeated: number;
}

/**
 * Uses only the calls that the target has recorded. In a chain, the last call before the kill is open and all earlier
 * ones are finished, because the run could not have continued without them.
 */
export function judgeRun(calls: readonly RecordedCall[], tag: string, killedAt: number): JudgedRun {
  const own = calls
    .filter(([path]) => path.startsWith(`/${tag}/`))
    .map(([path, receivedAt]) => ({ number: Number(path.split('/')[2]), receivedAt }));
  const last = Math.max(0, ...own.filter(({ receivedAt }) => receivedAt <= killedAt).map(({ number }) => number));
  const after = own.filter(({ receivedAt }) => receivedAt > killedAt);
  const firstAfter = after.length === 0 ? undefined : Math.min(...after.map(({ receivedAt }) => receivedAt));
  return {
    pauseMs: firstAfter === undefined ? undefined : firstAfter - killedAt,
    finishedRepeated: after.filter(({ number }) => number < last).length,
    openRepeated: after.filter(({ number }) => number === last).length,
  };
}
