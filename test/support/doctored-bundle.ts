// A build of the run workflow that differs from the one in dist/ in a few words, like the build of a careless change.
import { readFileSync } from 'node:fs';
import path from 'node:path';

const BUNDLE = path.resolve(import.meta.dirname, '../../dist/workflow-bundle.js');
/** The heading that webpack writes above each module. */
const MODULE = /^\/\*{3}\/ "\.\/dist\/(.+)\.js"$/gm;

export interface Change {
  /** The path of the source from the root. */
  file: string;
  /** The text in the bundle, where imported names have a prefix. */
  find: string;
  replace: string;
}

/** Returns the bundle's code with the changes. Throws if the build no longer contains a text to replace. */
export function bundleWith(changes: Change[]): string {
  return changes.reduce(change, readFileSync(BUNDLE, 'utf8'));
}

function change(code: string, { file, find, replace }: Change): string {
  const headings = [...code.matchAll(MODULE)];
  const own = headings.find(([, name]) => `${name}.ts` === file);
  const at = own === undefined ? -1 : code.indexOf(find, own.index);
  const next = headings.find(({ index }) => index > (own?.index ?? 0));
  if (at < 0 || (next !== undefined && at > next.index)) throw new Error(`${file} has no "${find}" to replace`);
  return `${code.slice(0, at)}${replace}${code.slice(at + find.length)}`;
}
