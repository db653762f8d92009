// The bodies of loops. The handle of a loop's body leads into its body, as it does when the drawing runs.
import { nodesOf, startOf, typeOf, type Drawing, type NodeKind, type NodeKinds } from './drawing.js';
import { linksOf } from './links.js';

export interface Bodies {
  /** The nodes that are directly in the body of a loop, by the loop's id. Loops come before those in their bodies. */
  members: ReadonlyMap<string, readonly string[]>;
  /** The loop in whose body a node is directly, by the node's id. */
  loopOf: ReadonlyMap<string, string>;
}

interface BodyLink {
  source: string;
  target: string;
  /** The link leads from a loop into its body. */
  isIntoBody: boolean;
}

export const NO_BODIES: Bodies = { members: new Map(), loopOf: new Map() };

export function isBodyHandle(kind: NodeKind | undefined, handle: string | null): boolean {
  return kind?.handles.some(({ id, body }) => body === true && id === handle) === true;
}

interface Known {
  kinds: NodeKinds;
  bodies: Bodies;
}

const known = new WeakMap<Drawing, Known>();

/** Returns the bodies of a drawing in the editor. Edges that do not run do not count. */
export function bodiesOf(drawing: Drawing, kinds: NodeKinds): Bodies {
  const last = known.get(drawing);
  if (last?.kinds === kinds) return last.bodies;
  const nodes = nodesOf(drawing);
  const links = linksOf(drawing, kinds)
    .filter(({ isIdle }) => !isIdle)
    .map(({ source, handle, target }) => ({
      source,
      target,
      isIntoBody: isBodyHandle(kinds.get(typeOf(nodes.get(source)!)), handle),
    }));
  const bodies = findBodies([...nodes.keys()], startOf(drawing), links);
  known.set(drawing, { kinds, bodies });
  return bodies;
}

/**
 * The nodes after the start are looked at first, so that a loose end which leads into a body does not take the body
 * apart.
 */
export function findBodies(ids: readonly string[], start: string | undefined, links: readonly BodyLink[]): Bodies {
  if (!links.some(({ isIntoBody }) => isIntoBody)) return NO_BODIES;
  const [next, inside] = [new Map<string, string[]>(), new Map<string, string[]>()];
  for (const { source, target, isIntoBody } of links) append(isIntoBody ? inside : next, source, target);
  const targets = new Set(links.map(({ target }) => target));
  const beginnings = ids.filter((id) => !targets.has(id));
  const found = { members: new Map<string, string[]>(), loopOf: new Map<string, string>() };
  const seen = new Set<string>();
  for (const root of [...(start === undefined ? [] : [start]), ...beginnings, ...ids]) {
    const scopes: { loop: string | undefined; from: readonly string[] }[] = [{ loop: undefined, from: [root] }];
    // The list grows while it is iterated: a body may have loops of its own.
    for (const { loop, from } of scopes) {
      for (const id of reached(from, next, seen)) {
        if (loop !== undefined) {
          append(found.members, loop, id);
          found.loopOf.set(id, loop);
        }
        if (inside.has(id)) scopes.push({ loop: id, from: inside.get(id)! });
      }
    }
  }
  return found;
}

/** Returns the nodes that were not seen before, in the order of their distance. */
function reached(from: readonly string[], next: ReadonlyMap<string, readonly string[]>, seen: Set<string>): string[] {
  const ids: string[] = [];
  const see = (id: string): void => {
    if (seen.has(id)) return;
    seen.add(id);
    ids.push(id);
  };
  for (const id of from) see(id);
  for (const id of ids) for (const target of next.get(id) ?? []) see(target);
  return ids;
}

/** The nodes in the body of a loop, and those in the bodies of the loops in it. */
export function allInside({ members }: Bodies, loop: string): string[] {
  const ids = [...(members.get(loop) ?? [])];
  // The list grows while it is iterated.
  for (const id of ids) ids.push(...(members.get(id) ?? []));
  return ids;
}

function append(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

// The frames that are drawn around the bodies of loops. They follow from the links and from where the nodes stand, so
// that any drawing has them; nothing of them is stored.

/** The room between a frame and what is in it, and the room above that for the frame's title. */
export const FRAME_PADDING = 24;
export const FRAME_TITLE = 32;

/** Neither nodes nor links have ids with a control character. */
const PREFIX = '\u001Fbody of ';

/** The id of the frame of a loop among the nodes of the canvas. */
export function frameId(loop: string): string {
  return PREFIX + loop;
}

/** The loop of a frame; undefined for the id of a node. */
export function loopOfFrame(id: string): string | undefined {
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : undefined;
}

/** Frames are below all links and nodes, and inner frames are above outer ones. */
export function frameZ(depth: number): number {
  return Math.min(depth, 999) - 1_000;
}

export interface Frame extends Rect {
  loop: string;
  /** The number of frames around it. */
  depth: number;
}

/** The frames of all bodies, the outer ones first. `rectOf` says where a node stands. */
export function framesOf({ members, loopOf }: Bodies, rectOf: (id: string) => Rect): Frame[] {
  const frames = new Map<string, Frame>();
  const depths = new Map<string, number>();
  for (const loop of members.keys()) {
    const outer = loopOf.get(loop);
    depths.set(loop, outer === undefined ? 0 : depths.get(outer)! + 1);
  }
  // Inner frames are made first, because outer frames go around them.
  for (const [loop, ids] of [...members].toReversed()) {
    const inner = ids.map((id) => frames.get(id)).filter((frame) => frame !== undefined);
    frames.set(loop, { loop, depth: depths.get(loop)!, ...around([...ids.map(rectOf), ...inner]) });
  }
  return [...frames.values()].toReversed();
}

function around(parts: readonly Rect[]): Rect {
  const inside = parts.map(({ x, y, width, height }) => ({ position: { x, y }, width, height }));
  const { x, y, width, height } = boundsOf(inside);
  return {
    x: x - FRAME_PADDING,
    y: y - FRAME_PADDING - FRAME_TITLE,
    width: width + 2 * FRAME_PADDING,
    height: height + 2 * FRAME_PADDING + FRAME_TITLE,
  };
}

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Placed {
  position: { x: number; y: number };
  width?: number | undefined;
  height?: number | undefined;
}

/** Returns the area that the nodes take up together. */
export function boundsOf(nodes: readonly Placed[]): Rect {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { position, width = 0, height = 0 } of nodes) {
    left = Math.min(left, position.x);
    top = Math.min(top, position.y);
    right = Math.max(right, position.x + width);
    bottom = Math.max(bottom, position.y + height);
  }
  return nodes.length === 0
    ? { x: 0, y: 0, width: 1, height: 1 }
    : { x: left, y: top, width: right - left, height: bottom - top };
}

const MARGIN = 8;

/** Returns how to draw `bounds` in the middle of a picture: scaled, then moved by `x` and `y`. */
export function fitInto(bounds: Rect, size: { width: number; height: number }) {
  const [width, height] = [size.width - 2 * MARGIN, size.height - 2 * MARGIN];
  const scale = Math.min(width / Math.max(bounds.width, 1), height / Math.max(bounds.height, 1), 0.1);
  return {
    scale,
    x: (size.width - bounds.width * scale) / 2 - bounds.x * scale,
    y: (size.height - bounds.height * scale) / 2 - bounds.y * scale,
  };
}
