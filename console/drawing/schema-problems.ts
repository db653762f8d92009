// Checks unsaved changes against the schemas of their kinds. The service checks saved drawings more thoroughly.
import { dataOf, nodesOf, typeOf, type Drawing, type DrawnNode, type NodeKind, type NodeKinds } from './drawing.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { asArray } from '../ui/json.js';

export interface Problem {
  /** Null for a problem of the whole drawing. */
  nodeId: string | null;
  /** Dotted path of the field in the node's data: `messages.0.message`; empty for the node itself. */
  path: string;
  message: string;
  severity: 'error' | 'warning';
}

interface Known {
  kind: NodeKind | undefined;
  problems: readonly Problem[];
}

// Caches the problems of unchanged nodes.
const known = new WeakMap<DrawnNode, Known>();

export function schemaProblems(drawing: Drawing, kinds: NodeKinds): Problem[] {
  const nodes = nodesOf(drawing);
  const problems = [...nodes.values()].flatMap((node) => problemsOf(node, kinds.get(typeOf(node))));
  if (nodes.size === 0) return [{ nodeId: null, path: '', message: 'The workflow has no nodes.', severity: 'error' }];
  return problems;
}

function problemsOf(node: DrawnNode, kind: NodeKind | undefined): readonly Problem[] {
  const last = known.get(node);
  if (last !== undefined && last.kind === kind) return last.problems;
  const problems: Problem[] = [];
  const add = (path: string, message: string): void => {
    problems.push({ nodeId: node.id, path, message, severity: 'error' });
  };
  if (kind === undefined) add('', 'The service does not know this kind of node.');
  else check(kind.schema, dataOf(node), '', add);
  known.set(node, { kind, problems });
  return problems;
}

type Add = (path: string, message: string) => void;

function check(schema: unknown, value: unknown, path: string, add: Add): void {
  // The service decides which alternative applies.
  if (!isObject(schema) || schema['anyOf'] !== undefined || schema['oneOf'] !== undefined) return;
  if (isObject(schema['properties']) && isObject(value)) checkObject(schema, value, path, add);
  else if (Array.isArray(value)) checkItems(schema, value, path, add);
  else if (typeof value === 'string') checkText(schema, value, path, add);
  else if (typeof value === 'number') checkNumber(schema, value, path, add);
}

function checkObject(schema: JsonObject, value: JsonObject, path: string, add: Add): void {
  for (const key of asArray(schema['required'])) {
    if (typeof key === 'string' && !Object.hasOwn(value, key)) add(join(path, key), 'Field required');
  }
  for (const [key, property] of Object.entries(schema['properties'] as JsonObject)) {
    if (Object.hasOwn(value, key)) check(property, value[key], join(path, key), add);
  }
}

function checkItems(schema: JsonObject, items: readonly unknown[], path: string, add: Add): void {
  const least = Number(schema['minItems'] ?? 0);
  if (items.length < least) add(path, `List should have at least ${least} ${least === 1 ? 'item' : 'items'}`);
  for (const [at, item] of items.entries()) check(schema['items'], item, join(path, String(at)), add);
}

function checkText(schema: JsonObject, text: string, path: string, add: Add): void {
  const least = Number(schema['minLength'] ?? 0);
  const values = asArray(schema['enum']);
  if (text.length < least)
    add(path, `String should have at least ${least} ${least === 1 ? 'character' : 'characters'}`);
  else if (values.length > 0 && !values.includes(text))
    add(path, `Input should be ${values.map((each) => `'${String(each)}'`).join(', ')}`);
}

function checkNumber(schema: JsonObject, value: number, path: string, add: Add): void {
  const [least, most] = [schema['minimum'], schema['maximum']];
  if (typeof least === 'number' && value < least) add(path, `Input should be greater than or equal to ${least}`);
  else if (typeof most === 'number' && value > most) add(path, `Input should be less than or equal to ${most}`);
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
