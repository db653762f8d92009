// Assembles docs/conformance.md from docs/conformance/*.md: each row of the specification with the test that proves it.
// A cell of the third column may name several tests of the file, with semicolons between them.
// `--check` writes nothing and fails when a named test does not exist or the assembled file is out of date.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { problemOf, rowsOf } from './named-tests.mjs';

const root = path.resolve(import.meta.dirname, '..');
const parts = path.join(root, 'docs', 'conformance');
const target = path.join(root, 'docs', 'conformance.md');

const HEAD = `# Conformance

Each row of the interface specification (and of what the service adds to it) with the test that proves it. Assembled by
\`node scripts/conformance.mjs\` from \`docs/conformance/\`; the test suite checks that every named test exists.
`;

const names = readdirSync(parts)
  .filter((name) => name.endsWith('.md'))
  .toSorted();
const sections = names.map((name) => ({ name, rows: specificationRows(name) }));
const problems = sections.flatMap(({ name, rows }) => rows.flatMap((row) => problemsOf(name, row)));
const assembled = [HEAD, ...sections.map(toSection)].join('\n');

if (process.argv.includes('--check')) {
  if (!existsSync(target) || readFileSync(target, 'utf8') !== assembled) {
    problems.push('docs/conformance.md is out of date: run node scripts/conformance.mjs');
  }
} else {
  writeFileSync(target, assembled);
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

/** The rows of every table in a part that has three columns; the head does not count. */
function specificationRows(name) {
  return rowsOf(`docs/conformance/${name}`).filter(([row]) => row.toLowerCase() !== 'specification row');
}

function problemsOf(name, [row, file, title, ...more]) {
  const where = `docs/conformance/${name}, "${row}"`;
  if (!row || !file || !title || more.length > 0) return [`${where}: three columns are expected`];
  const problem = problemOf(file, title);
  return problem === undefined ? [] : [`${where}: ${problem}`];
}

function toSection({ name, rows }) {
  const title = name.replace(/\.md$/, '').replaceAll('-', ' ');
  const lines = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`);
  return [
    `## ${title.charAt(0).toUpperCase()}${title.slice(1)}`,
    '',
    '| specification row | test file | test title |',
    '|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}
