// Copies nodes with the links among them as text, and makes new nodes of such a text: here, or in another workflow.
import { connect, newId } from './change-drawing.js';
import {
  dataOf,
  isNode,
  nodesOf,
  positionOf,
  startOf,
  typeOf,
  type Drawing,
  type DrawnNode,
  type NodeKinds,
  type Position,
} from './drawing.js';
import { asArray, asText, isObject, type JsonObject } from './json.js';
import { exitsOf, linksOf, targetsIn, withTargets, type Link } from './links.js';

const FORMAT = 'workflow-automation-nodes/1';

export function copyNodes(drawing: Drawing, kinds: NodeKinds, ids: ReadonlySet<string>): string {
  const nodes = [...nodesOf(drawing).values()].filter(({ id }) => ids.has(id));
  const links = linksOf(drawing, kinds).filter(
    ({ source, target, isIdle }) => !isIdle && ids.has(source) && ids.has(target),
  );
  return JSON.stringify({ format: FORMAT, nodes, links });
}

/**
 * Adds copied nodes with new ids, the links among them, and variables that name the new ids. Returns undefined for a
 * text that is no copy of nodes.
 */
export function pasteNodes(
  drawing: Drawing,
  kinds: NodeKinds,
  text: string,
  offset: Position,
): { drawing: Drawing; ids: Set<string> } | undefined {
  const copied = parseCopied(text);
  if (copied === undefined) return undefined;
  const ids = new Map(copied.nodes.map(({ id }) => [id, newId()]));
  const pasted = copied.nodes.map((node) => renew(node, kinds, ids, offset));
  let changed: Drawing = { edges: [], ...drawing, nodes: [...asArray(drawing['nodes']), ...pasted] };
  for (const { source, handle, target } of copied.links) {
    const link = { source: ids.get(source) ?? '', handle, target: ids.get(target) ?? '' };
    changed = connect(changed, kinds, link);
  }
  const first = pasted[0]?.id;
  if (!nodesOf(drawing).has(startOf(drawing) ?? '') && first !== undefined) changed = { ...changed, start_node: first };
  return { drawing: changed, ids: new Set(ids.values()) };
}

function renew(node: DrawnNode, kinds: NodeKinds, ids: ReadonlyMap<string, string>, offset: Position): DrawnNode {
  const id = ids.get(node.id) ?? node.id;
  let data = JSON.parse(renameVariables(JSON.stringify(dataOf(node)), ids)) as JsonObject;
  for (const exit of exitsOf(kinds.get(typeOf(node)), data)) {
    if (targetsIn(data, exit) !== undefined) data = withTargets(data, exit, []);
  }
  const { x, y } = positionOf(node);
  const { selected: _selected, dragging: _dragging, ...rest } = node as JsonObject;
  return {
    ...rest,
    id,
    position: { x: x + offset.x, y: y + offset.y },
    data: { ...data, ...(Object.hasOwn(data, 'id') && { id }) },
  };
}

/** A variable names the node's id and then what is read of the node. */
const VARIABLE = /\{\{(\s*)(.+?)(\.(?:result|error|item|index|last|callback_url)\b)/g;

function renameVariables(text: string, ids: ReadonlyMap<string, string>): string {
  return text.replace(VARIABLE, (all, space: string, id: string, rest: string) => {
    const renewed = ids.get(id.trim());
    return renewed === undefined ? all : `{{${space}${renewed}${rest}`;
  });
}

function parseCopied(
  text: string,
): { nodes: DrawnNode[]; links: Pick<Link, 'source' | 'handle' | 'target'>[] } | undefined {
  if (!text.startsWith('{')) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value['format'] !== FORMAT) return undefined;
  const nodes = asArray(value['nodes']).filter(isNode);
  const links = asArray(value['links'])
    .filter(isObject)
    .flatMap(({ source, handle, target }) => {
      const [from, to] = [asText(source), asText(target)];
      return from === undefined || to === undefined
        ? []
        : [{ source: from, handle: asText(handle) ?? null, target: to }];
    });
  return nodes.length === 0 ? undefined : { nodes, links };
}
