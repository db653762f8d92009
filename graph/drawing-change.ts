// Distinguishes a change of what a drawing runs from a change of how it looks; only the former creates a version
// (docs/use/interface-notes/runs.md, "Workflows").
import { isEqualJson, isObject, type JsonObject } from './json.js';
import { mapArray, type SecretMap } from './secrets.js';

/** A drawing without its secrets (`splitSecrets`), and these secrets. */
export interface SplitDrawing {
  data: JsonObject;
  secrets: SecretMap;
}

/** Keys of a drawing that never affect a run. */
const DRAWING_LOOKS: ReadonlySet<string> = new Set(['viewport', 'notes', 'remarks']);
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
/** The fields of an edge, except its looks (type, style, markers, animation). */
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
 * True if both drawings run the same. Everything counts, including labels and secrets, except positions, sizes,
 * selection, the viewport, the looks of edges, notes, and remarks of an import. The order of keys doesn't count.
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
function pick(object: JsonObject, isIncluded: (key: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => isIncluded(key)));
}
