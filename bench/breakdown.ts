// Where a run's time goes: the statements that it sends to the database, counted by the database itself
// (pg_stat_statements), polls included; and with `--profile FOLDER` a profile of every thread of the service.
//   npm run --silent build && node dist/bench/breakdown.js [--calls 5] [--runs 60] [--lanes 20] [--env NAME=VALUE]
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import pg from 'pg';
import { chainOf, type Graph } from './graphs.js';
import { pollIntervalMs, runJob } from './load.js';
import { addVariable } from './options.js';
import { toText } from './report/render.js';
import { openTestbed, type Testbed } from './testbed.js';

interface Statement {
  query: string;
  calls: number;
  total_exec_time: number;
  /** Of prepared statements only those that were planned anew. */
  plans: number;
  total_plan_time: number;
}

const { calls, runs, lanes, env, profile } = new Command('breakdown')
  .option('--calls <number>', 'length of the chain', Number, 5)
  .option('--runs <number>', 'runs to count', Number, 60)
  .option('--lanes <number>', 'runs at once', Number, 20)
  .option('--env <name=value>', 'a setting of the stack; may be repeated', addVariable, {})
  .option('--profile <folder>', 'where the profiles go')
  .parse()
  .opts<{ calls: number; runs: number; lanes: number; env: Record<string, string>; profile?: string }>();

const testbed = await openTestbed({
  ...(profile === undefined ? {} : profilerSettings(path.resolve(profile))),
  ...env,
});
try {
  await loadExtension(testbed);
  const graph = chainOf(calls);
  await testbed.subjects.service.prepare(graph);
  await execute(graph, lanes * 2); // warm-up
  const { statements, commits } = await counted(testbed, () => profiled(() => execute(graph, runs)));
  show(statements, commits);
} finally {
  await testbed.close();
}

function profilerSettings(folder: string): Record<string, string> {
  mkdirSync(folder, { recursive: true });
  return { PROFILE_DIR: folder, NODE_OPTIONS: `--import ${new URL('./profiler.js', import.meta.url).href}` };
}

async function profiled(work: () => Promise<void>): Promise<void> {
  if (profile === undefined) return work();
  const wanted = path.join(profile, 'on');
  writeFileSync(wanted, '');
  try {
    await work();
  } finally {
    rmSync(wanted, { force: true });
    // The threads look ten times a second, and write some megabytes.
    await pause(3_000);
  }
}

/** It counts only when it is there from the start of the server, which its supervisor starts again. */
async function loadExtension({ stack }: Testbed): Promise<void> {
  const { database_url: url } = stack.file;
  await query(url, "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'");
  await query(url, "ALTER SYSTEM SET pg_stat_statements.track_planning = 'on'");
  process.kill(stack.file.pids.postgres!, 'SIGINT');
  for (let tries = 0; ; tries++) {
    await pause(500);
    try {
      await query(url, 'CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
      break;
    } catch (error) {
      if (tries > 60) throw error;
    }
  }
  const { api_url: apiUrl } = stack.file;
  while (!(await fetch(`${apiUrl}/readyz`)).ok) await pause(200);
}

async function execute(graph: Graph, count: number): Promise<void> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await runJob(testbed.subjects.service, graph, pollIntervalMs(lanes, graph.calls));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

async function counted(
  { stack }: Testbed,
  work: () => Promise<void>,
): Promise<{ statements: Statement[]; commits: number }> {
  const url = stack.file.database_url;
  const readCommits = async (): Promise<number> => {
    const [row] = await query<{ commits: string }>(
      url,
      'SELECT pg_stat_force_next_flush(), xact_commit AS commits FROM pg_stat_database WHERE datname = current_database()',
    );
    return Number(row!.commits);
  };
  await query(url, 'SELECT pg_stat_statements_reset()');
  const before = await readCommits();
  await work();
  // A backend that goes idle hands its counts in within a second.
  await pause(1_500);
  const commits = (await readCommits()) - before;
  const statements = await query<Statement>(
    url,
    'SELECT query, calls::integer, total_exec_time, plans::integer, total_plan_time FROM pg_stat_statements ORDER BY calls DESC, total_exec_time DESC',
  );
  return { statements, commits };
}

function show(statements: readonly Statement[], commits: number): void {
  const perRun = (value: number): string => (value / runs).toFixed(2);
  const rows = statements
    .filter((statement) => statement.calls >= runs / 10)
    .map((statement) => [
      perRun(statement.calls),
      perRun(statement.total_exec_time),
      perRun(statement.plans),
      perRun(statement.total_plan_time),
      statement.query.replaceAll(/\s+/g, ' ').slice(0, 200),
    ]);
  const title = `Statements of a run of ${calls} calls, ${lanes} at once (${runs} runs, ${perRun(commits)} transactions a run)`;
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
