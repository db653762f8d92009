// docs/evidence/benchmarks.md gets its figures from a file, never from a hand.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Results } from '../results.js';
import { toCharts } from './charts.js';
import { toMarkdown } from './render.js';
import { toTables } from './tables.js';

const MARKS = ['<!-- figures: written by `npm run bench -- --write-docs` -->', '<!-- end of figures -->'] as const;

/** Writes `benchmarks/reference.json`, the plots, and the part of `benchmarks.md` between its marks. */
export function writeDocs(docs: string, results: Results): void {
  const folder = path.join(docs, 'benchmarks');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'reference.json'), `${JSON.stringify(results, null, 1)}\n`);
  const charts = toCharts(results);
  for (const [file, svg] of Object.entries(charts)) writeFileSync(path.join(folder, file), svg);
  const page = path.join(docs, 'benchmarks.md');
  writeFileSync(page, withFigures(readFileSync(page, 'utf8'), toFigures(results, Object.keys(charts))));
}

/** Throws where the page has lost its marks. */
export function withFigures(page: string, figures: string): string {
  const [start, end] = MARKS.map((mark) => page.indexOf(mark));
  if (start === -1 || end === -1)
    throw new Error('docs/evidence/benchmarks.md has no marks to write the figures between');
  return `${page.slice(0, start! + MARKS[0].length)}\n\n${figures}\n${page.slice(end)}`;
}

function toFigures(results: Results, charts: readonly string[]): string {
  const { machine, settings, measuredAt } = results;
  const { rounds, seconds } = settings;
  const intro =
    `${measuredAt.slice(0, 10)}: ${machine.cores} cores (${machine.model}), ${machine.memoryGib} GiB, ${machine.platform}, ` +
    `Node.js ${machine.node}; load of the machine before: ${machine.loadBefore}. Rounds: ${rounds} of ${seconds} s.`;
  const images = charts.map((file) => `![${file.replace('.svg', '').replaceAll('-', ' ')}](benchmarks/${file})`);
  return [intro, ...images, ...toTables(results).map(toMarkdown)].join('\n\n');
}
