// Measures runs per second and their duration. Each round measures every subject once with each load, so that the
// subjects alternate.
import { setTimeout as pause } from 'node:timers/promises';
import { historySizeOf } from '../histories.js';
import type { Graph } from '../graphs.js';
import { describePollMode, drive, type PollMode } from '../load.js';
import { ofEachPart } from '../processes.js';
import type { Throughput } from '../results.js';
import { percentile } from '../statistics.js';
import type { Subject } from '../subjects.js';
import type { Round } from '../window.js';
import type { RowContext } from './row-context.js';

/**
 * Each workflow task and each activity leaves a timer in the server that fires ten seconds later without effect, but
 * costs 3 to 5 % of two cores. Without a pause the next subject would pay for it, most of all after a busy one. A quick
 * benchmark has no pause.
 */
const AFTERMATH_MS = 11_000;
/** One run at a time leaves processors idle for such timers, so its round may start in the second half of the pause. */
const HALF_AFTERMATH_MS = 6_000;

interface Rounds {
  row: string;
  graph: Graph;
  subjects: Subject[];
  /** Each load has its own figures. */
  loads: Load[];
}

/** A number of concurrent runs, and the way in which clients learn of their ends. */
interface Load {
  lanes: number;
  pollMode: PollMode;
}

interface Figure extends Load {
  subject: Subject;
  rounds: Round[];
}

/** Discards a short first round of each subject, which compiles code, fills caches and opens connections. */
export async function measureThroughput(
  context: RowContext,
  { row, graph, subjects, loads }: Rounds,
): Promise<Throughput[]> {
  const { durationMs, isQuick, report } = context;
  const figures = subjects.flatMap((subject) => loads.map((load): Figure => ({ subject, ...load, rounds: [] })));
  for (const figure of figures) await drive({ ...figure, graph, durationMs: durationMs / 4 });
  let endedAt = performance.now();
  for (let round = 1; round <= context.rounds; round++) {
    for (const figure of figures) {
      const { subject, lanes, pollMode, rounds } = figure;
      const pauseMs = isQuick ? 0 : lanes === 1 ? HALF_AFTERMATH_MS : AFTERMATH_MS;
      await pause(Math.max(0, endedAt + pauseMs - performance.now()));
      const measured = await drive({ ...figure, graph, durationMs });
      if (lanes > 1) endedAt = performance.now();
      rounds.push(measured);
      const load = `${lanes} at once, ${describePollMode(pollMode)}`;
      report(`${row}, ${load}, round ${round}: ${subject.name} ${measured.perSecond.toFixed(1)} runs/s`);
    }
  }
  return Promise.all(figures.map((figure) => summarise(row, graph, figure)));
}

async function summarise(row: string, graph: Graph, { subject, lanes, pollMode, rounds }: Figure): Promise<Throughput> {
  const { calls, call } = graph;
  const history = subject.stack && (await historySizeOf(subject.stack.stack, rounds[0]!.jobs[0]!.id));
  return {
    subject: subject.name,
    row,
    lanes,
    pollMode,
    calls,
    ...(call && { call }),
    ...(history && { history }),
    ...sumUp(rounds),
  };
}

function sumUp(rounds: Round[]) {
  const jobs = rounds.flatMap((round) => round.jobs);
  const ofJobs = (pick: (job: Round['jobs'][number]) => number) => {
    const values = jobs.map(pick);
    return { p50: percentile(values, 0.5), p99: percentile(values, 0.99) };
  };
  return {
    jobs: jobs.length,
    pollsPerJob: jobs.reduce((sum, { polls }) => sum + polls, 0) / jobs.length,
    perSecond: rounds.map(({ perSecond }) => perSecond),
    p50Ms: rounds.map((round) =>
      percentile(
        round.jobs.map(({ tookMs }) => tookMs),
        0.5,
      ),
    ),
    p99Ms: ofJobs(({ tookMs }) => tookMs).p99,
    acceptedMs: ofJobs(({ acceptedMs }) => acceptedMs),
    cpuMsPerRun: ofEachPart((part) => rounds.map(({ cpu, done }) => (cpu[part] * 1000) / done)),
    idleShare: rounds.map(({ idleShare }) => idleShare),
  };
}
