// Writes the results as a Markdown table, which is also readable in a terminal.
import { INVARIANTS } from './report.js';
import type { RowResult } from './matrix.js';

const COLUMNS = [
  'fault',
  'execution',
  'runs',
  'succeeded',
  'outcome unknown',
  'calls repeated',
  'last end after',
  'survived',
];

/** Rows of several hosts have a further column, with the counts that show the effect of the fault. */
export function toTable(rows: RowResult[]): string {
  const hasEffects = rows.some(({ effects }) => effects.length > 0);
  const columns = hasEffects ? [...COLUMNS, 'counted'] : COLUMNS;
  const cells = rows.map((row) => [
    row.title,
    row.execution ?? 'visible',
    String(row.runs),
    String(row.succeeded),
    String(row.unknown),
    String(row.repeats),
    `${row.recoverySeconds.toFixed(1)} s`,
    toVerdict(row),
    ...(hasEffects ? [row.effects.join(', ')] : []),
  ]);
  const widths = columns.map((name, column) => Math.max(name.length, ...cells.map((line) => line[column]!.length)));
  const toLine = (line: string[]): string =>
    `| ${line.map((text, column) => text.padEnd(widths[column]!)).join(' | ')} |`;
  return [toLine(columns), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...cells.map(toLine)].join(
    '\n',
  );
}

/** Returns a line for each violation, with the name of its row. */
export function toDetails(rows: RowResult[]): string[] {
  return rows.flatMap(({ name, execution = 'visible', violations }) =>
    violations.map(({ invariant, message }) => `${name} (${execution}): ${invariant}: ${message}`),
  );
}

function toVerdict({ violations }: RowResult): string {
  if (violations.length === 0) return 'yes';
  const broken = INVARIANTS.filter((invariant) => violations.some((violation) => violation.invariant === invariant));
  return `NO: ${broken.join(', ')}`;
}
