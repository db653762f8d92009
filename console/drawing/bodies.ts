// The bodies of loops: the nodes that a run reaches through a loop's body handle.
import { nodesOf, startOf, typeOf, type Drawing, type NodeKind, type NodeKinds } from './drawing.js';
import { linksOf } from './links.js';

export interface Bodies {
  /** Ids of the nodes directly in a loop's body, by the loop's id. Outer loops come before inner ones. */
  members: ReadonlyMap<string, readonly string[]>;
  /** Id of the innermost loop around a node, by the node's id. */
  loopOf: ReadonlyMap<string, string>;
}

interface BodyLink {
  source: string;
  target: string;
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

/** Returns the loop bodies of a drawing in the editor. Edges that do not run are ignored. */
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
 * Visits the nodes after the start first, so that an unconnected node with a link into a body does not claim
 * the body's nodes.
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
    // The loop extends the list, because a body may contain loops.
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

/** Returns the unseen nodes, nearest first. */
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

/** Returns all nodes in the body of a loop, including those in nested bodies. */
export function allInside({ members }: Bodies, loop: string): string[] {
  const ids = [...(members.get(loop) ?? [])];
  // The loop extends the list.
  for (const id of ids) ids.push(...(members.get(id) ?? []));
  return ids;
}

/** Returns the enclosing loops, innermost first. */
export function loopsAround({ loopOf }: Bodies, id: string): string[] {
  const loops: string[] = [];
  for (let loop = loopOf.get(id); loop !== undefined; loop = loopOf.get(loop)) loops.push(loop);
  return loops;
}

function append(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

// The frames around loop bodies. They are computed from links and positions, not stored, so every drawing has them.

/** Padding between a frame and its content, and the height of the frame's title, in pixels. */
export const FRAME_PADDING = 24;
export const FRAME_TITLE = 32;

/** Ids of nodes and links contain no control characters, so the prefix prevents collisions. */
const PREFIX = '\u001Fbody of ';

export function frameId(loop: string): string {
  return PREFIX + loop;
}

/** Returns the loop of a frame, or undefined if the id is that of a node. */
export function loopOfFrame(id: string): string | undefined {
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : undefined;
}

/** Frames are below all links and nodes, inner frames above outer ones. */
export function frameZ(depth: number): number {
  return Math.min(depth, 999) - 1_000;
}

export interface Frame extends Rect {
  loop: string;
  /** Number of frames around this one. */
  depth: number;
}

/** Returns the frames of all bodies, outer ones first. `rectOf` returns the rectangle of a node. */
export function framesOf({ members, loopOf }: Bodies, rectOf: (id: string) => Rect): Frame[] {
  const frames = new Map<string, Frame>();
  const depths = new Map<string, number>();
  for (const loop of members.keys()) {
    const outer = loopOf.get(loop);
    depths.set(loop, outer === undefined ? 0 : depths.get(outer)! + 1);
  }
  // Inner frames first, because outer frames enclose them.
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

/** Returns the bounding box of the nodes. */
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

/** Returns the transform that centres `bounds` in a picture: scale first, then move by `x` and `y`. */
export function fitInto(bounds: Rect, size: { width: number; height: number }) {
  const [width, height] = [size.width - 2 * MARGIN, size.height - 2 * MARGIN];
  const scale = Math.min(width / Math.max(bounds.width, 1), height / Math.max(bounds.height, 1), 0.1);
  return {
    scale,
    x: (size.width - bounds.width * scale) / 2 - bounds.x * scale,
    y: (size.height - bounds.height * scale) / 2 - bounds.y * scale,
  };
}
