// Names that a node declares and that variables use: the input fields of the start, the fields of a task, and the keys
// of a value that is written as an object.
import { isObject } from '../../graph/json.js';
import { replaceSpans } from '../../graph/template.js';
import { parseVariable, type PathPart, type Variable } from '../../graph/variable.js';
import { asArray, asText } from '../ui/json.js';
import {
  dataOf,
  isNode,
  isStart,
  nodesOf,
  startOf,
  typeOf,
  type Drawing,
  type DrawnNode,
  type NodeKinds,
} from './drawing.js';
import { toPath } from './variable-path.js';
import { OF_A_CHAT } from './variables.js';

/** The key of an input that is plain text (graph/input.ts). */
const RAW_INPUT = '__raw_input__';

interface Declared {
  /** The path before the names, within `input` or within the node's result. */
  root: { source: 'input' | 'node'; path: readonly string[] };
  names: readonly string[];
}

function declaredBy(node: DrawnNode, kinds: NodeKinds): Declared[] {
  const kind = kinds.get(typeOf(node));
  const data = dataOf(node);
  if (isStart(kind)) {
    const names = idsOf(data['input_fields']);
    return [
      { root: { source: 'input', path: [] }, names },
      { root: { source: 'node', path: [] }, names },
    ];
  }
  const given = kind?.output_schema?.['properties'];
  const gives = (key: string): boolean => isObject(given) && Object.hasOwn(given, key);
  const { fields, value } = data;
  const ofFields = Array.isArray(fields) && gives('values') ? [ofResult(['values'], idsOf(fields))] : [];
  // The text of the result is the JSON of the value. A variable reads the keys of that JSON like fields of the result.
  const keys = isObject(value) ? Object.keys(value) : [];
  const ofValue = isObject(value) && gives('value') ? [ofResult(['value'], keys), ofResult([], keys)] : [];
  return [...ofFields, ...ofValue];
}

function ofResult(path: readonly string[], names: readonly string[]): Declared {
  return { root: { source: 'node', path }, names };
}

function idsOf(list: unknown): string[] {
  return asArray(list).map((item) => (isObject(item) ? (asText(item['id']) ?? '') : ''));
}

/** Returns why a variable reads nothing, or undefined if it may read something. */
export function whyDead(drawing: Drawing, kinds: NodeKinds, variable: Variable, isChat = false): string | undefined {
  const nodes = nodesOf(drawing);
  const start = nodes.get(startOf(drawing) ?? '');
  const owner = variable.source === 'input' ? start : nodes.get(variable.nodeId);
  if (owner === undefined) return variable.source === 'input' ? undefined : 'nothing in this workflow has this name';
  if (variable.source !== 'input' && variable.source !== 'node') return undefined;
  // A name is accepted if none are declared, because a start without input fields takes any input, and at the root of a
  // result, because a result has fields beside those of its text.
  const known = [RAW_INPUT, ...(isChat ? OF_A_CHAT.map(({ text }) => text.slice('{{ input.'.length, -3)) : [])];
  for (const { root, names } of declaredBy(owner, kinds)) {
    const isOwnPath = root.path.length > 0 || variable.source === 'input';
    const name = isOwnPath ? nameIn(variable, root) : undefined;
    const isDeclared = name === undefined || names.length === 0 || names.includes(name) || known.includes(name);
    if (!isDeclared)
      return root.source === 'input' ? 'the start has no such input field' : 'its node has no such field';
  }
  return undefined;
}

/** Returns the name that a variable reads behind the root; undefined if it reads something else. */
function nameIn(variable: Variable, { source, path }: Declared['root']): string | undefined {
  if (variable.source !== source || !path.every((part, at) => variable.path[at] === part)) return undefined;
  const name = variable.path[path.length];
  return typeof name === 'string' ? name : undefined;
}

/**
 * Returns `after` with the variables of the other nodes updated to the names that node `nodeId` has changed since
 * `before`, the drawing before the person started to type. The other nodes are taken from `before`, so that half-typed
 * names do not remain in their variables.
 */
export function followNames(before: Drawing, after: Drawing, kinds: NodeKinds, nodeId: string): Drawing {
  const [from, to] = [nodesOf(before).get(nodeId), nodesOf(after).get(nodeId)];
  if (from === undefined || to === undefined) return after;
  const [old, now] = [declaredBy(from, kinds), declaredBy(to, kinds)];
  // `input` has the fields of the start alone; another trigger may have fields of the same names.
  const isInput = nodeId === startOf(after);
  const renames = old
    .flatMap((declared, at) => renameBetween(declared, now[at]))
    .filter(({ root }) => isInput || root.source !== 'input');
  const known = nodesOf(before);
  let hasChanged = false;
  const nodes = asArray(after['nodes']).map((node) => {
    if (!isNode(node) || node.id === nodeId) return node;
    const first = known.get(node.id) ?? node;
    const renamed = renames.reduce((each, rename) => renameIn(each, nodeId, rename) as DrawnNode, first);
    hasChanged ||= renamed !== node;
    return renamed;
  });
  return hasChanged ? { ...after, nodes } : after;
}

interface Rename {
  root: Declared['root'];
  old: string;
  name: string;
}

/** A rename is a single name that differs. A name that is empty or used twice cannot be followed. */
function renameBetween(old: Declared, now: Declared | undefined): Rename[] {
  if (now === undefined || old.names.length !== now.names.length) return [];
  const changed = old.names.flatMap((name, at) => (name === now.names[at] ? [] : [at]));
  const [at] = changed;
  if (changed.length !== 1 || at === undefined) return [];
  const [was, name] = [old.names[at]!, now.names[at]!];
  const isUnique = old.names.filter((each) => each === was).length === 1 && !old.names.includes(name);
  return was !== '' && name !== '' && isUnique ? [{ root: old.root, old: was, name }] : [];
}

/** Returns the same value if nothing in it uses the name. */
function renameIn(value: unknown, nodeId: string, rename: Rename): unknown {
  if (typeof value === 'string') return renameInText(value, nodeId, rename);
  if (Array.isArray(value)) {
    const items = value.map((item) => renameIn(item, nodeId, rename));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, renameIn(item, nodeId, rename)] as const);
  return entries.some(([key, item]) => item !== value[key]) ? Object.fromEntries(entries) : value;
}

function renameInText(text: string, nodeId: string, { root, old, name }: Rename): string {
  return replaceSpans(text, (expression) => {
    const variable = parseVariable(expression);
    if (variable === undefined || nameIn(variable, root) !== old) return undefined;
    if (variable.source !== 'input' && (variable.source !== 'node' || variable.nodeId !== nodeId)) return undefined;
    const head = variable.source === 'input' ? 'input' : `${nodeId}.result`;
    const path = [...root.path, name, ...variable.path.slice(root.path.length + 1)];
    return `{{ ${head}${path.map(toStep).join('')} }}`;
  });
}

function toStep(part: PathPart): string {
  return typeof part === 'number' ? `[${part}]` : toPath(part);
}
