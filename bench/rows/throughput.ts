// Jobs a second and how long they take, all subjects in turn, round after round: A B A B.
import { setTimeout as pause } from 'node:timers/promises';
import { historySizeOf } from '../histories.js';
import { drive, type Load, type Round } from '../load.js';
import { PARTS, type Part } from '../processes.js';
import type { Throughput } from '../results.js';
import { percentile } from '../statistics.js';
import type { Subject } from '../subjects.js';
import type { RowContext } from './row-context.js';

/**
 * Each workflow task and each activity leaves the server a timer that goes off ten seconds later to no effect, but at a
 * price. Whoever comes next would pay it, most of all after a subject that has done much.
 */
const AFTERMATH_MS = 11_000;

interface Job {
  row: string;
  graph: Load['graph'];
  lanes: number;
}

/** One round of each subject goes before and is thrown away: code is compiled, caches and connections are there. */
export async function measureThroughput(context: RowContext, { row, graph, lanes }: Job): Promise<Throughput[]> {
  const { subjects, rounds, durationMs, warmUpMs, variant, report } = context;
  const measured = new Map<Subject, Round[]>(subjects.map((subject) => [subject, []]));
  for (const subject of subjects) await drive({ subject, graph, lanes, durationMs: warmUpMs });
  for (let round = 1; round <= rounds; round++) {
    for (const subject of subjects) {
      if (lanes > 1) await pause(AFTERMATH_MS);
      const figures = await drive({ subject, graph, lanes, durationMs });
      measured.get(subject)!.push(figures);
      report(`${row}, ${lanes} at once, round ${round}: ${subject.name} ${figures.perSecond.toFixed(1)} runs/s`);
    }
  }
  const summaries: Throughput[] = [];
  for (const [subject, figures] of measured) {
    const history = await historySizeOf(context.testbed.stack.file, figures[0]!.jobs[0]!.id);
    summaries.push({ variant, subject: subject.name, row, lanes, calls: graph.calls, history, ...summarise(figures) });
  }
  return summaries;
}

type Summary = Omit<Throughput, 'variant' | 'subject' | 'row' | 'lanes' | 'calls' | 'history'>;

function summarise(rounds: Round[]): Summary {
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
    firstByteMs: ofJobs(({ firstByteMs }) => firstByteMs),
    acceptedMs: ofJobs(({ acceptedMs }) => acceptedMs),
    cpuMsPerRun: perPart((part) => rounds.map(({ cpu, jobs: done }) => (cpu[part] * 1000) / done.length)),
    idleShare: rounds.map(({ idleShare }) => idleShare),
  };
}

export function perPart(figures: (part: Part) => number[]): Record<Part, number[]> {
  return Object.fromEntries(PARTS.map((part) => [part, figures(part)])) as Record<Part, number[]>;
}
