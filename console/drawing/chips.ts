// Displays variables as the label of their node and a path: `{{ node-1.result.content }}` as `Call › content`.
import { parseVariable, type PathPart, type Variable } from '../../graph/variable.js';
import { labelOf, nodesOf, type Drawing, type NodeKinds } from './drawing.js';
import { toPath } from './variable-path.js';

export interface Chip {
  label: string;
  /** True if the text is a variable whose node is in the drawing. */
  isKnown: boolean;
}

/** Returns the chip for the text between the braces. */
export function chipOf(drawing: Drawing, kinds: NodeKinds, expression: string): Chip {
  const variable = parseVariable(expression);
  const written = { label: expression.trim() || '…', isKnown: false };
  if (variable === undefined) return written;
  if (variable.source === 'input') return { label: `Input › ${toText(variable.path) || 'all'}`, isKnown: true };
  const node = nodesOf(drawing).get(variable.nodeId);
  if (node === undefined) return written;
  return { label: `${labelOf(node, kinds)} › ${wordOf(variable)}`, isKnown: true };
}

function wordOf(variable: Variable): string {
  const path = toText(variable.path);
  switch (variable.source) {
    case 'error':
      return path === '' ? 'error' : `error.${path}`;
    case 'callback':
      return 'callback_url';
    case 'node':
      return path === '' ? 'result' : path;
    case 'input':
    case 'loop':
    default:
      return path;
  }
}

/** Returns a path as text, without the leading dot. */
function toText(path: readonly PathPart[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : toPath(part)))
    .join('')
    .replace(/^\./, '');
}
