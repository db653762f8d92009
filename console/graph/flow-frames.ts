// The frames of a drawing's loops as React Flow draws them: nodes below the cards. Only their titles take the pointer, so
// that the ground in a frame is ground like any other.
import type { Node } from '@xyflow/react';
import { allInside, bodiesOf } from './bodies.js';
import { CARD_WIDTH, cardHeight } from './card-size.js';
import {
  dataOf,
  labelOf,
  nodesOf,
  positionOf,
  typeOf,
  type Drawing,
  type DrawnNode,
  type Position,
} from './drawing.js';
import { exitsOf } from './exits.js';
import { frameId, framesOf, frameZ, loopOfFrame, type Frame } from './frames.js';
import type { NodeKinds } from './node-kind.js';
import type { Rect } from './overview-frame.js';

export type FrameNode = Node<{ label: string }, 'frame'>;

interface Known {
  node: FrameNode;
  state: string;
}

const known = new WeakMap<DrawnNode, Known>();

interface FrameLooks {
  drawing: Drawing;
  kinds: NodeKinds;
  selected: ReadonlySet<string>;
  /** Where nodes are while they are dragged. */
  moving: ReadonlyMap<string, Position>;
}

/** By the id of the loop. */
export function flowFrames({ drawing, kinds, selected, moving }: FrameLooks): Map<string, FrameNode> {
  const frames = drawnFrames(drawing, kinds, moving);
  return new Map(
    frames.map((frame) => {
      const loop = nodesOf(drawing).get(frame.loop)!;
      const isSelected = selected.has(frameId(frame.loop));
      const state = [frame.x, frame.y, frame.width, frame.height, frame.depth, isSelected].join();
      const last = known.get(loop);
      if (last?.state === state) return [frame.loop, last.node];
      const node = toFlowNode(frame, labelOf(loop, kinds), isSelected);
      known.set(loop, { node, state });
      return [frame.loop, node];
    }),
  );
}

function drawnFrames(drawing: Drawing, kinds: NodeKinds, moving?: ReadonlyMap<string, Position>): Frame[] {
  const nodes = nodesOf(drawing);
  return framesOf(bodiesOf(drawing, kinds), (id): Rect => {
    const node = nodes.get(id)!;
    const height = cardHeight(exitsOf(kinds.get(typeOf(node)), dataOf(node)));
    return { ...(moving?.get(id) ?? positionOf(node)), width: CARD_WIDTH, height };
  });
}

function toFlowNode({ loop, depth, x, y, width, height }: Frame, label: string, selected: boolean): FrameNode {
  const size = { width, height };
  return {
    id: frameId(loop),
    type: 'frame',
    position: { x, y },
    data: { label },
    selected,
    ...size,
    measured: size,
    connectable: false,
    zIndex: frameZ(depth),
    style: { pointerEvents: 'none' },
    ariaLabel: `Body of ${label}`,
  };
}

/** Where the nodes in frames go when their frames are moved. */
export function movedByFrames(
  drawing: Drawing,
  kinds: NodeKinds,
  moved: ReadonlyMap<string, Position>,
): Map<string, Position> {
  const positions = new Map<string, Position>();
  for (const { loop, x, y } of drawnFrames(drawing, kinds)) {
    const to = moved.get(frameId(loop));
    if (to === undefined) continue;
    for (const id of allInside(bodiesOf(drawing, kinds), loop)) {
      const from = positionOf(nodesOf(drawing).get(id)!);
      positions.set(id, { x: from.x + to.x - x, y: from.y + to.y - y });
    }
  }
  return positions;
}

/** The nodes among `ids`, and those in the frames among them. */
export function withFrames(drawing: Drawing, kinds: NodeKinds, ids: ReadonlySet<string>): Set<string> {
  const all = [...ids].flatMap((id) => {
    const loop = loopOfFrame(id);
    return loop === undefined ? [id] : allInside(bodiesOf(drawing, kinds), loop);
  });
  return new Set(all.filter((id) => nodesOf(drawing).has(id)));
}
