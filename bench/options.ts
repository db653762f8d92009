// The command line of `npm run bench`.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { BESIDE_ROWS, GRAPH_ROWS, type BesideRow } from './graph-rows.js';
import { VARIANTS, type Variant } from './subjects.js';

/** The rows in the order of measurement. The last one kills the worker. */
const ROW_NAMES = [...GRAPH_ROWS, 'costs', 'polls', 'memory', 'kill'] as const;
type RowName = (typeof ROW_NAMES)[number];

export interface BenchOptions {
  only: RowName[];
  variants: Variant[];
  /** The numbers of runs at once. The rows `costs`, `polls`, `memory` and `kill` use their own. */
  lanes: number[];
  rounds: number;
  /** The length of one round of one subject. */
  seconds: number;
  /** The intervals in milliseconds between two polls of a run. If undefined, they depend on whether it runs alone. */
  pollMs: number[] | undefined;
  isQuick: boolean;
  json: string;
  /** A file of earlier results, which replaces the measurement. */
  from: string | undefined;
  writeDocs: boolean;
  /** Overrides settings of the stack. */
  env: Record<string, string>;
  /** The service that a paired benchmark compares this build with, instead of the twins. */
  other: Other | undefined;
  /** The peers that the service is compared with, instead of the twins. */
  beside: Beside[];
  /** The port of the target, for peers that are configured to call it. The default is any free one. */
  targetPort: number | undefined;
}

interface Beside {
  row: BesideRow;
  /** The address that answers a POST after the calls of the row. */
  url: string;
}

interface Other {
  /** The folder `dist` of another checkout; undefined for this build with other settings. */
  build: string | undefined;
  env: Record<string, string>;
}

interface Given {
  only?: RowName[];
  variants: Variant[];
  atOnce: number[];
  rounds?: number;
  seconds?: number;
  pollMs?: number[];
  quick: boolean;
  json: string;
  from?: string;
  writeDocs: boolean;
  env: Record<string, string>;
  against?: string;
  envB: Record<string, string>;
  beside: Beside[];
  targetPort?: number;
}

export function parseOptions(argv: readonly string[]): BenchOptions {
  const given = new Command('bench')
    .description('Measures the service beside a hand-written Temporal workflow that makes the same HTTP calls')
    .addOption(new Option('--only <rows>', `of: ${ROW_NAMES.join(', ')}`).argParser(oneOrMoreOf(ROW_NAMES)))
    .addOption(
      new Option('--variants <variants>', `of: ${VARIANTS.join(', ')}`)
        .argParser(oneOrMoreOf(VARIANTS))
        .default([...VARIANTS], VARIANTS.join(',')),
    )
    .option('--at-once <numbers>', 'runs at once in the rows of jobs', parseNumbers, [1, 20])
    .option('--rounds <number>', 'rounds of each subject (3; with --quick 1)', parsePositive)
    .option('--seconds <number>', 'length of a round (4; with --quick 1)', parsePositive)
    .option('--poll-ms <number>', 'how often a run is polled (10 alone, else 50 and 500)', parseNumbers)
    .option('--quick', 'a short look: short rounds, little warm-up', false)
    .option('--json <file>', 'where the figures go', 'bench/results/latest.json')
    .option('--from <file>', 'show the figures of an earlier benchmark instead of measuring')
    .option('--write-docs', 'write the published page', false)
    .option('--env <name=value>', 'a setting of the stack; may be repeated', addVariable, {})
    .option('--against <folder>', 'pair this build with that of another checkout, instead of with the twins', toBuild)
    .option('--env-b <name=value>', 'pair this build with one that has this setting; may be repeated', addVariable, {})
    .option('--beside <row=url>', 'measure what answers a POST there when it is done; may be repeated', addBeside, [])
    .option('--target-port <number>', 'where the target of all calls listens', parsePositive)
    .parse(argv, { from: 'user' })
    .opts<Given>();
  const { atOnce, quick, only, against, envB, beside, ...rest } = given;
  const isPaired = against !== undefined || Object.keys(envB).length > 0;
  const rows = beside.length > 0 ? [] : isPaired ? [...GRAPH_ROWS] : [...ROW_NAMES];
  return {
    ...rest,
    only: only ?? rows,
    beside,
    targetPort: given.targetPort,
    lanes: atOnce,
    rounds: given.rounds ?? (quick ? 1 : 3),
    seconds: given.seconds ?? (quick ? 1 : 4),
    pollMs: given.pollMs,
    isQuick: quick,
    from: given.from,
    other: isPaired ? { build: against, env: { ...given.env, ...envB } } : undefined,
  };
}

/** Returns the values that the text names, in the order of `known`. */
function oneOrMoreOf<T extends string>(known: readonly T[]): (text: string) => T[] {
  return (text) => {
    const named = text.split(',').map((name) => name.trim());
    const stranger = named.find((name) => !(known as readonly string[]).includes(name));
    if (stranger !== undefined) throw new InvalidArgumentError(`${stranger} is none of ${known.join(', ')}.`);
    return known.filter((name) => named.includes(name));
  };
}

function toBuild(checkout: string): string {
  const build = path.resolve(checkout, 'dist');
  if (!existsSync(path.join(build, 'cli/start.js'))) throw new InvalidArgumentError(`${build} holds no build.`);
  return build;
}

function addBeside(text: string, before: Beside[]): Beside[] {
  const [name, url] = [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)];
  const row = BESIDE_ROWS.find((known) => known === name);
  if (row === undefined) throw new InvalidArgumentError(`It must be ROW=URL with one of ${BESIDE_ROWS.join(', ')}.`);
  if (!URL.canParse(url)) throw new InvalidArgumentError(`${url} is no address.`);
  return [...before, { row, url }];
}

function parseNumbers(text: string): number[] {
  return text.split(',').map(parsePositive);
}

function parsePositive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

export function addVariable(text: string, before: Record<string, string>): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be NAME=VALUE.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
