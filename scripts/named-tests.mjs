// Checks that a test exists if a table in the documentation names it.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');

/** Returns the problem with two cells that name a file and its test; undefined if there is none. */
export function problemOf(file, title) {
  const source = path.join(root, unquoted(file));
  if (!existsSync(source)) return `there is no ${file}`;
  return hasTests(readFileSync(source, 'utf8'), title) ? undefined : `${file} has no test "${title}"`;
}

/**
 * `cell` has one title, or several separated by semicolons, which a title may contain too. Each may end with a
 * remark in parentheses.
 */
function hasTests(source, cell) {
  const pieces = cell.split('; ');
  for (let count = pieces.length; count > 0; count -= 1) {
    const title = pieces.slice(0, count).join('; ');
    if (![title, title.replace(/ \([^()]*\)$/, '')].some((wanted) => hasTest(source, wanted))) continue;
    return count === pieces.length || hasTests(source, pieces.slice(count).join('; '));
  }
  return false;
}

/** Finds the title of an `it` or `describe`. `${...}` in a title of the source matches any text. */
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

/** Tables and sources may use different apostrophes. */
function plain(text) {
  return text.replaceAll(/[`’]/g, "'");
}

function unquoted(cell) {
  return cell.replace(/^`(.*)`$/, '$1');
}

function escapeForPattern(piece) {
  return piece.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
