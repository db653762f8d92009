// `npm run faults` starts a stack for each mode of execution, applies every fault to it under load, checks the
// invariants, and prints a table (docs/operate/faults.md).
//   npm run faults -- --only kill-worker --runs 5 --execution visible
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readStackFile } from '../cli/embedded/stack-file.js';
import { EXECUTIONS, faults, runRow, type Execution, type RowResult } from './matrix.js';
import { toDetails, toTable } from './table.js';
import { createWorld, type World } from './world.js';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    execution: { type: 'string', multiple: true, default: ['visible', 'dense'] },
    list: { type: 'boolean', default: false },
    runs: { type: 'string', default: '20' },
    json: { type: 'string' },
    keep: { type: 'boolean', default: false },
    env: { type: 'string', multiple: true, default: [] },
  },
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);

if (values.list) {
  for (const { name, title } of faults) print(`${name.padEnd(18)} ${title}`);
} else {
  process.exitCode = (await runMatrix()) ? 0 : 1;
}

interface Totals {
  rows: RowResult[];
  /** Messages about processes that were left behind. */
  leftBehind: string[];
}

/** Returns true if every fault was survived and no process was left behind. */
async function runMatrix(): Promise<boolean> {
  const chosen = choose(values.only);
  const executions = chooseExecutions(values.execution);
  const runs = Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1) throw new Error('--runs takes a whole number above 0');
  const startedAt = Date.now();
  const totals: Totals = { rows: [], leftBehind: [] };
  for (const execution of executions) await runMode(execution, chosen, runs, totals);
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  return report(totals, chosen.length * executions.length, seconds);
}

async function runMode(execution: Execution, chosen: typeof faults, runs: number, totals: Totals): Promise<void> {
  const world = await createWorld({ ...toEnvironment(values.env), EXECUTION: execution });
  const closeAndExit = (): void => void world.close({ keep: values.keep }).finally(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, closeAndExit);
  const rows: RowResult[] = [];
  try {
    for (const fault of chosen) {
      if (readStackFile(world.stack.dataDir) === undefined) break; // the previous row has left no running stack
      rows.push(await runAndReport(world, execution, fault, runs));
    }
  } finally {
    const isSurvived = rows.length === chosen.length && rows.every(({ violations }) => violations.length === 0);
    if (!isSurvived) print(`The stack's data and logs stay in ${world.stack.dataDir}`);
    const leftBehind = await closeWorld(world, values.keep || !isSurvived);
    if (leftBehind !== undefined) totals.leftBehind.push(leftBehind);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, closeAndExit);
    totals.rows.push(...rows);
  }
}

function report({ rows, leftBehind }: Totals, expected: number, seconds: number): boolean {
  print(`\n${toTable(rows)}\n`);
  for (const line of [...toDetails(rows), ...leftBehind]) print(line);
  const survived = rows.filter(({ violations }) => violations.length === 0).length;
  const total = (of: (row: RowResult) => number): number => rows.reduce((sum, row) => sum + of(row), 0);
  print(
    `${survived} of ${expected} faults survived; ${total((row) => row.runs)} runs, ${total((row) => row.repeats)} calls repeated; ` +
      `${leftBehind.length === 0 ? 'no process left behind' : 'processes left behind'}; ${seconds} s`,
  );
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ rows, leftBehind, seconds }, null, 2)}\n`);
  return survived === expected && leftBehind.length === 0;
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

function choose(only: string[] | undefined): typeof faults {
  if (only === undefined) return faults;
  const unknown = only.filter((name) => faults.every((fault) => fault.name !== name));
  if (unknown.length > 0) throw new Error(`there is no fault ${unknown.join(', ')}; --list names them`);
  return faults.filter(({ name }) => only.includes(name));
}

function chooseExecutions(names: string[]): Execution[] {
  return names.map((name) => {
    const known = EXECUTIONS.find((execution) => execution === name);
    if (known === undefined) throw new Error(`--execution takes ${EXECUTIONS.join(' or ')}, not ${name}`);
    return known;
  });
}

async function runAndReport(
  world: World,
  execution: Execution,
  fault: (typeof faults)[number],
  runs: number,
): Promise<RowResult> {
  const row = { ...(await runRow(world, fault, runs)), execution };
  const verdict = row.violations.length === 0 ? 'survived' : `NOT survived (${row.violations.length} violations)`;
  print(`${execution}: ${fault.title}: ${verdict}, ${row.seconds.toFixed(0)} s`);
  for (const line of toDetails([row])) print(`  ${line}`);
  return row;
}

/** Returns a message if a process was left behind. */
async function closeWorld(world: World, keep: boolean): Promise<string | undefined> {
  try {
    await world.close({ keep });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
