// `npm test` and the other suites (tiers.ts): `main.ts SUITE`, or `main.ts SUITE FILE...` for only these files, from
// any suite. The last line of the output is "N passed, N failed". Options: `--grep TEXT`, `--jobs N`, `--slowest N`.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { findTemporalBinary } from '../../cli/embedded/temporal-binary.js';
import { runInLanes, type Group, type TimedResult } from './lanes.js';
import { openReport, type Report } from './report.js';
import { openStackToLend } from './stack-to-lend.js';
import { testFiles } from './test-files.js';
import { ALONE, GROUPS, LONG, matches, roundsOf, TIERS, type Round, type TierName } from './tiers.js';

/** Three more jobs than processors, but at most five. Files wait most of the time. */
const JOBS = Math.min(5, availableParallelism() + 3);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    grep: { type: 'string' },
    jobs: { type: 'string', default: String(JOBS) },
    slowest: { type: 'string', default: '10' },
  },
});

process.exitCode = (await main()) ? 0 : 1;

async function main(): Promise<boolean> {
  const report = openReport();
  await ensureTemporal();
  for (const round of chosenRounds()) await runRound(round, report);
  return report.close(Number(values.slowest));
}

function chosenRounds(): Round[] {
  const files = testFiles();
  const [tier, ...patterns] = positionals;
  if (tier === undefined || !(tier in TIERS))
    throw new Error(`the first argument is one of ${Object.keys(TIERS).join(', ')}`);
  if (patterns.length === 0) return roundsOf(tier as TierName, files);
  return [{ title: 'Of all suites', files: files.filter((file) => matches(file, patterns)) }];
}

async function runRound({ title, files, env = {} }: Round, report: Report): Promise<void> {
  process.stdout.write(`\n${title}: ${files.length} files\n`);
  const stack = openStackToLend(env);
  let failed = false;
  const options = {
    grep: values.grep,
    env: { ...env, ...pickEnvironment(env) },
    sharedStack: () => stack.lend(),
    onResult(result: TimedResult) {
      failed ||= result.failures > 0;
      report.add(result);
    },
  };
  const [alone, together] = partition(files, (file) => matches(file, ALONE));
  await runInLanes(toGroups(together), { ...options, jobs: Number(values.jobs) });
  await runInLanes(
    [alone].filter(({ length }) => length > 0),
    { ...options, jobs: 1 },
  );
  await stack.close({ keep: failed }).catch((error: unknown) => {
    report.add({
      file: '(the shared stack)',
      passes: 0,
      failures: 1,
      pending: 0,
      cpuMs: 0,
      rssMb: 0,
      output: String(error),
      durationMs: 0,
    });
  });
}

/** Variables that a person sets, such as RANDOM_DRAWINGS, override those of a round. */
function pickEnvironment(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.keys(env).flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/** Groups with a file of LONG come first. */
function toGroups(files: string[]): Group[] {
  const groups: Group[] = GROUPS.map((patterns) => files.filter((file) => matches(file, patterns)));
  for (const file of files) if (!groups.some((group) => group.includes(file))) groups.push([file]);
  const [long, short] = partition(groups, (group) => group.some((file) => matches(file, LONG)));
  return [...long, ...short].filter(({ length }) => length > 0);
}

function partition<T>(items: T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter((item) => test(item)), items.filter((item) => !test(item))];
}

/**
 * Downloads or compiles the Temporal CLI if needed. That takes minutes, so it happens before the tests, with visible
 * progress and outside of their time-outs.
 */
async function ensureTemporal(): Promise<void> {
  await findTemporalBinary({
    configured: process.env['TEMPORAL_CLI'],
    env: process.env,
    report: (line) => process.stderr.write(`${line}\n`),
    signal: new AbortController().signal,
  });
}
