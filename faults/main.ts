// `npm run faults` starts a stack for each mode of execution, applies every fault to it under load, checks the
// invariants, and prints a table (docs/operate/faults.md).
//   npm run faults -- --only kill-worker --runs 5 --execution visible
//   npm run faults -- --hosts                  the faults of several hosts, as root
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { enterNamespaces } from '../harness/hosts/network.js';
import type { Fault } from './fault.js';
import { createBed, prepareBed } from './hosts/bed.js';
import { reasonToSkip, missingOf } from './hosts/programs.js';
import { hostFaults } from './hosts/rows.js';
import { EXECUTIONS, faults, runRow, type Execution, type RowResult } from './matrix.js';
import { writePages } from './page.js';
import type { Struck } from './service.js';
import { toDetails, toTable } from './table.js';
import { createWorld } from './world.js';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    execution: { type: 'string', multiple: true, default: ['visible', 'dense'] },
    hosts: { type: 'boolean', default: false },
    'dev-temporal': { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    runs: { type: 'string' },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    env: { type: 'string', multiple: true, default: [] },
  },
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const RUNS = 20;
const RUNS_ON_HOSTS = 60;

if (values.write && !values.hosts) throw new Error('--write is for the table of several hosts: add --hosts');

if (values.list) {
  for (const { name, title } of values.hosts ? hostFaults : faults) print(`${name.padEnd(24)} ${title}`);
} else if (!values.hosts) {
  process.exitCode = (await runMatrix(faults, createWorld)) ? 0 : 1;
} else {
  const isDev = values['dev-temporal'];
  const lack = reasonToSkip(isDev);
  if (lack !== undefined) print(`SKIPPED: all rows of several hosts, because ${lack}`);
  else if (await enterNamespaces(() => prepareBed({ isDev, report: print }))) {
    const isSurvived = await runMatrix(withoutSkipped(), (settings) => createBed({ settings, isDev, report: print }));
    // The exit of this process ends all processes that are left in its namespaces.
    process.exit(isSurvived ? 0 : 1);
  }
}

/** Returns the rows that this machine can play, and prints the others. */
function withoutSkipped(): typeof hostFaults {
  return hostFaults.filter(({ name, needs }) => {
    const missing = missingOf(needs);
    if (missing.length > 0) print(`SKIPPED: ${name}, because this machine has no ${missing.join(', no ')}`);
    return missing.length === 0;
  });
}

interface Totals {
  rows: RowResult[];
  /** Messages of errors when stacks were closed, mostly about processes that were left behind. */
  leftBehind: string[];
  /** Messages about modes of execution whose stack could not be started. */
  notStarted: string[];
}

/** Returns true if every fault was survived and no process was left behind. */
async function runMatrix<Where extends Struck>(all: Fault<Where>[], create: Create<Where>): Promise<boolean> {
  const chosen = choose(all, values.only);
  const executions = chooseExecutions(values.execution);
  const runs = Number(values.runs ?? (values.hosts ? RUNS_ON_HOSTS : RUNS));
  if (!Number.isInteger(runs) || runs < 1) throw new Error('--runs takes a whole number above 0');
  const startedAt = Date.now();
  const totals: Totals = { rows: [], leftBehind: [], notStarted: [] };
  for (const execution of executions) await runMode(create, { execution, chosen, runs }, totals);
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  return report(totals, chosen.length * executions.length, seconds);
}

type Create<Where extends Struck> = (settings: Record<string, string>) => Promise<Where>;

interface Mode<Where extends Struck> {
  execution: Execution;
  chosen: Fault<Where>[];
  runs: number;
}

async function runMode<Where extends Struck>(
  create: Create<Where>,
  { execution, chosen, runs }: Mode<Where>,
  totals: Totals,
): Promise<void> {
  const settings = { ...toEnvironment(values.env), EXECUTION: execution };
  const world = await create(settings).catch((error: unknown) => {
    // The results of a mode that has finished are still reported.
    totals.notStarted.push(`The mode ${execution} did not start: ${String(error)}`);
  });
  if (world === undefined) return;
  const closeAndExit = (): void => void world.close({ keep: values.keep }).finally(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, closeAndExit);
  const rows: RowResult[] = [];
  try {
    for (const fault of chosen) {
      if (!world.isRunning()) break;
      rows.push(await runAndReport(world, execution, fault, runs));
    }
  } finally {
    const isSurvived = rows.length === chosen.length && rows.every(({ violations }) => violations.length === 0);
    if (!isSurvived) print(`Data and logs stay in ${world.folder}`);
    const leftBehind = await closeWorld(world, values.keep || !isSurvived);
    if (leftBehind !== undefined) totals.leftBehind.push(leftBehind);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, closeAndExit);
    totals.rows.push(...rows);
  }
}

function report({ rows, leftBehind, notStarted }: Totals, expected: number, seconds: number): boolean {
  print(`\n${toTable(rows)}\n`);
  for (const line of [...toDetails(rows), ...leftBehind, ...notStarted]) print(line);
  const survived = rows.filter(({ violations }) => violations.length === 0).length;
  const total = (of: (row: RowResult) => number): number => rows.reduce((sum, row) => sum + of(row), 0);
  print(
    `${survived} of ${expected} faults survived; ${total((row) => row.runs)} runs, ${total((row) => row.repeats)} calls repeated; ` +
      `${leftBehind.length === 0 ? 'no process left behind' : 'processes left behind'}; ${seconds} s`,
  );
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ rows, leftBehind, notStarted, seconds }, null, 2)}\n`);
  if (values.write && notStarted.length === 0) writePages(rows, process.argv.slice(2));
  return survived === expected && leftBehind.length === 0 && notStarted.length === 0;
}

/** Parses `NAME=VALUE` settings of the stack. */
function toEnvironment(settings: string[]): Record<string, string> {
  return Object.fromEntries(
    settings.map((setting) => {
      const [name = '', ...value] = setting.split('=');
      if (name === '' || value.length === 0) throw new Error(`--env takes NAME=VALUE, not ${setting}`);
      return [name, value.join('=')];
    }),
  );
}

function choose<Where extends Struck>(all: Fault<Where>[], only: string[] | undefined): Fault<Where>[] {
  if (only === undefined) return all;
  const unknown = only.filter((name) => all.every((fault) => fault.name !== name));
  if (unknown.length > 0) throw new Error(`there is no fault ${unknown.join(', ')}; --list names them`);
  return all.filter(({ name }) => only.includes(name));
}

function chooseExecutions(names: string[]): Execution[] {
  return names.map((name) => {
    const known = EXECUTIONS.find((execution) => execution === name);
    if (known === undefined) throw new Error(`--execution takes ${EXECUTIONS.join(' or ')}, not ${name}`);
    return known;
  });
}

async function runAndReport<Where extends Struck>(
  world: Where,
  execution: Execution,
  fault: Fault<Where>,
  runs: number,
): Promise<RowResult> {
  const row = { ...(await runRow(world, fault, runs)), execution };
  const verdict = row.violations.length === 0 ? 'survived' : `NOT survived (${row.violations.length} violations)`;
  print(`${execution}: ${fault.title}: ${verdict}, ${row.seconds.toFixed(0)} s`);
  for (const line of toDetails([row])) print(`  ${line}`);
  return row;
}

/** Returns the message of the error if the close fails, for example because a process was left behind. */
async function closeWorld(world: Struck, keep: boolean): Promise<string | undefined> {
  try {
    await world.close({ keep });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
