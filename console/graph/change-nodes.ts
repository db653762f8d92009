// Adds, changes, moves and removes nodes.
import { disconnect } from './change-links.js';
import { dataOf, isNode, nodesOf, positionOf, startOf, typeOf, type Drawing, type Position } from './drawing.js';
import { asArray, isObject, type JsonObject } from './json.js';
import { linksOf } from './links.js';
import { withListedHandles } from './listed-handles.js';
import { newId } from './new-id.js';
import { isStart, type NodeKind, type NodeKinds } from './node-kind.js';
import { replaceNode } from './replace-node.js';
import { startValue } from './start-value.js';

/** A new node with what its schema asks for. The first one, and the first start, is where runs begin. */
export function addNode(
  drawing: Drawing,
  kinds: NodeKinds,
  kind: NodeKind,
  position: Position,
): { drawing: Drawing; id: string } {
  const id = newId();
  const label = freeLabel(drawing, kind.title);
  const links = kind.handles.length === 0 && kind.handles_from === undefined ? { next_nodes: [] } : {};
  const begun = withListedHandles(kind, startData(drawing, kind));
  const data = { id, name: kind.title, label, version: kind.version, ...begun, ...links };
  const node = { id, type: kind.type, position, data };
  const nodes = [...asArray(drawing['nodes']), node];
  const added = { edges: [], ...drawing, nodes };
  return { id, drawing: needsStart(drawing, kinds, kind) ? { ...added, start_node: id } : added };
}

function needsStart(drawing: Drawing, kinds: NodeKinds, kind: NodeKind): boolean {
  const start = nodesOf(drawing).get(startOf(drawing) ?? '');
  return start === undefined || (isStart(kind) && !isStart(kinds.get(typeOf(start))));
}

/** With the model that the other nodes use: one who draws a second request rarely wants another. */
function startData(drawing: Drawing, kind: NodeKind): JsonObject {
  const data = startValue(kind.schema) as JsonObject;
  const settings = data['settings'];
  if (!isObject(settings) || settings['model_name'] !== '') return data;
  const models = [...nodesOf(drawing).values()].map((node) => {
    const known = dataOf(node)['settings'];
    return isObject(known) ? known['model_name'] : undefined;
  });
  const model = models.findLast((name) => typeof name === 'string' && name !== '');
  return model === undefined ? data : { ...data, settings: { ...settings, model_name: model } };
}

/** `HTTP request`, then `HTTP request 2`: links and problems name nodes by their labels. */
function freeLabel(drawing: Drawing, title: string): string {
  const taken = new Set([...nodesOf(drawing).values()].map((node) => dataOf(node)['label']));
  if (!taken.has(title)) return title;
  for (let number = 2; ; number += 1) if (!taken.has(`${title} ${number}`)) return `${title} ${number}`;
}

export function setData(drawing: Drawing, id: string, data: JsonObject): Drawing {
  return replaceNode(drawing, id, (node) => (node['data'] === data ? node : { ...node, data }));
}

/** Where nodes are put; those that stay where they are are not touched. */
export function moveNodes(drawing: Drawing, positions: ReadonlyMap<string, Position>): Drawing {
  let hasMoved = false;
  const nodes = asArray(drawing['nodes']).map((node) => {
    const to = isNode(node) ? positions.get(node.id) : undefined;
    if (!isNode(node) || to === undefined) return node;
    const from = positionOf(node);
    if (from.x === to.x && from.y === to.y) return node;
    hasMoved = true;
    const known = isObject(node['position']) ? node['position'] : {};
    return { ...node, position: { ...known, x: to.x, y: to.y } };
  });
  return hasMoved ? { ...drawing, nodes } : drawing;
}

/** Without these nodes, and without the links that begin or end at them. */
export function removeNodes(drawing: Drawing, kinds: NodeKinds, ids: ReadonlySet<string>): Drawing {
  const touched = linksOf(drawing, kinds).filter(({ source, target }) => ids.has(source) || ids.has(target));
  const unlinked = disconnect(drawing, kinds, touched);
  const nodes = asArray(unlinked['nodes']).filter((node) => !isNode(node) || !ids.has(node.id));
  if (nodes.length === asArray(unlinked['nodes']).length) return drawing;
  const left = { ...unlinked, nodes };
  if (!ids.has(startOf(drawing) ?? '')) return left;
  const { start_node: _gone, ...rest } = left as JsonObject;
  const next = [...nodesOf(rest).values()].find((node) => isStart(kinds.get(typeOf(node))));
  return next === undefined ? rest : { ...rest, start_node: next.id };
}
