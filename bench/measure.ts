// All rows of one variant, on a testbed of its own.
import { BRANCH, chainOf, EMPTY, fanOutOf, type Graph } from './graphs.js';
import { drive } from './load.js';
import type { BenchOptions, RowName } from './options.js';
import type { Figures } from './report/limits.js';
import type { Variant } from './results.js';
import { measureKill } from './rows/kill.js';
import { learnPlacement } from './rows/learn-placement.js';
import { measureMemory } from './rows/memory.js';
import { measureNodes } from './rows/nodes.js';
import { measurePolls } from './rows/polls.js';
import type { RowContext } from './rows/row-context.js';
import { measureThroughput } from './rows/throughput.js';
import type { Subject, SubjectName } from './subjects.js';
import { openTestbed } from './testbed.js';

const GRAPHS: Partial<Record<RowName, Graph>> = {
  empty: EMPTY,
  'chain-5': chainOf(5),
  'chain-20': chainOf(20),
  'fan-out-20': fanOutOf(20),
  branch: BRANCH,
};
export const CONCURRENCIES = [1, 5, 10, 20, 50];
/** Each variant beside the twins that it must be compared with. */
const TWINS: Record<Variant, SubjectName[]> = {
  normal: ['twin-normal'],
  alone: ['twin-normal'],
  quick: ['twin-normal', 'twin-local'],
  local: ['twin-normal', 'twin-local'],
};
/** The operator's setting that places nodes; `quick` leaves it to the service. */
const PLACEMENT: Record<Variant, Record<string, string>> = {
  normal: { NODE_PLACEMENT: 'http:normal' },
  alone: { NODE_PLACEMENT: 'http:alone' },
  quick: {},
  local: { NODE_PLACEMENT: 'http:local' },
};

/** Of each subject. A shorter one measures more of how long the code has been running. */
const WARM_UP_MS = 60_000;

export async function measureVariant(
  variant: Variant,
  options: BenchOptions,
  report: (line: string) => void,
): Promise<Figures> {
  report(`variant ${variant}: starting a stack, the target and the twin`);
  const testbed = await openTestbed({ ...PLACEMENT[variant], ...options.env });
  try {
    const names: SubjectName[] = ['service', ...TWINS[variant]];
    const { rounds, seconds, isQuick } = options;
    const durationMs = seconds * 1000;
    for (const name of names) await warmUp(testbed.subjects[name], isQuick ? 2_000 : WARM_UP_MS);
    return await measureRows(options, {
      testbed,
      variant,
      subjects: names.map((name) => testbed.subjects[name]),
      rounds,
      durationMs,
      warmUpMs: isQuick ? 500 : durationMs / 2,
      isQuick,
      report,
    });
  } finally {
    await testbed.close();
  }
}

/** New processes interpret their code until it has been run often: a service that has been up for minutes does not. */
async function warmUp(subject: Subject, durationMs: number): Promise<void> {
  await drive({ subject, graph: chainOf(5), lanes: 20, durationMs });
}

async function measureRows({ only, lanes: atOnce }: BenchOptions, context: RowContext): Promise<Figures> {
  const figures: Figures = { throughput: [], nodes: [], polls: [], kills: [], memory: [] };
  for (const row of only) {
    const graph = GRAPHS[row];
    if (graph !== undefined) {
      await learnPlacement(context, graph);
      for (const lanes of atOnce) figures.throughput.push(...(await measureThroughput(context, { row, graph, lanes })));
    } else if (row === 'concurrency') {
      await learnPlacement(context, chainOf(5));
      for (const lanes of CONCURRENCIES) {
        figures.throughput.push(...(await measureThroughput(context, { row, graph: chainOf(5), lanes })));
      }
    } else if (row === 'nodes') figures.nodes.push(...(await measureNodes(context)));
    else if (row === 'polls') figures.polls.push(...(await measurePolls(context)));
    else if (row === 'memory') figures.memory.push(await measureMemory(context));
    // Last, whatever the order of the others: its workers begin anew.
    else for (const subject of context.subjects) figures.kills.push(await measureKill(context, subject));
  }
  return figures;
}
