// Displays variables as the label of their node and a path: `{{ node-1.result.content }}` as `Call › content`.
import { parseVariable, type PathPart, type Variable } from '../../graph/variable.js';
import { whyDead } from './declared-names.js';
import { labelOf, nodesOf, type Drawing, type NodeKinds } from './drawing.js';
import { toPath } from './variable-path.js';

export interface Chip {
  /** The label of the node, or `Input`. Absent if the text between the braces is no variable. */
  owner?: string;
  /** The path that the variable reads of the owner; all text between the braces if there is no owner. */
  path: string;
  /**
   * The length of the part of the expression that the owner stands for. Absent if the expression does not start with
   * such a part; then a person edits the whole expression, not only its path.
   */
  head?: number;
  /** Why the variable reads nothing. */
  reason?: string;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the chip for the text between the braces. `isChat`: the messages of a chat bring input of their own. */
export function chipOf(drawing: Drawing, kinds: NodeKinds, expression: string, isChat = false): Chip {
  const variable = parseVariable(expression);
  if (variable === undefined) return { path: expression.trim() || '…', reason: 'this is no variable' };
  const reason = whyDead(drawing, kinds, variable, isChat);
  const dead = reason === undefined ? {} : { reason };
  const head = headOf(expression, variable);
  const edited = head === undefined ? {} : { head };
  if (variable.source === 'input') {
    return { owner: 'Input', path: toText(variable.path) || 'all', ...edited, ...dead };
  }
  const node = nodesOf(drawing).get(variable.nodeId);
  // The editor gives nodes UUIDs, which say nothing to a person.
  const unknown = UUID.test(variable.nodeId) ? 'Deleted node' : variable.nodeId;
  const owner = node === undefined ? unknown : labelOf(node, kinds);
  return { owner, path: wordOf(variable), ...edited, ...dead };
}

/** Returns the whole text of a chip. */
export function chipText({ owner, path }: Chip): string {
  return owner === undefined ? path : `${owner} › ${path}`;
}

/** Returns where the path begins; undefined if white space separates the id of a node from `.result`. */
function headOf(expression: string, variable: Variable): number | undefined {
  const lead = expression.length - expression.trimStart().length;
  const words: Readonly<Record<string, string>> = { node: '.result' };
  const head = variable.source === 'input' ? 'input' : `${variable.nodeId}${words[variable.source] ?? ''}`;
  return expression.startsWith(head, lead) ? lead + head.length : undefined;
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
