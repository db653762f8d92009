// The short form of a drawing: its nodes and links, without the fields that only an editor needs
// (docs/use/assistants.md).
import { holdsActions, mapActions } from '../actions/stored-actions.js';
import { isObject, type JsonObject } from '../json.js';
import { groupEdges } from '../links.js';
import { kindOfType } from '../nodes/registry.js';
import { namedLinksOf, ORDINARY_EXIT, withoutLinks, type NamedLinks } from './node-links.js';

export interface ShortNode {
  id: string;
  /** The `type` of the node in the drawing. */
  kind: string;
  label: string;
  /** The data without its id, its label and its links. */
  data: JsonObject;
  /** The targets of the ordinary exit, or of each exit that has links. */
  next: string[] | Record<string, string[]>;
}

export interface ShortForm {
  /** Null if the drawing has no start node. */
  start: string | null;
  nodes: ShortNode[];
}

/** Returns the short form of any drawing. Nodes without an id, and later nodes with the id of another, are left out. */
export function toShortForm(drawing: JsonObject): ShortForm {
  const { nodes, start_node: start } = holdsActions(drawing) ? mapActions(drawing, nameOf) : drawing;
  const edges = groupEdges(drawing['edges']);
  const seen = new Set<string>();
  const short: ShortNode[] = [];
  for (const node of Array.isArray(nodes) ? (nodes as unknown[]) : []) {
    if (!isObject(node) || typeof node['id'] !== 'string' || node['id'] === '' || seen.has(node['id'])) continue;
    seen.add(node['id']);
    short.push(toShortNode(node, node['id'], edges.get(node['id']) ?? []));
  }
  return { start: typeof start === 'string' && start !== '' ? start : null, nodes: short };
}

function toShortNode(node: JsonObject, id: string, edges: readonly JsonObject[]): ShortNode {
  const type = typeof node['type'] === 'string' ? node['type'] : '';
  const data = isObject(node['data']) ? node['data'] : {};
  const kind = kindOfType(type);
  return {
    id,
    kind: type,
    label: typeof data['label'] === 'string' ? data['label'] : '',
    data: withoutNames(withoutLinks(kind, data)),
    next: toNext(namedLinksOf(kind, data, edges)),
  };
}

/** Leaves out the facts of an action, which only this product writes. */
function nameOf({ service, id, refresh }: JsonObject): JsonObject {
  return { service, id, ...(refresh !== undefined && { refresh }) };
}

/** `id` repeats the node's own, and `label` has a field of its own. A label that is no text stays in the data. */
function withoutNames(data: JsonObject): JsonObject {
  const isName = (key: string): boolean => key === 'id' || (key === 'label' && typeof data[key] === 'string');
  return Object.fromEntries(Object.entries(data).filter(([key]) => !isName(key)));
}

function toNext(links: NamedLinks): ShortNode['next'] {
  const names = [...links.keys()];
  if (names.every((name) => name === ORDINARY_EXIT)) return links.get(ORDINARY_EXIT) ?? [];
  return Object.fromEntries(links);
}
