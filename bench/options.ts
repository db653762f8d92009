// The command line of `npm run bench`.
import { Command, InvalidArgumentError, Option } from 'commander';
import { VARIANTS, type Variant } from './results.js';

/** In the order in which they are measured; the last one kills the worker. */
export const ROW_NAMES = [
  'empty',
  'chain-5',
  'chain-20',
  'fan-out-20',
  'branch',
  'concurrency',
  'nodes',
  'polls',
  'memory',
  'kill',
] as const;
export type RowName = (typeof ROW_NAMES)[number];

export interface BenchOptions {
  only: RowName[];
  variants: Variant[];
  /** Runs at once; the rows `concurrency`, `nodes`, `polls`, `memory` and `kill` have their own. */
  lanes: number[];
  rounds: number;
  /** Of one round of one subject. */
  seconds: number;
  isQuick: boolean;
  json: string;
  /** A file of earlier results, instead of measuring. */
  from: string | undefined;
  writeDocs: boolean;
  /** Over the stack's settings. */
  env: Record<string, string>;
}

interface Given {
  only?: RowName[];
  variants: Variant[];
  atOnce: number[];
  rounds?: number;
  seconds?: number;
  quick: boolean;
  json: string;
  from?: string;
  writeDocs: boolean;
  env: Record<string, string>;
}

export function parseOptions(argv: readonly string[]): BenchOptions {
  const given = new Command('bench')
    .description('Measures the service beside a hand-written Temporal workflow that makes the same HTTP calls')
    .addOption(new Option('--only <rows>', `of: ${ROW_NAMES.join(', ')}`).argParser(oneOrMoreOf(ROW_NAMES)))
    .addOption(
      new Option('--variants <variants>', `of: ${VARIANTS.join(', ')}`)
        .argParser(oneOrMoreOf(VARIANTS))
        .default(['normal', 'alone', 'quick'] satisfies Variant[], 'normal,alone,quick'),
    )
    .option('--at-once <numbers>', 'runs at once in the rows of jobs', parseNumbers, [1, 20])
    .option('--rounds <number>', 'rounds of each subject (4; with --quick 1)', parsePositive)
    .option('--seconds <number>', 'length of a round (4; with --quick 1)', parsePositive)
    .option('--quick', 'a short look: short rounds, fewer sizes', false)
    .option('--json <file>', 'where the figures go', 'bench/results/latest.json')
    .option('--from <file>', 'show the figures of an earlier benchmark instead of measuring')
    .option('--write-docs', 'write docs/evidence/benchmarks.md, its plots and its figures', false)
    .option('--env <name=value>', 'a setting of the stack; may be repeated', addVariable, {})
    .parse(argv, { from: 'user' })
    .opts<Given>();
  return {
    only: given.only ?? [...ROW_NAMES],
    variants: given.variants,
    lanes: given.atOnce,
    rounds: given.rounds ?? (given.quick ? 1 : 4),
    seconds: given.seconds ?? (given.quick ? 1 : 4),
    isQuick: given.quick,
    json: given.json,
    from: given.from,
    writeDocs: given.writeDocs,
    env: given.env,
  };
}

/** In their own order, whatever order they are named in. */
function oneOrMoreOf<T extends string>(known: readonly T[]): (text: string) => T[] {
  return (text) => {
    const named = text.split(',').map((name) => name.trim());
    const stranger = named.find((name) => !(known as readonly string[]).includes(name));
    if (stranger !== undefined) throw new InvalidArgumentError(`${stranger} is none of ${known.join(', ')}.`);
    return known.filter((name) => named.includes(name));
  };
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
