// Measures all rows on one testbed. In each row the subjects alternate, so that all see the same state of the machine.
import { graphs, type Graph } from './graphs.js';
import { ALONE_POLL_MS, CROWD_POLLS_MS, drive, PATIENT_POLL_MS } from './load.js';
import type { GraphRow } from './graph-rows.js';
import type { BenchOptions } from './options.js';
import type { Figures } from './report/limits.js';
import { measureBeside } from './rows/beside.js';
import { measureCosts } from './rows/costs.js';
import { measureKill } from './rows/kill.js';
import { measureMemory } from './rows/memory.js';
import { measurePolls } from './rows/polls.js';
import type { RowContext } from './rows/row-context.js';
import { measureThroughput } from './rows/throughput.js';
import { OWN_BUILD } from '../harness/stack/supervisor.js';
import type { Subject, Variant } from './subjects.js';
import { openTestbed, type ServiceToStart } from './testbed.js';

/** The settings that make a stack execute nodes as the variant does. */
export const SETTINGS_OF: Record<Variant, Record<string, string>> = {
  visible: { EXECUTION: 'visible' },
  dense: { EXECUTION: 'dense' },
};
const WARM_UP_MS = 30_000;
const WARM_UP_MS_WHEN_QUICK = 1_000;

export async function measure(options: BenchOptions, report: (line: string) => void): Promise<Figures> {
  const { rounds, seconds, isQuick, other, beside, targetPort } = options;
  report('starting the stacks, the target and the twin');
  const testbed = await openTestbed(servicesOf(options), targetPort);
  try {
    const hasTwins = other === undefined && beside.length === 0;
    const subjects = [...testbed.services, ...(hasTwins ? testbed.twins : [])];
    const context: RowContext = { testbed, subjects, rounds, durationMs: seconds * 1000, isQuick, report };
    for (const subject of subjects) await warmUp(subject, isQuick);
    return await measureRows(options, context);
  } finally {
    await testbed.close();
  }
}

/** A new process still interprets code that it compiles after it has run for some time, so a load runs first. */
async function warmUp(subject: Subject, isQuick: boolean): Promise<void> {
  const durationMs = isQuick ? WARM_UP_MS_WHEN_QUICK : WARM_UP_MS;
  await drive({ subject, graph: graphs['chain-5'], lanes: 20, durationMs, pollMode: PATIENT_POLL_MS });
}

function servicesOf({ variants, env, other }: BenchOptions): ServiceToStart[] {
  return variants.flatMap((variant): ServiceToStart[] => {
    const service = { name: variant, build: OWN_BUILD, env: { ...SETTINGS_OF[variant], ...env } };
    if (other === undefined) return [service];
    const otherEnv = { ...SETTINGS_OF[variant], ...other.env };
    return [service, { name: `${variant}-other`, build: other.build ?? OWN_BUILD, env: otherEnv }];
  });
}

async function measureRows(
  { only, lanes, pollMs, beside, variants }: BenchOptions,
  context: RowContext,
): Promise<Figures> {
  const figures: Figures = { throughput: [], costs: [], polls: [], kills: [], memory: [] };
  const { subjects, testbed } = context;
  for (const row of only.filter((name): name is GraphRow => name in graphs)) {
    const graph: Graph = graphs[row];
    const loads = lanesOf(graph, lanes).flatMap((number) => {
      const intervals = pollMs ?? (number === 1 ? [alonePollMs(graph)] : CROWD_POLLS_MS);
      return intervals.map((pollMode) => ({ lanes: number, pollMode }));
    });
    figures.throughput.push(...(await measureThroughput(context, { row, graph, subjects, loads })));
  }
  for (const { row, url } of beside) figures.throughput.push(...(await measureBeside(context, row, url, lanes)));
  // Requests, polls and waiting runs do not depend on the variant, so they are only measured with the first one.
  const [first] = testbed.services;
  if (only.includes('costs')) figures.costs.push(...(await measureCosts(context, variants[0]!)));
  if (only.includes('polls')) figures.polls.push(...(await measurePolls(context, first!)));
  if (only.includes('memory')) figures.memory.push(await measureMemory(context, first!));
  // The kill row is always last, because it restarts the workers.
  for (const subject of only.includes('kill') ? subjects : []) {
    figures.kills.push(await measureKill(context, subject));
  }
  return figures;
}

/** A run of a for-each has many calls in flight by itself, so the time of an item is measured on one run at a time. */
function lanesOf({ shape }: Graph, lanes: number[]): number[] {
  return shape === 'for-each' ? [1] : lanes;
}

/** A run with many calls has long answers, so it is polled less often, or the figures would measure polls. */
function alonePollMs({ calls }: Graph): number {
  return Math.max(ALONE_POLL_MS, calls / 2);
}
