// Reads a drawing, which may be malformed: nodes without an id, entries that are no objects, missing arrays.
import type { paths } from '../../clients/typescript/src/index.js';
import { isObject, ownValue, type JsonObject } from '../../graph/json.js';
import { asArray, asObject, asText } from '../ui/json.js';

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

/** Returns the displayable nodes by id, in the drawing's order. The first of several nodes with the same id wins. */
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

export function labelOf(node: JsonObject | undefined, kinds: NodeKinds): string {
  if (node === undefined) return 'Unknown node';
  const data = dataOf(node);
  const texts = [asText(data['label']), asText(data['name']), kinds.get(typeOf(node))?.title, asText(node['id'])];
  return texts.find((text) => text !== undefined && text.trim() !== '') ?? 'Unnamed node';
}

export function labelsOf(drawing: Drawing, kinds: NodeKinds): ReadonlyMap<string, string> {
  return new Map([...nodesOf(drawing).values()].map((node) => [node.id, labelOf(node, kinds)]));
}

export function positionOf(node: JsonObject): Position {
  const { x, y } = asObject(node['position']);
  return { x: toNumber(x), y: toNumber(y) };
}

export function startOf(drawing: Drawing): string | undefined {
  return asText(drawing['start_node']);
}

/**
 * People do not draw this far. A number such as 1e19 stays the same when pixels are added, so `freePlace` would not
 * end.
 */
const FARTHEST = 1e6;

function toNumber(value: unknown): number {
  return typeof value === 'number' && Math.abs(value) <= FARTHEST ? value : 0;
}

/** Replaces a node by the result of `change`. Returns the same drawing if nothing changes. */
export function replaceNode(drawing: Drawing, id: string, change: (node: DrawnNode) => DrawnNode): Drawing {
  const nodes = asArray(drawing['nodes']);
  const at = nodes.findIndex((node) => isNode(node) && node.id === id);
  const node = nodes[at];
  if (!isNode(node)) return drawing;
  const changed = change(node);
  return changed === node ? drawing : { ...drawing, nodes: nodes.with(at, changed) };
}

/** An item of `get_nodes`, the editor's only source for the kinds of nodes. */
export type NodeKind =
  paths['/api/v1/workflows/get_nodes/']['get']['responses']['200']['content']['application/json'][number];

export type NodeKinds = ReadonlyMap<string, NodeKind>;

export function byType(kinds: readonly NodeKind[]): NodeKinds {
  return new Map(kinds.map((kind) => [kind.type, kind]));
}

/** True if runs start with this kind: its data declares the fields of a run's input. */
export function isStart(kind: NodeKind | undefined): boolean {
  const properties = (kind?.schema as { properties?: JsonObject } | undefined)?.properties;
  return properties !== undefined && Object.hasOwn(properties, 'input_fields');
}

/** Returns the start node if it is a trigger, because only then is its result the input of the run. */
export function triggerOf(drawing: Drawing, kinds: NodeKinds): DrawnNode | undefined {
  const start = nodesOf(drawing).get(startOf(drawing) ?? '');
  return start !== undefined && isStart(kinds.get(typeOf(start))) ? start : undefined;
}

/** True if the kind's results come from models: only those have `usage`, the count of tokens. */
export function isWriter(kind: NodeKind | undefined): boolean {
  return ownValue(asObject(kind?.output_schema)['properties'], 'usage') !== undefined;
}

export function hasWriter(drawing: Drawing, kinds: NodeKinds): boolean {
  return [...nodesOf(drawing).values()].some((node) => isWriter(kinds.get(typeOf(node))));
}
