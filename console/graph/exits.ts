// The ways by which a node is left, and where its data says to whom: `next_nodes`, or a field for each named handle.
import { asArray, asText, isObject, type JsonObject } from './json.js';
import type { NodeKind } from './node-kind.js';

export interface Exit {
  /** The `sourceHandle` of its edges; null for the ordinary way out. */
  handle: string | null;
  /** Empty for the ordinary way out. */
  label: string;
  /** Where the targets are in the node's data. */
  path: readonly (string | number)[];
}

export const ORDINARY: Exit = { handle: null, label: '', path: ['next_nodes'] };

/** The way after a failure that the run survives. */
const AFTER_FAILURE: Exit = { handle: 'error', label: 'Failed', path: ['error_node'] };

/** Of a kind that is not known, too: it is left by its `next_nodes`. */
export function exitsOf(kind: NodeKind | undefined, data: JsonObject): readonly Exit[] {
  const exits = exitsOfKind(kind, data);
  return data['on_error'] === 'branch' ? [...exits, AFTER_FAILURE] : exits;
}

function exitsOfKind(kind: NodeKind | undefined, data: JsonObject): readonly Exit[] {
  if (kind === undefined) return [ORDINARY];
  const named = kind.handles.map(({ id, label, field }) => ({ handle: id, label, path: [field] }));
  const listed = kind.handles_from === undefined ? [] : exitsFrom(kind.handles_from, data);
  const exits: Exit[] = [...listed, ...named];
  const isUnlisted = kind.is_list_optional === true && (data[kind.handles_from!] ?? null) === null;
  return exits.length === 0 || isUnlisted || kind.has_next_nodes === true ? [ORDINARY, ...exits] : exits;
}

function exitsFrom(field: string, data: JsonObject): Exit[] {
  return asArray(data[field]).flatMap((item, index) => {
    const id = isObject(item) ? asText(item['id']) : undefined;
    if (id === undefined || id === '') return [];
    const label = asText((item as JsonObject)['label']) ?? '';
    return [{ handle: id, label: label.trim() === '' ? id : label, path: [field, index, 'node'] }];
  });
}

/** The targets that the data says; undefined where it says none, so that the drawn edges count (as when it runs). */
export function targetsIn(data: JsonObject, { path }: Exit): string[] | undefined {
  const value = valueAt(data, path);
  if (value === undefined || value === null || value === '') return undefined;
  return asArray(Array.isArray(value) ? value : [value]).filter((id): id is string => typeof id === 'string');
}

/** The data with other targets. An ordinary way out holds a list, a named one the id alone, or a list of several. */
export function withTargets(data: JsonObject, exit: Exit, targets: readonly string[]): JsonObject {
  const list = exit.handle === null || Array.isArray(valueAt(data, exit.path));
  const single = targets.length > 1 ? [...targets] : (targets[0] ?? null);
  return setAt(data, exit.path, list ? [...targets] : single) as JsonObject;
}

/** Undefined where nothing is there. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let current = value;
  for (const part of path) {
    current =
      typeof current === 'object' && current !== null
        ? Object.getOwnPropertyDescriptor(current, part)?.value
        : undefined;
  }
  return current;
}

/** A copy of JSON with another value at a path; missing parts on the way are made. */
export function setAt(value: unknown, path: readonly (string | number)[], part: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return part;
  if (typeof first === 'number') {
    const items = [...asArray(value)];
    items[first] = setAt(items[first], rest, part);
    return items;
  }
  const owner = isObject(value) ? value : {};
  return { ...owner, [first]: setAt(Object.hasOwn(owner, first) ? owner[first] : undefined, rest, part) };
}
