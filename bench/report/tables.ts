// The figures as tables: the same for the terminal and for the document.
import { median, ratioOfRounds, spreadOf } from '../statistics.js';
import type { Limit, Measured, NodesCost, Results, Throughput } from '../results.js';
import { find, serviceCpu } from './limits.js';

export interface Table {
  title: string;
  /** The first ones are words, set to the left. */
  words: number;
  head: string[];
  rows: string[][];
}

export function toTables(results: Results): Table[] {
  const tables = [
    limitsTable(results.limits),
    throughputTable(results),
    costTable(results),
    nodesTable(results.nodes),
    pollsTable(results),
    killsTable(results),
    memoryTable(results),
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

function limitsTable(limits: readonly Limit[]): Table {
  const signs = { 'at most': '<=', 'at least': '>=' };
  return {
    title: 'What must be shown',
    words: 1,
    head: ['figure', 'measured', 'must be', ''],
    rows: limits.map(({ what, value, unit, limit, must, isMet }) => [
      what,
      `${short(value)} ${unit}`.trim(),
      `${signs[must]} ${limit} ${unit}`.trim(),
      isMet ? 'ok' : 'MISSED',
    ]),
  };
}

/** Medians of the rounds, and the lowest and highest round. */
function throughputTable(results: Results): Table {
  return {
    title: 'Runs a second and how long one takes',
    words: 3,
    head: ['job', 'stack', 'subject', 'at once', 'runs/s', 'p50 ms', 'p99 ms', 'runs/s by twin', 'p50 by twin'],
    rows: results.throughput.map((measured) => [
      measured.row,
      measured.variant,
      measured.subject,
      String(measured.lanes),
      withRange(measured.perSecond),
      withRange(measured.p50Ms),
      short(measured.p99Ms),
      ...besideTwins(results, measured),
    ]),
  };
}

/** "0.91 n" is the ratio to the normal twin, "0.71 l" to the local one. */
function besideTwins(results: Results, measured: Throughput): [string, string] {
  if (measured.subject !== 'service') return ['', ''];
  const ratios = (['twin-normal', 'twin-local'] as const).flatMap((subject) => {
    const twin = find(results, { ...measured, subject });
    if (twin === undefined) return [];
    const letter = subject === 'twin-normal' ? 'n' : 'l';
    const perSecond = ratioOfRounds(measured.perSecond, twin.perSecond);
    const p50 = ratioOfRounds(measured.p50Ms, twin.p50Ms);
    return [{ perSecond: `${perSecond.toFixed(2)} ${letter}`, p50: `${p50.toFixed(2)} ${letter}` }];
  });
  return [ratios.map(({ perSecond }) => perSecond).join(', '), ratios.map(({ p50 }) => p50).join(', ')];
}

function costTable({ throughput }: Results): Table {
  return {
    title: 'What a run costs',
    words: 3,
    head: [
      'job',
      'stack',
      'subject',
      'at once',
      'events',
      'workflow tasks',
      'CPU ms a run: worker',
      'API or gateway',
      'Temporal',
      'Postgres',
      'CPU s per 1,000 nodes',
      'first byte p50/p99 ms',
      'accepted p99 ms',
      'polls a run',
      'machine idle %',
    ],
    rows: throughput
      .filter(({ row }) => row !== 'concurrency')
      .map((measured) => {
        const { cpuMsPerRun: cpu, history, calls, firstByteMs, acceptedMs } = measured;
        const parts = [cpu.worker, cpu.api, cpu.temporal, cpu.postgres].map(median);
        return [
          ...nameOf(measured),
          String(measured.lanes),
          String(history.events),
          String(history.workflowTasks),
          ...parts.map(short),
          // Milliseconds a run and node are seconds per thousand runs of that node.
          calls === 0 ? '' : short(parts.reduce((sum, part) => sum + part, 0) / calls),
          `${short(firstByteMs.p50)} / ${short(firstByteMs.p99)}`,
          short(acceptedMs.p99),
          short(measured.pollsPerJob),
          (median(measured.idleShare) * 100).toFixed(0),
        ];
      }),
  };
}

function nameOf({ row, variant, subject }: Throughput): string[] {
  return [row, variant, subject];
}

function nodesTable(nodes: readonly NodesCost[]): Table {
  return {
    title: 'Cost against nodes in a run, one run at a time',
    words: 2,
    head: [
      'stack',
      'subject',
      'nodes',
      'ms a node',
      'CPU ms a node: worker and API',
      'Temporal',
      'Postgres',
      'events a node',
    ],
    rows: nodes
      .toSorted((a, b) => compareSubjects(a, b) || a.nodes - b.nodes)
      .map((cost) => [
        cost.variant,
        cost.subject,
        cost.nodes.toLocaleString('en-US'),
        withRange(cost.msPerRun.map((ms) => ms / cost.nodes)),
        ...[serviceCpu(cost), cost.cpuMsPerRun.temporal, cost.cpuMsPerRun.postgres].map((perRun) =>
          short(median(perRun) / cost.nodes),
        ),
        short(cost.history.events / cost.nodes),
      ]),
  };
}

function compareSubjects(a: Measured, b: Measured): number {
  return `${a.variant} ${a.subject}`.localeCompare(`${b.variant} ${b.subject}`);
}

function pollsTable({ polls }: Results): Table {
  return {
    title: 'Polls of the service at 100 a second',
    words: 3,
    head: ['stack', 'runs', 'load', 'polls', 'p50 ms', 'p99 ms'],
    rows: polls.map(({ variant, of, load, polls: count, p50Ms, p99Ms }) => [
      variant,
      of,
      load === 'alone' ? 'nothing else' : '20 runs in flight',
      String(count),
      short(p50Ms),
      short(p99Ms),
    ]),
  };
}

function killsTable({ kills }: Results): Table {
  return {
    title: 'kill -9 of the worker, 20 runs of a chain of 5 in flight',
    words: 2,
    head: [
      'stack',
      'subject',
      'finished',
      'going on: median s',
      'last s',
      'finished calls repeated',
      'open calls repeated',
    ],
    rows: kills.map((kill) => [
      kill.variant,
      kill.subject,
      `${kill.finished} of ${kill.runs}`,
      short(kill.medianPauseMs / 1000),
      short(kill.longestPauseMs / 1000),
      String(kill.finishedCallsRepeated),
      String(kill.openCallsRepeated),
    ]),
  };
}

function memoryTable({ memory }: Results): Table {
  return {
    title: 'Memory (resident)',
    words: 1,
    head: ['stack', 'worker KiB a waiting run', 'API MiB in the thirds of a load', 'worker MiB in the thirds'],
    rows: memory.map(({ variant, workerKibPerWaitingRun, apiMib, workerMib }) => [
      variant,
      short(workerKibPerWaitingRun),
      apiMib.map(short).join(', '),
      workerMib.map(short).join(', '),
    ]),
  };
}

function withRange(rounds: readonly number[]): string {
  const { median: middle, min, max } = spreadOf(rounds);
  return rounds.length === 1 ? short(middle) : `${short(middle)} (${short(min)}-${short(max)})`;
}

/** Three digits that say something. */
export function short(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2);
}
