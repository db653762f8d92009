// Tells a change of what a drawing runs from a change of how it looks: only the first makes a version
// (docs/use/interface-notes/runs.md, "Workflows").
import { isEqualJson, isObject, type JsonObject } from './json.js';
import { mapArray, type SecretMap } from './secrets.js';

/** A drawing whose secrets are cut out (`splitSecrets`), with these secrets. */
export interface SplitDrawing {
  data: JsonObject;
  secrets: SecretMap;
}

/** The keys of a drawing that are seen and never run. */
const DRAWING_LOOKS: ReadonlySet<string> = new Set(['viewport', 'notes']);
/** The place of a node, its size, and whether it is selected or being moved. */
const NODE_LOOKS: ReadonlySet<string> = new Set([
  'position',
  'positionAbsolute',
  'sourcePosition',
  'targetPosition',
  'zIndex',
  'width',
  'height',
  'initialWidth',
  'initialHeight',
  'measured',
  'selected',
  'dragging',
  'resizing',
]);
const SIZES: ReadonlySet<string> = new Set(['width', 'height']);
/** The fields that an edge joins or labels. All its other fields (type, style, markers, animation) are its looks. */
const EDGE_CONTENT: ReadonlySet<string> = new Set([
  'id',
  'source',
  'target',
  'sourceHandle',
  'targetHandle',
  'label',
  'data',
]);

/**
 * Returns whether a change from one drawing to the other leaves what runs as it is. Everything counts, labels and
 * secrets too, except positions, sizes, selection, the viewport, the looks of edges and notes. The order of keys does
 * not count.
 */
export function runTheSame(left: SplitDrawing, right: SplitDrawing): boolean {
  return isEqualJson(withoutLooks(left.data), withoutLooks(right.data)) && isEqualJson(left.secrets, right.secrets);
}

/** Returns a copy of the drawing without its looks. Never throws, whatever the editor has stored. */
export function withoutLooks(drawing: JsonObject): JsonObject {
  const content = pick(drawing, (key) => !DRAWING_LOOKS.has(key));
  const withNodes = mapArray(content, 'nodes', withoutNodeLooks);
  return mapArray(withNodes, 'edges', (edge) => pick(edge, (key) => EDGE_CONTENT.has(key)));
}

/** Editors also write the size of a node into its `style`. */
function withoutNodeLooks(node: JsonObject): JsonObject {
  const content = pick(node, (key) => !NODE_LOOKS.has(key));
  if (!Object.hasOwn(content, 'style') || !isObject(content['style'])) return content;
  const style = pick(content['style'], (key) => !SIZES.has(key));
  return Object.keys(style).length > 0 ? { ...content, style } : pick(content, (key) => key !== 'style');
}

/** `Object.fromEntries` treats `__proto__` like any other key. */
function pick(object: JsonObject, isKept: (key: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => isKept(key)));
}
