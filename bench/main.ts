// `npm run bench` compares the service with a hand-written Temporal workflow. report/write-page.ts explains the
// figures.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describeMachine } from './machine.js';
import { measure } from './measure.js';
import { parseOptions } from './options.js';
import { toText } from './report/render.js';
import { toTables } from './report/tables.js';
import { writePage } from './report/write-page.js';
import type { Results } from './results.js';

const argv = process.argv.slice(2);
const options = parseOptions(argv);
const results = options.from === undefined ? await measureAll() : readResults(options.from);
for (const table of toTables(results)) console.log(`\n${toText(table)}`);
if (options.from === undefined) {
  mkdirSync(path.dirname(options.json), { recursive: true });
  writeFileSync(options.json, `${JSON.stringify(results, null, 1)}\n`);
  console.log(`The figures are in ${options.json}`);
}
if (options.writeDocs) writePage(results);

async function measureAll(): Promise<Results> {
  const { rounds, seconds } = options;
  const command = ['npm run bench', ...(argv.length === 0 ? [] : ['--', ...argv])].join(' ');
  const [measuredAt, machine] = [new Date().toISOString(), describeMachine()];
  const figures = await measure(options, (line) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`));
  return { measuredAt, machine, settings: { command, rounds, seconds }, ...figures };
}

function readResults(file: string): Results {
  return JSON.parse(readFileSync(file, 'utf8')) as Results;
}
