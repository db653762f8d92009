// Assembles docs/conformance.md from docs/conformance/*.md: each row of the specification with the test that proves it.
// A cell of the third column may name several tests of the file, with semicolons between them.
// `--check` writes nothing and fails when a named test does not exist or the assembled file is out of date.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

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
const sections = names.map((name) => ({ name, rows: rowsOf(name) }));
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

/** The rows of every table in a part that has three columns; the head and the line below it do not count. */
function rowsOf(name) {
  return readFileSync(path.join(parts, name), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(cellsOf)
    .filter((cells) => !/^:?-+:?$/.test(cells[0]) && cells[0].toLowerCase() !== 'specification row');
}

/** A bar inside a cell is written `\|`. */
function cellsOf(line) {
  const cells = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  return cells.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function problemsOf(name, [row, file, title, ...more]) {
  const where = `docs/conformance/${name}, "${row}"`;
  if (!row || !file || !title || more.length > 0) return [`${where}: three columns are expected`];
  const source = path.join(root, unquoted(file));
  if (!existsSync(source)) return [`${where}: there is no ${file}`];
  return hasTests(readFileSync(source, 'utf8'), title) ? [] : [`${where}: ${file} has no test "${title}"`];
}

/** One title, or several with semicolons between them (a title may hold one itself); each may end in a remark in parentheses. */
function hasTests(source, cell) {
  const pieces = cell.split('; ');
  for (let count = pieces.length; count > 0; count -= 1) {
    const title = pieces.slice(0, count).join('; ');
    if (![title, title.replace(/ \([^()]*\)$/, '')].some((wanted) => hasTest(source, wanted))) continue;
    return count === pieces.length || hasTests(source, pieces.slice(count).join('; '));
  }
  return false;
}

/** The title of an `it` or `describe`; `${...}` in a title of the source stands for any text. */
function hasTest(source, title) {
  const wanted = [title, unquoted(title)].map(plain);
  const calls = source.matchAll(
    /\b(?:it|describe)(?:\.\w+)?\(\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)/g,
  );
  return [...calls].some(([, literal]) => {
    const pattern = literal
      .slice(1, -1)
      .split(/\$\{[^}]*\}/)
      .map((piece) => escapeForPattern(plain(piece.replaceAll(/\\(.)/g, '$1'))))
      .join('.+');
    return wanted.some((text) => new RegExp(`^${pattern}$`, 'u').test(text));
  });
}

/** Tables and sources may differ in which apostrophe they write. */
function plain(text) {
  return text.replaceAll(/[`’]/g, "'");
}

function unquoted(cell) {
  return cell.replace(/^`(.*)`$/, '$1');
}

function escapeForPattern(piece) {
  return piece.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
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
