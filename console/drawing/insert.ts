// Inserts a node after another one or into a link. Each insertion is one step of Undo.
import { pushTo } from '../../graph/push-to.js';
import { addNode, connect, disconnect, freePlace, moveNodes } from './change-drawing.js';
import { dataOf, nodesOf, positionOf, typeOf, type Drawing, type NodeKind, type NodeKinds } from './drawing.js';
import { CARD_WIDTH } from './flow-nodes.js';
import { offeredExits, linksOf, type Exit, type Link } from './links.js';

interface Added {
  drawing: Drawing;
  id: string;
}

/**
 * Adds a node behind another one, at its first free exit. If its only exit has one link, the new node goes into that
 * link, unless the new node has no exit that could continue the link. Returns undefined if neither is possible.
 */
export function addNext(drawing: Drawing, kinds: NodeKinds, kind: NodeKind, source: string): Added | undefined {
  const exit = freeExit(drawing, kinds, source);
  if (exit !== undefined) return addBehind(drawing, kinds, kind, { source, handle: exit.handle });
  const [link, ...others] = linksOf(drawing, kinds).filter((each) => each.source === source && !each.isIdle);
  const isOnly = link !== undefined && others.length === 0 && exitsOfNode(drawing, kinds, source).length === 1;
  return isOnly && offeredExits(kind, {}).length > 0 ? insertOnLink(drawing, kinds, kind, link) : undefined;
}

/** Adds a node to the right of another one and links them. */
export function addBehind(
  drawing: Drawing,
  kinds: NodeKinds,
  kind: NodeKind,
  { source, handle }: { source: string; handle: string | null },
): Added {
  const place = freePlace(drawing, new Set([source]), { x: 0, y: 0 });
  const added = addNode(drawing, kinds, kind, place);
  return { id: added.id, drawing: connect(added.drawing, kinds, { source, handle, target: added.id }) };
}

/** Returns no exits for the key of a frame or a note. */
function exitsOfNode(drawing: Drawing, kinds: NodeKinds, id: string): readonly Exit[] {
  const node = nodesOf(drawing).get(id);
  return node === undefined ? [] : offeredExits(kinds.get(typeOf(node)), dataOf(node));
}

/** Returns the first exit of a node that has no running link; undefined if there is none. */
function freeExit(drawing: Drawing, kinds: NodeKinds, id: string): Exit | undefined {
  const taken = linksOf(drawing, kinds).flatMap(({ source, handle, isIdle }) =>
    source === id && !isIdle ? [handle] : [],
  );
  return exitsOfNode(drawing, kinds, id).find(({ handle }) => !taken.includes(handle));
}

const GAP = 60;

/**
 * Replaces a link by a node linked with both ends of the link, or only with its source if the node has no exit. Moves
 * the following nodes if there is no room.
 */
export function insertOnLink(drawing: Drawing, kinds: NodeKinds, kind: NodeKind, link: Link): Added {
  const [from, to] = [nodesOf(drawing).get(link.source), nodesOf(drawing).get(link.target)];
  if (from === undefined || to === undefined) return addNode(drawing, kinds, kind, { x: 0, y: 0 });
  const [left, right] = [positionOf(from), positionOf(to)];
  const room = right.x - left.x - CARD_WIDTH;
  const missing = CARD_WIDTH + 2 * GAP - room;
  const hasRoom = missing <= 0 || right.x < left.x;
  const x = hasRoom ? (left.x + right.x) / 2 : left.x + CARD_WIDTH + GAP;
  const y = hasRoom ? (left.y + right.y) / 2 : right.y;
  const moved = hasRoom ? drawing : shifted(drawing, kinds, link, missing);
  const added = addNode(moved, kinds, kind, { x: Math.round(x), y: Math.round(y) });
  const exits = offeredExits(kind, dataOf(nodesOf(added.drawing).get(added.id)));
  const exit = exits.find(({ handle }) => handle === null) ?? exits[0];
  const { source, handle, target } = link;
  const opened = disconnect(added.drawing, kinds, [link]);
  const joined = connect(opened, kinds, { source, handle, target: added.id });
  if (exit === undefined) return { id: added.id, drawing: joined };
  return { id: added.id, drawing: connect(joined, kinds, { source: added.id, handle: exit.handle, target }) };
}

/** Moves the target of a link, and the nodes after it that are not left of it, to the right. */
function shifted(drawing: Drawing, kinds: NodeKinds, { target }: Link, by: number): Drawing {
  const next = new Map<string, string[]>();
  for (const link of linksOf(drawing, kinds)) pushTo(next, link.source, link.target);
  const after = new Set([target]);
  for (const id of after) for (const each of next.get(id) ?? []) after.add(each);
  const nodes = nodesOf(drawing);
  const from = positionOf(nodes.get(target)!).x;
  const places = [...after].flatMap((id) => {
    const { x, y } = positionOf(nodes.get(id)!);
    return x < from ? [] : [[id, { x: x + by, y }] as const];
  });
  return moveNodes(drawing, new Map(places));
}
