// Writes the table of the faults of several hosts into docs/operate/faults.md, and its total into README.md.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RowResult } from './matrix.js';
import { toTable } from './table.js';

const ROOT = path.resolve(import.meta.dirname, '..');
const BEGIN = '<!-- faults of several hosts -->';
const END = '<!-- end -->';

/** `args` are those of the command. Throws if a row was not survived. */
export function writePages(rows: RowResult[], args: string[]): void {
  const lost = rows.filter(({ violations }) => violations.length > 0);
  if (lost.length > 0) throw new Error(`--write: ${lost.length} rows were not survived`);
  const runs = rows.reduce((sum, row) => sum + row.runs, 0).toLocaleString('en');
  const kinds = new Set(rows.map(({ name }) => name)).size;
  const modes = new Set(rows.map(({ execution }) => execution)).size;
  const total = `all ${runs} runs survived ${kinds} faults${modes > 1 ? ' in both modes of execution' : ''}`;
  replace('docs/operate/faults.md', `\n${toTable(rows)}\n\nIn \`npm run faults -- ${args.join(' ')}\` ${total}.\n`);
  replace('README.md', `In the latest measurement ${total}.`);
}

/** Replaces the text between the two comments. */
function replace(page: string, text: string): void {
  const file = path.join(ROOT, page);
  const before = readFileSync(file, 'utf8');
  const [from, to] = [before.indexOf(BEGIN), before.indexOf(END)];
  if (from === -1 || to < from) throw new Error(`${page} has no place for the table`);
  writeFileSync(file, `${before.slice(0, from + BEGIN.length)}${text}${before.slice(to)}`);
}
