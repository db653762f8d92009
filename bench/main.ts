// `npm run bench`: this service and a hand-written Temporal workflow side by side. docs/evidence/benchmarks.md says how to read it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeMachine } from './machine.js';
import { measureVariant } from './measure.js';
import { parseOptions, type BenchOptions } from './options.js';
import { limitsOf, type Figures } from './report/limits.js';
import { toText } from './report/render.js';
import { toTables } from './report/tables.js';
import { writeDocs } from './report/write-docs.js';
import type { Results } from './results.js';

const DOCS = fileURLToPath(new URL('../../docs/evidence', import.meta.url));

const options = parseOptions(process.argv.slice(2));
const results = options.from === undefined ? await measure(options) : readResults(options.from);
for (const table of toTables(results)) console.log(`\n${toText(table)}`);
if (options.from === undefined) {
  mkdirSync(path.dirname(options.json), { recursive: true });
  writeFileSync(options.json, `${JSON.stringify(results, null, 1)}\n`);
  console.log(`The figures are in ${options.json}`);
}
if (options.writeDocs) writeDocs(DOCS, results);

async function measure({ rounds, seconds, variants, only, env, ...rest }: BenchOptions): Promise<Results> {
  const machine = describeMachine();
  const figures: Figures = { throughput: [], nodes: [], polls: [], kills: [], memory: [] };
  const report = (line: string): void => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
  for (const variant of variants) {
    const measured = await measureVariant(variant, { rounds, seconds, variants, only, env, ...rest }, report);
    figures.throughput.push(...measured.throughput);
    figures.nodes.push(...measured.nodes);
    figures.polls.push(...measured.polls);
    figures.kills.push(...measured.kills);
    figures.memory.push(...measured.memory);
  }
  const settings = { rounds, seconds, variants, only, env };
  return { measuredAt: new Date().toISOString(), machine, settings, ...figures, limits: limitsOf(figures) };
}

/** Judged anew: the limits are those of today. */
function readResults(file: string): Results {
  const earlier = JSON.parse(readFileSync(file, 'utf8')) as Results;
  return { ...earlier, limits: limitsOf(earlier) };
}
