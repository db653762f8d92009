// Reads a drawing, which may hold anything: nodes without an id, entries that are no objects, no arrays at all.
import { asArray, asObject, asText, isObject, type JsonObject } from './json.js';
import type { NodeKinds } from './node-kind.js';

/** The `data` of a workflow. */
export type Drawing = JsonObject;

export interface DrawnNode extends JsonObject {
  id: string;
}

export interface Position {
  x: number;
  y: number;
}

const read = new WeakMap<Drawing, ReadonlyMap<string, DrawnNode>>();

/** The nodes that can be shown, by id, in the order of the drawing. Of two with one id the first counts. */
export function nodesOf(drawing: Drawing): ReadonlyMap<string, DrawnNode> {
  const known = read.get(drawing);
  if (known !== undefined) return known;
  const nodes = new Map<string, DrawnNode>();
  for (const node of asArray(drawing['nodes'])) if (isNode(node) && !nodes.has(node.id)) nodes.set(node.id, node);
  read.set(drawing, nodes);
  return nodes;
}

export function isNode(node: unknown): node is DrawnNode {
  return isObject(node) && typeof node['id'] === 'string' && node['id'] !== '';
}

export function dataOf(node: JsonObject | undefined): JsonObject {
  return asObject(node?.['data']);
}

export function typeOf(node: JsonObject): string {
  return asText(node['type']) ?? '';
}

/** What the node is called everywhere. */
export function labelOf(node: JsonObject | undefined, kinds: NodeKinds): string {
  if (node === undefined) return 'Unknown node';
  const data = dataOf(node);
  const texts = [asText(data['label']), asText(data['name']), kinds.get(typeOf(node))?.title, asText(node['id'])];
  return texts.find((text) => text !== undefined && text.trim() !== '') ?? 'Unnamed node';
}

export function positionOf(node: JsonObject): Position {
  const { x, y } = asObject(node['position']);
  return { x: toNumber(x), y: toNumber(y) };
}

export function startOf(drawing: Drawing): string | undefined {
  return asText(drawing['start_node']);
}

function toNumber(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
