// Rebuilds a drawing from its short form, as an assistant would by changes.
import type { Change } from '../../../graph/building/changes-schema.js';
import type { ShortForm, ShortNode } from '../../../graph/building/short-form.js';

/** Returns the changes that make the drawing of the short form out of an empty one. */
export function changesOf({ nodes }: ShortForm): Change[] {
  const adds = nodes.map(({ id, kind, label, data }): Change => ({ add: { id, kind, label, data } }));
  const links = nodes.flatMap((node) =>
    exitsOf(node).flatMap(([exit, targets]) => targets.map((to): Change => ({ link: { from: node.id, exit, to } }))),
  );
  return [...adds, ...links];
}

function exitsOf({ next }: ShortNode): [string, string[]][] {
  return Array.isArray(next) ? [['next', next]] : Object.entries(next);
}
