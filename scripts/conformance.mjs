// Checks docs/evidence/conformance/*.tsv: each row of the interface specification, and each published weakness of
// similar products, names a test that exists. A cell of the third column may name several tests, separated by
// semicolons. Also checks that the files exist that PAGES mention in backticks.
//
//   node scripts/conformance.mjs               fails if a named test does not exist
//   node scripts/conformance.mjs --markdown    also prints all rows as one Markdown document
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { problemOf } from './named-tests.mjs';

const FOLDER = 'docs/evidence/conformance';
const PAGES = ['docs/evidence/asvs.md', 'docs/evidence/asvs.tsv', 'docs/operate/security.md'];
const HEAD = ['specification row', 'test file', 'test title'];

const root = path.resolve(import.meta.dirname, '..');
const folder = path.join(root, FOLDER);
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.tsv'))
  .toSorted();
const sections = names.map((name) => ({ name, rows: rowsOf(name) }));
const cited = PAGES.flatMap((page) => filesIn(page).map((file) => ({ page, file })));
const problems = [
  ...sections.flatMap(({ name, rows }) => rows.flatMap((row) => problemsOf(name, row))),
  ...cited
    .filter(({ file }) => !existsSync(path.join(root, file)))
    .map(({ page, file }) => `${page}: there is no ${file}`),
];

if (process.argv.includes('--markdown')) console.log(['# Conformance\n', ...sections.map(toSection)].join('\n'));
else console.log(`${sections.flatMap(({ rows }) => rows).length} rows, ${cited.length} files cited`);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

function rowsOf(name) {
  const lines = readFileSync(path.join(folder, name), 'utf8').trimEnd().split('\n');
  const [head, ...rows] = lines.map((line) => line.split('\t'));
  if (head.join() !== HEAD.join())
    throw new Error(`${FOLDER}/${name}: the first line must name the columns ${HEAD.join(', ')}`);
  return rows;
}

function problemsOf(name, [row, file, title, ...more]) {
  const where = `${FOLDER}/${name}, "${row}"`;
  if (!row || !file || !title || more.length > 0) return [`${where}: three columns are expected`];
  const problem = problemOf(file, title);
  return problem === undefined ? [] : [`${where}: ${problem}`];
}

/** Returns the files and folders of tests, scripts and faults that the page mentions in backticks. */
function filesIn(page) {
  const text = readFileSync(path.join(root, page), 'utf8');
  return [...text.matchAll(/`((?:test|scripts|faults)\/[\w./-]*)`/g)].map(([, file]) => file);
}

function toSection({ name, rows }) {
  const title = name.replace(/\.tsv$/, '').replaceAll('-', ' ');
  const lines = [HEAD, HEAD.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  );
  return [`## ${title.charAt(0).toUpperCase()}${title.slice(1)}`, '', ...lines, ''].join('\n');
}
