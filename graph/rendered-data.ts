// Fills in the variables in the data of a node as its execution does, for readers of a run. The execution itself does
// not use this file: each kind renders its own data.
import { isObject, mapLeaves, ownValue, setOwn, type JsonObject } from './json.js';
import type { NodeKind } from './kinds.js';
import type { NodeDefinition } from './nodes/node-definition.js';
import { nodeDefinitions } from './nodes/registry.js';
import { createRenderer, type Renderer, type VariableValues } from './template.js';

type Fill = (leaf: unknown) => unknown;

/**
 * Returns a rendered copy of the data as drawn, without defaults. Fields that a loop fills in within each iteration
 * stay as drawn. Throws `RenderedTooLargeError` if the filled-in variables exceed `maxCharacters`.
 */
export function renderData(
  kind: NodeKind,
  data: JsonObject,
  values: VariableValues,
  maxCharacters: number,
): JsonObject {
  const renderer = createRenderer(values, maxCharacters);
  return placesOf(kind).reduce<JsonObject>(
    (rendered, [place, how]) => renderAt(rendered, place.split('.'), fillOf(renderer, how)) as JsonObject,
    data,
  );
}

/** Returns the parts of the data whose variables `renderData` fills in. */
export function templatesOf(kind: NodeKind, data: JsonObject): unknown[] {
  return placesOf(kind).flatMap(([place]) => valuesAt(data, place.split('.')));
}

function placesOf(kind: NodeKind): [place: string, how: 'text' | 'json'][] {
  const { templateFields, templatePlaces }: NodeDefinition = nodeDefinitions[kind];
  if (templatePlaces !== undefined) return Object.entries(templatePlaces);
  return templateFields.map((field) => [field, 'text']);
}

function fillOf(renderer: Renderer, how: 'text' | 'json'): Fill {
  return (leaf) => {
    if (typeof leaf !== 'string') return leaf;
    return how === 'json' ? renderer.value(leaf) : renderer.text(leaf);
  };
}

function renderAt(value: unknown, [head, ...rest]: string[], fill: Fill): unknown {
  if (head === undefined) return mapLeaves(value, fill);
  if (head === '*' && Array.isArray(value)) return value.map((item: unknown) => renderAt(item, rest, fill));
  if (!isObject(value)) return value;
  const copy = { ...value };
  for (const key of head === '*' ? Object.keys(value) : [head]) {
    if (ownValue(value, key) !== undefined) setOwn(copy, key, renderAt(ownValue(value, key), rest, fill));
  }
  return copy;
}

function valuesAt(value: unknown, [head, ...rest]: string[]): unknown[] {
  if (head === undefined) return [value];
  if (head === '*') {
    const items: unknown[] = isObject(value) || Array.isArray(value) ? Object.values(value) : [];
    return items.flatMap((item) => valuesAt(item, rest));
  }
  return valuesAt(ownValue(value, head), rest);
}
