// Builds the tables for the terminal and for the published page.
import { describePollMode } from '../load.js';
import type { Limit, Results, Throughput } from '../results.js';
import { median, spreadOf, type Spread } from '../statistics.js';
import { limitsOf } from './limits.js';
import { comparisons } from './ratios.js';
import { isPeer } from '../subjects.js';

export interface Table {
  title: string;
  /** The number of leading text columns, which are left-aligned. */
  words: number;
  head: string[];
  rows: string[][];
}

export function toTables(results: Results): Table[] {
  return withRows([
    limitsTable(limitsOf(results)),
    ratiosTable(results),
    throughputTable(results),
    runCostTable(results),
    costsTable(results),
    pollsTable(results),
    killsTable(results),
    memoryTable(results),
  ]);
}

/** The published page contains the checked figures, and the cost of a run under the heaviest load of its job. */
export function toPageTables(results: Results): Table[] {
  const loaded = { ...results, throughput: results.throughput.filter((job) => isHeaviest(job, results)) };
  return withRows([
    limitsTable(limitsOf(results)),
    runCostTable(loaded),
    costsTable(results),
    pollsTable(results),
    killsTable(results),
    memoryTable(results),
  ]);
}

function withRows(tables: Table[]): Table[] {
  return tables.filter(({ rows }) => rows.length > 0);
}

/**
 * True for the measurement of a row with the most runs at once, and among these for the one with the fewest polls or
 * none.
 */
function isHeaviest({ row, lanes, pollMode }: Throughput, { throughput }: Results): boolean {
  const others = throughput.filter((other) => other.row === row && other.lanes >= lanes);
  return others.every((other) => other.lanes === lanes && (pollMode === 'waits' || Number(other.pollMode) <= pollMode));
}

function limitsTable(limits: readonly Limit[]): Table {
  const signs = { 'at most': '<=', 'at least': '>=' };
  return {
    title: 'What must be shown',
    words: 1,
    head: ['figure', 'measured', 'must be', ''],
    rows: limits.map(({ what, measured, unit, limit, must, isMet }) => [
      what,
      `${toText(measured)} ${unit}`.trim(),
      `${signs[must]} ${limit} ${unit}`.trim(),
      isMet ? 'ok' : 'MISSED',
    ]),
  };
}

function ratiosTable(results: Results): Table {
  return {
    title: 'Ratios of the rounds',
    words: 4,
    head: [
      'job',
      'subject',
      'by',
      'clients',
      'at once',
      'runs/s',
      'p50',
      'CPU: worker and API',
      'CPU: with Temporal and PostgreSQL',
    ],
    rows: comparisons(results).map(({ ours, theirs, ...ratios }) => [
      ours.row,
      ours.subject,
      theirs.subject,
      clientsOf(ours),
      String(ours.lanes),
      ...[ratios.perSecond, ratios.p50].map(toText),
      // The processor time of peers is unknown.
      ...[ratios.serviceCpu, ratios.wholeCpu].map((cpu) => (isPeer(theirs.subject) ? '' : toText(cpu))),
    ]),
  };
}

const JOB_HEAD = ['job', 'subject', 'clients', 'at once'];

function jobCells(measured: Results['throughput'][number]): string[] {
  return [measured.row, measured.subject, clientsOf(measured), String(measured.lanes)];
}

function throughputTable({ throughput }: Results): Table {
  return {
    title: 'Runs a second and how long one takes',
    words: 3,
    head: [...JOB_HEAD, 'runs/s', 'p50 ms', 'p99 ms', 'accepted p99 ms', 'polls a run', 'machine idle %'],
    rows: throughput.map((measured) => [
      ...jobCells(measured),
      toText(spreadOf(measured.perSecond)),
      toText(spreadOf(measured.p50Ms)),
      short(measured.p99Ms),
      short(measured.acceptedMs.p99),
      short(measured.pollsPerJob),
      (median(measured.idleShare) * 100).toFixed(0),
    ]),
  };
}

function runCostTable({ throughput }: Results): Table {
  return {
    title: 'What a run costs: history, and milliseconds of processor time',
    words: 3,
    head: [...JOB_HEAD, 'events', 'workflow tasks', 'worker', 'API or gateway', 'Temporal', 'PostgreSQL'],
    // The eager twin costs nearly the same as `twin-normal`, and the processor time of peers is unknown.
    rows: throughput
      .filter(({ subject }) => subject !== 'twin-eager' && !isPeer(subject))
      .map((measured) => [
        ...jobCells(measured),
        String(measured.history?.events),
        String(measured.history?.workflowTasks),
        ...cpuCells(measured.cpuMsPerRun),
      ]),
  };
}

function costsTable({ costs }: Results): Table {
  return {
    title: 'What each thing costs: milliseconds of processor time',
    words: 2,
    head: ['what', 'subject', 'worker', 'API or gateway', 'Temporal', 'PostgreSQL'],
    rows: [...new Set(costs.map(({ what }) => what))].flatMap((name) =>
      costs.filter(({ what }) => what === name).map(({ what, subject, cpuMs }) => [what, subject, ...cpuCells(cpuMs)]),
    ),
  };
}

function cpuCells({ worker, api, temporal, postgres }: Throughput['cpuMsPerRun']): string[] {
  return [worker, api, temporal, postgres].map((rounds) => toText(spreadOf(rounds)));
}

/** Describes the clients, and the calls if they copy those of a peer. */
function clientsOf({ pollMode, calls, call }: Throughput): string {
  return call === undefined ? describePollMode(pollMode) : `${describePollMode(pollMode)}; ${calls} times ${call}`;
}

function pollsTable({ polls }: Results): Table {
  return {
    title: 'Polls of the service at 100 a second',
    words: 3,
    head: ['subject', 'runs', 'load', 'polls', 'p50 ms', 'p99 ms'],
    rows: polls.map(({ subject, of, load, polls: count, p50Ms, p99Ms }) => [
      subject,
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
    words: 1,
    head: [
      'subject',
      'finished',
      'continues after: median s',
      'last s',
      'finished calls repeated',
      'open calls repeated',
    ],
    rows: kills.map((kill) => [
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
    head: ['subject', 'worker KiB a waiting run', 'API MiB in the thirds of a load', 'worker MiB in the thirds'],
    rows: memory.map(({ subject, workerKibPerWaitingRun, apiMib, workerMib }) => [
      subject,
      short(workerKibPerWaitingRun),
      apiMib.map(short).join(', '),
      workerMib.map(short).join(', '),
    ]),
  };
}

/** Returns the lowest, median and highest round, for example "0.85-0.91-0.97", or a single figure if they are equal. */
function toText({ min, median: middle, max }: Spread): string {
  return min === max ? short(middle) : [min, middle, max].map(short).join('-');
}

/** Rounds to three significant digits, or to a whole number. */
function short(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2);
}
