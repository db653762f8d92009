// Serialises nodes and their inner links for the clipboard, and pastes them as new nodes into this or another workflow.
import { MAX_NOTES } from '../../graph/notes.js';
import { connect, newId } from './change-drawing.js';
import {
  dataOf,
  isNode,
  isStart,
  nodesOf,
  positionOf,
  startOf,
  typeOf,
  type Drawing,
  type DrawnNode,
  type NodeKinds,
  type Position,
} from './drawing.js';
import { withFrames } from './flow-nodes.js';
import { isObject, mapLeaves, type JsonObject } from '../../graph/json.js';
import { replaceSpans } from '../../graph/template.js';
import { asArray, asText } from '../ui/json.js';
import { exitsOf, linksOf, targetsIn, withTargets, type Link } from './links.js';
import { chosenNotes, isNote, noteKey, notesOf, withNotes, type DrawnNote } from './notes.js';

const FORMAT = 'workflow-automation-nodes/1';

/** `chosen` has the selected keys on the canvas: nodes, frames and notes. */
export function copyNodes(drawing: Drawing, kinds: NodeKinds, chosen: ReadonlySet<string>): string {
  const ids = withFrames(drawing, kinds, chosen);
  const nodes = [...nodesOf(drawing).values()].filter(({ id }) => ids.has(id));
  const links = linksOf(drawing, kinds).filter(
    ({ source, target, isIdle }) => !isIdle && ids.has(source) && ids.has(target),
  );
  const noteIds = chosenNotes(drawing, chosen);
  const notes = [...notesOf(drawing).values()].filter(({ id }) => noteIds.has(id));
  return JSON.stringify({ format: FORMAT, nodes, links, ...(notes.length > 0 && { notes }) });
}

/**
 * Pastes copied nodes with new ids, their links, and variables renamed to the new ids. Adds notes up to the limit of a
 * drawing. Returns undefined if the text is not a copy of nodes or notes.
 */
export function pasteNodes(
  drawing: Drawing,
  kinds: NodeKinds,
  text: string,
  offset: Position,
): { drawing: Drawing; keys: Set<string> } | undefined {
  const copied = parseCopied(text);
  if (copied === undefined) return undefined;
  const ids = new Map(copied.nodes.map(({ id }) => [id, newId()]));
  const pasted = copied.nodes.map((node) => renew(node, kinds, ids, offset));
  let changed: Drawing =
    pasted.length === 0 ? drawing : { edges: [], ...drawing, nodes: [...asArray(drawing['nodes']), ...pasted] };
  for (const { source, handle, target } of copied.links) {
    const link = { source: ids.get(source) ?? '', handle, target: ids.get(target) ?? '' };
    changed = connect(changed, kinds, link);
  }
  const first = (pasted.find((node) => isStart(kinds.get(typeOf(node)))) ?? pasted[0])?.id;
  if (!nodesOf(drawing).has(startOf(drawing) ?? '') && first !== undefined) changed = { ...changed, start_node: first };
  const room = Math.max(0, MAX_NOTES - asArray(drawing['notes']).length);
  const notes = copied.notes.slice(0, room).map((note) => ({ ...note, id: newId(), position: moved(note, offset) }));
  const keys = new Set([...ids.values(), ...notes.map(({ id }) => noteKey(id))]);
  return { drawing: withNotes(changed, notes), keys };
}

/** Pastes all of another drawing below what is there. */
export function pasteDrawing(
  drawing: Drawing,
  kinds: NodeKinds,
  other: Drawing,
): { drawing: Drawing; keys: Set<string> } {
  const [here, there] = [drawing, other].map((each) => {
    const places = [...nodesOf(each).values(), ...notesOf(each).values()].map(positionOf);
    return { x: places.map(({ x }) => x), y: places.map(({ y }) => y) };
  });
  const isEmpty = here!.x.length === 0;
  const offset = isEmpty
    ? { x: 0, y: 0 }
    : { x: Math.min(...here!.x) - Math.min(...there!.x), y: Math.max(...here!.y) + GAP - Math.min(...there!.y) };
  const keys = [...nodesOf(other).keys(), ...[...notesOf(other).keys()].map(noteKey)];
  return pasteNodes(drawing, kinds, copyNodes(other, kinds, new Set(keys)), offset) ?? { drawing, keys: new Set() };
}

/** Room for the exits of the lowest card. */
const GAP = 240;

function moved(of: JsonObject, offset: Position): Position {
  const { x, y } = positionOf(of);
  return { x: x + offset.x, y: y + offset.y };
}

function renew(node: DrawnNode, kinds: NodeKinds, ids: ReadonlyMap<string, string>, offset: Position): DrawnNode {
  const id = ids.get(node.id) ?? node.id;
  let data = mapLeaves(dataOf(node), (leaf) =>
    typeof leaf === 'string' ? renameVariables(leaf, ids) : leaf,
  ) as JsonObject;
  for (const exit of exitsOf(kinds.get(typeOf(node)), data)) {
    if (targetsIn(data, exit) !== undefined) data = withTargets(data, exit, []);
  }
  const { selected: _selected, dragging: _dragging, ...rest } = node as JsonObject;
  return {
    ...rest,
    id,
    position: moved(node, offset),
    data: { ...data, ...(Object.hasOwn(data, 'id') && { id }) },
  };
}

/** The part that a variable reads. The node's id stands before it. */
const PART = /\.(?:result|error|item|index|last|callback_url)\b/;

function renameVariables(text: string, ids: ReadonlyMap<string, string>): string {
  return replaceSpans(text, (expression) => {
    const id = expression.slice(0, Math.max(0, expression.search(PART))).trim();
    const renewed = ids.get(id);
    return renewed === undefined ? undefined : `{{${expression.replace(id, () => renewed)}}}`;
  });
}

interface Copied {
  nodes: DrawnNode[];
  links: Pick<Link, 'source' | 'handle' | 'target'>[];
  notes: DrawnNote[];
}

function parseCopied(text: string): Copied | undefined {
  if (!text.startsWith('{')) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value['format'] !== FORMAT) return undefined;
  const nodes = asArray(value['nodes']).filter(isNode);
  const notes = asArray(value['notes']).filter(isNote);
  const links = asArray(value['links'])
    .filter(isObject)
    .flatMap(({ source, handle, target }) => {
      const [from, to] = [asText(source), asText(target)];
      return from === undefined || to === undefined
        ? []
        : [{ source: from, handle: asText(handle) ?? null, target: to }];
    });
  return nodes.length === 0 && notes.length === 0 ? undefined : { nodes, links, notes };
}
