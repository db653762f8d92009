// What a node costs in runs of 10 to 2,000 of them, one run at a time.
import { chainOf } from '../graphs.js';
import { historySizeOf } from '../histories.js';
import { pollIntervalMs, runJob } from '../load.js';
import { cpuBetween, cpuOf, type CpuSeconds } from '../processes.js';
import type { NodesCost } from '../results.js';
import type { Subject } from '../subjects.js';
import { learnPlacement } from './learn-placement.js';
import type { RowContext } from './row-context.js';
import { perPart } from './throughput.js';

const SIZES = [10, 50, 200, 1000, 2000];
const SIZES_WHEN_QUICK = [10, 50, 200];
/** A round of short runs has many, so that it lasts long enough for processor time, counted in hundredths of a second. */
const NODES_IN_A_ROUND = 2000;
/** What one run takes is as much chance as cost. */
const MIN_RUNS = 3;
const MAX_ROUNDS = 2;

interface Round {
  runs: number;
  tookMs: number;
  cpu: CpuSeconds;
  lastId: string;
}

export async function measureNodes(context: RowContext): Promise<NodesCost[]> {
  const { subjects, isQuick, variant, report } = context;
  const costs: NodesCost[] = [];
  for (const size of isQuick ? SIZES_WHEN_QUICK : SIZES) {
    const measured = new Map<Subject, Round[]>(subjects.map((subject) => [subject, []]));
    await learnPlacement(context, chainOf(size));
    for (let round = 1; round <= Math.min(context.rounds, MAX_ROUNDS); round++) {
      for (const subject of subjects) {
        const figures = await measureRound(subject, size, isQuick);
        measured.get(subject)!.push(figures);
        const msPerNode = figures.tookMs / figures.runs / size;
        report(`chain of ${size}, round ${round}: ${subject.name} ${msPerNode.toFixed(1)} ms a node`);
      }
    }
    for (const [subject, rounds] of measured) {
      costs.push({
        variant,
        subject: subject.name,
        nodes: size,
        msPerRun: rounds.map(({ tookMs, runs }) => tookMs / runs),
        cpuMsPerRun: perPart((part) => rounds.map(({ cpu, runs }) => (cpu[part] * 1000) / runs)),
        history: await historySizeOf(context.testbed.stack.file, rounds[0]!.lastId),
      });
    }
  }
  return costs;
}

async function measureRound(subject: Subject, size: number, isQuick: boolean): Promise<Round> {
  const graph = chainOf(size);
  const intervalMs = pollIntervalMs(1, graph.calls);
  await subject.prepare(graph);
  // The first run of a drawing stores and compiles it; a chain this long is warm by its own first part.
  if (size <= 200) await runJob(subject, graph, intervalMs);
  const runs = isQuick ? Math.ceil(200 / size) : Math.max(MIN_RUNS, NODES_IN_A_ROUND / size);
  const before = cpuOf(subject.pids());
  let [tookMs, lastId] = [0, ''];
  for (let run = 0; run < runs; run++) {
    const job = await runJob(subject, graph, intervalMs);
    tookMs += job.tookMs;
    lastId = job.id;
  }
  return { runs, tookMs, cpu: cpuBetween(before, cpuOf(subject.pids())), lastId };
}
