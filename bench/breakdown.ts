// Breaks down the costs of a run: the processor time of each process, and the database statements (polls included) as
// pg_stat_statements counts them. With `--profile FOLDER` it also shows where each thread spent its time.
//   npm run --silent build
//   node dist/bench/breakdown.js [--graph diamonds] [--variant dense] [--runs 60] [--lanes 20]
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Command, Option } from 'commander';
import pg from 'pg';
import { graphs } from './graphs.js';
import { runJob } from './load.js';
import { SETTINGS_OF } from './measure.js';
import { GRAPH_ROWS, type GraphRow } from './graph-rows.js';
import { addVariable } from './options.js';
import { cpuBetween, cpuOf, type CpuSeconds } from './processes.js';
import { toProfileTables } from './report/profile-tables.js';
import { toText } from './report/render.js';
import type { BareStack } from '../harness/stack/stack.js';
import { OWN_BUILD } from '../harness/stack/supervisor.js';
import { VARIANTS, type Variant } from './subjects.js';
import { openTestbed } from './testbed.js';

interface Given {
  graph: GraphRow;
  variant: Variant;
  runs: number;
  lanes: number;
  pollMs: number;
  env: Record<string, string>;
  profile?: string;
}

interface Counted {
  statements: Statement[];
  commits: number;
  cpu: CpuSeconds;
}

interface Statement {
  query: string;
  calls: number;
  total_exec_time: number;
  /** Excludes executions of a prepared statement that reused its plan. */
  plans: number;
  total_plan_time: number;
}

const { graph, variant, runs, lanes, pollMs, env, profile } = new Command('breakdown')
  .addOption(new Option('--graph <name>', 'what a run does').choices(GRAPH_ROWS).default('chain-5'))
  .addOption(new Option('--variant <name>', 'how the service executes it').choices(VARIANTS).default('visible'))
  .option('--runs <number>', 'runs to count', Number, 60)
  .option('--lanes <number>', 'runs at once', Number, 20)
  .option('--poll-ms <number>', 'how often a run is polled', Number, 500)
  .option('--env <name=value>', 'a setting of the stack; may be repeated', addVariable, {})
  .option('--profile <folder>', 'where the profiles go')
  .parse()
  .opts<Given>();

const profilerEnv = profile === undefined ? {} : profilerSettings(path.resolve(profile));
const stackEnv = { ...SETTINGS_OF[variant], ...profilerEnv, ...env };
const testbed = await openTestbed([{ name: variant, build: OWN_BUILD, env: stackEnv }]);
const [service] = testbed.services as [(typeof testbed.services)[0]];
try {
  await loadExtension(service.stack);
  await service.prepare(graphs[graph]);
  await execute(lanes * 2); // warm-up
  await pause(6_000); // until work that the warm-up has caused is done
  await execute(lanes);
  show(await counted());
  if (profile !== undefined) for (const table of toProfileTables(profile, runs)) console.log(toText(table));
} finally {
  await testbed.close();
}

function profilerSettings(folder: string): Record<string, string> {
  mkdirSync(folder, { recursive: true });
  const earlier = readdirSync(folder).filter((file) => file.endsWith('.cpuprofile'));
  for (const file of earlier) rmSync(path.join(folder, file));
  return { PROFILE_DIR: folder, NODE_OPTIONS: `--import ${new URL('./profiler.js', import.meta.url).href}` };
}

async function profiled<T>(work: () => Promise<T>): Promise<T> {
  if (profile === undefined) return work();
  const wanted = path.join(profile, 'on');
  writeFileSync(wanted, '');
  try {
    return await work();
  } finally {
    rmSync(wanted, { force: true });
    // The threads check for the file every 100 ms, and then write some megabytes.
    await pause(3_000);
  }
}

/** The server loads pg_stat_statements only when it starts, so it is stopped and the stack's supervisor restarts it. */
async function loadExtension(stack: BareStack): Promise<void> {
  const { database_url: url } = stack.stack;
  await query(url, "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'");
  await query(url, "ALTER SYSTEM SET pg_stat_statements.track_planning = 'on'");
  process.kill(stack.stack.pids.postgres!, 'SIGINT');
  for (let tries = 0; ; tries++) {
    await pause(500);
    try {
      await query(url, 'CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
      break;
    } catch (error) {
      if (tries > 60) throw error;
    }
  }
  const { api_url: apiUrl } = stack.stack;
  while (!(await fetch(`${apiUrl}/readyz`)).ok) await pause(200);
}

async function execute(count: number): Promise<void> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await runJob(service, graphs[graph], pollMs);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

async function counted(): Promise<Counted> {
  const url = service.stack.stack.database_url;
  const readCommits = async (): Promise<number> => {
    const [row] = await query<{ commits: string }>(
      url,
      'SELECT pg_stat_force_next_flush(), xact_commit AS commits FROM pg_stat_database WHERE datname = current_database()',
    );
    return Number(row!.commits);
  };
  await query(url, 'SELECT pg_stat_statements_reset()');
  const before = await readCommits();
  const cpu = await profiled(async () => {
    const cpuBefore = cpuOf(service.pids());
    await execute(runs);
    return cpuBetween(cpuBefore, cpuOf(service.pids()));
  });
  // An idle backend flushes its counts within a second.
  await pause(1_500);
  const commits = (await readCommits()) - before;
  const statements = await query<Statement>(
    url,
    'SELECT query, calls::integer, total_exec_time, plans::integer, total_plan_time FROM pg_stat_statements ORDER BY calls DESC, total_exec_time DESC',
  );
  return { statements, commits, cpu };
}

function show({ statements, commits, cpu }: Counted): void {
  const perRun = (value: number): string => (value / runs).toFixed(2);
  const ofParts = Object.entries(cpu).map(([part, seconds]) => [part, perRun(seconds * 1000)]);
  const what = `a run of ${graph}, ${variant}, ${lanes} at once`;
  console.log(toText({ title: `CPU of ${what}`, words: 1, head: ['process', 'ms a run'], rows: ofParts }));
  const rows = statements
    .filter((statement) => statement.calls >= runs / 10)
    .map((statement) => [
      perRun(statement.calls),
      perRun(statement.total_exec_time),
      perRun(statement.plans),
      perRun(statement.total_plan_time),
      statement.query.replaceAll(/\s+/g, ' ').slice(0, 200),
    ]);
  const title = `Statements of ${what} (${runs} runs, ${perRun(commits)} transactions a run)`;
  console.log(toText({ title, words: 5, head: ['calls', 'ms', 'plans', 'ms', 'statement'], rows }));
}

async function query<Row>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows as Row[];
  } finally {
    await client.end();
  }
}
