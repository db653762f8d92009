import { nodesOf, type Drawing } from './drawing.js';

export interface Problem {
  /** Null for a problem of the whole drawing. */
  nodeId: string | null;
  /** Dotted path of the field in the node's data: `messages.0.message`; empty for the node itself. */
  path: string;
  message: string;
  severity: 'error' | 'warning';
  /** Set if the problem is a remark that an import has left in the drawing, until a person has settled the remark. */
  remark?: { id: string; fix: RemarkFix | undefined };
}

/** What settles a remark: a field of its node to fill in, or a schedule or hook to create. */
export type RemarkFix = { field: string } | { schedule: string } | { hook: true };

/** Identifies a field of a node. */
export function fieldKey(nodeId: string, path: string): string {
  return JSON.stringify([nodeId, path]);
}

/**
 * Returns the problems to mark on cards and in forms. A node that was not saved yet is still being filled in, so only
 * the fields that a person has left are marked there.
 */
export function markedProblems(
  problems: readonly Problem[],
  saved: Drawing,
  left: ReadonlySet<string>,
): readonly Problem[] {
  const known = nodesOf(saved);
  const marked = problems.filter(({ nodeId, path }) => {
    return nodeId === null || known.has(nodeId) || left.has(fieldKey(nodeId, path));
  });
  return marked.length === problems.length ? problems : marked;
}
