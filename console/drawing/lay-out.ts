// Lays out nodes from left to right in layers. Each loop body is laid out separately, and its frame is then one box in
// the surrounding layout, so that frames never overlap.
import { Graph, layout } from '@dagrejs/dagre';
import { FRAME_PADDING, FRAME_TITLE, type Bodies } from '../../graph/loop-bodies.js';
import { frameId } from './bodies.js';
import type { Position } from './drawing.js';

interface Size {
  width: number;
  height: number;
}

interface Ends {
  source: string;
  target: string;
}

interface Gaps {
  /** Gap between nodes of one layer, in pixels. */
  nodesep: number;
  /** Gap between layers, in pixels. */
  ranksep: number;
}

/** Returns the upper left corner of each node in `sizes`. Links must not refer to other nodes. */
export function layOut(
  sizes: ReadonlyMap<string, Size>,
  links: readonly Ends[],
  bodies: Bodies,
  gaps: Gaps,
): Map<string, Position> {
  const linksIn = linksByScope(links, bodies);
  const parts = new Map(sizes);
  const places = new Map<string, Position>();
  // Inner bodies first, because their frames are boxes in the outer ones.
  for (const [loop, ids] of [...bodies.members].toReversed()) {
    const frames = ids.filter((id) => bodies.members.has(id)).map(frameId);
    const placed = layOutScope([...ids, ...frames], parts, linksIn.get(loop) ?? [], gaps);
    for (const [id, position] of placed.places) places.set(id, position);
    parts.set(frameId(loop), framed(placed));
  }
  const outside = [...sizes.keys()].filter((id) => !bodies.loopOf.has(id));
  const frames = outside.filter((id) => bodies.members.has(id)).map(frameId);
  const placed = layOutScope([...outside, ...frames], parts, linksIn.get(undefined) ?? [], gaps);
  for (const [id, position] of placed.places) places.set(id, position);
  // Converts positions inside frames to absolute ones. Outer frames come first.
  for (const [loop, ids] of bodies.members) {
    const { x, y } = places.get(frameId(loop))!;
    for (const id of ids.flatMap((each) => [each, frameId(each)])) {
      const inside = places.get(id);
      if (inside !== undefined) {
        places.set(id, { x: x + FRAME_PADDING + inside.x, y: y + FRAME_TITLE + FRAME_PADDING + inside.y });
      }
    }
  }
  return new Map([...sizes.keys()].map((id) => [id, places.get(id)!]));
}

interface Placed extends Size {
  /** Relative to the upper left corner of the bounding box. */
  places: Map<string, Position>;
}

function layOutScope(
  ids: readonly string[],
  sizes: ReadonlyMap<string, Size>,
  links: readonly Ends[],
  gaps: Gaps,
): Placed {
  const graph = new Graph({ multigraph: true });
  // With `LR`, a layer is a column and `top` is its left edge. So a node above or below a wide frame stands at the
  // frame's left edge, near its predecessor.
  graph.setGraph({ rankdir: 'LR', rankalign: 'top', ...gaps });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of ids) graph.setNode(id, { ...sizes.get(id)! });
  for (const [at, { source, target }] of links.entries()) graph.setEdge(source, target, {}, String(at));
  layout(graph);
  const corners = ids.map((id) => {
    const { x, y, width, height } = graph.node(id) as Size & Position;
    return { id, width, height, x: x - width / 2, y: y - height / 2 };
  });
  const [left, top] = [Math.min(...corners.map(({ x }) => x)), Math.min(...corners.map(({ y }) => y))];
  return {
    places: new Map(corners.map(({ id, x, y }) => [id, { x: x - left, y: y - top }])),
    width: Math.max(...corners.map(({ x, width }) => x + width)) - left,
    height: Math.max(...corners.map(({ y, height }) => y + height)) - top,
  };
}

function framed({ width, height }: Size): Size {
  return { width: width + 2 * FRAME_PADDING, height: height + 2 * FRAME_PADDING + FRAME_TITLE };
}

/**
 * Groups the links by the innermost loop that contains both ends. A link across the border of a frame
 * ends at the frame.
 */
function linksByScope(links: readonly Ends[], { loopOf }: Bodies): Map<string | undefined, Ends[]> {
  const scopes = new Map<string | undefined, Ends[]>();
  for (const link of links) {
    const sources = endsByScope(link.source, loopOf);
    const targets = endsByScope(link.target, loopOf);
    const scope = [...sources.keys()].find((each) => targets.has(each));
    const [source, target] = [sources.get(scope)!, targets.get(scope)!];
    if (source === target) continue;
    const known = scopes.get(scope);
    if (known === undefined) scopes.set(scope, [{ source, target }]);
    else known.push({ source, target });
  }
  return scopes;
}

/** Returns the node for its own scope, and the frames around it for the outer scopes. */
function endsByScope(id: string, loopOf: ReadonlyMap<string, string>): Map<string | undefined, string> {
  const ends = new Map<string | undefined, string>();
  let end = id;
  for (let scope = loopOf.get(id); scope !== undefined; scope = loopOf.get(scope)) {
    ends.set(scope, end);
    end = frameId(scope);
  }
  return ends.set(undefined, end);
}
