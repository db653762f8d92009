// The frames that are drawn around the bodies of loops. They follow from the links and from where the nodes stand, so
// that any drawing has them; nothing of them is stored.
import type { Bodies } from './bodies.js';
import { boundsOf, type Rect } from './overview-frame.js';

/** Room between a frame and what is in it, and above that for the frame's title. */
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

/** Below all links and nodes, the inner frames above the outer ones. */
export function frameZ(depth: number): number {
  return Math.min(depth, 999) - 1_000;
}

export interface Frame extends Rect {
  loop: string;
  /** In how many other frames it is. */
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
  // The inner ones first: an outer one goes around them.
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
