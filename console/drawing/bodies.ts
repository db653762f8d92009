// The bodies of loops as the editor draws them.
import { findBodies, FRAME_PADDING, FRAME_TITLE, type Bodies } from '../../graph/loop-bodies.js';
import { nodesOf, startOf, typeOf, type Drawing, type NodeKind, type NodeKinds } from './drawing.js';
import { linksOf } from './links.js';

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

/** Returns all nodes in the body of a loop, including those in nested bodies. */
export function allInside({ members }: Bodies, loop: string): string[] {
  const ids = [...(members.get(loop) ?? [])];
  // The list grows while it is iterated, because a body may contain loops.
  for (const id of ids) ids.push(...(members.get(id) ?? []));
  return ids;
}

// The frames around loop bodies. They are computed from links and positions, not stored, so every drawing has them.

/** Ids of nodes and links contain no control characters, so the prefix prevents collisions. */
const PREFIX = '\u001Fbody of ';

export function frameId(loop: string): string {
  return PREFIX + loop;
}

/** Returns the loop of a frame, or undefined if the id is not that of a frame. */
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

/**
 * Returns the transform that fits `bounds` into a picture and centres it there: scale first, by at most 0.1, then move
 * by `x` and `y`.
 */
export function fitInto(bounds: Rect, size: { width: number; height: number }) {
  const [width, height] = [size.width - 2 * MARGIN, size.height - 2 * MARGIN];
  const scale = Math.min(width / Math.max(bounds.width, 1), height / Math.max(bounds.height, 1), 0.1);
  return {
    scale,
    x: (size.width - bounds.width * scale) / 2 - bounds.x * scale,
    y: (size.height - bounds.height * scale) / 2 - bounds.y * scale,
  };
}
