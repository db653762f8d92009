// The drawing's nodes as React Flow draws them. A node whose drawing, selection and problems are as before stays the same
// object, so that nothing of it renders again.
import { Position as Side, type Node, type NodeHandle } from '@xyflow/react';
import { CARD_WIDTH, cardHeight, exitTop, HEAD_HEIGHT } from './card-size.js';
import {
  dataOf,
  labelOf,
  nodesOf,
  positionOf,
  startOf,
  typeOf,
  type Drawing,
  type DrawnNode,
  type Position,
} from './drawing.js';
import type { Selection } from './editor-store.js';
import { exitsOf, type Exit } from './exits.js';
import { flowFrames, type FrameNode } from './flow-frames.js';
import { isStart, type NodeKinds } from './node-kind.js';
import type { Problem } from './schema-problems.js';

/** What a card shows. An alias, because React Flow asks for data with an index. */
export type CardData = {
  label: string;
  /** The kind's title. */
  title: string;
  category: string;
  exits: readonly Exit[];
  isEntrance: boolean;
  isStart: boolean;
  errors: number;
  warnings: number;
};

export type FlowNode = Node<CardData, 'card'>;

/** What stands on the canvas. */
export type CanvasNode = FlowNode | FrameNode;

/** Reach of a handle around the point where links end. */
const REACH = 12;

interface Known {
  node: FlowNode;
  state: string;
}

const known = new WeakMap<DrawnNode, Known>();

export interface NodeLooks {
  drawing: Drawing;
  kinds: NodeKinds;
  selection: Selection;
  problems: readonly Problem[];
  /** Where nodes are while they are dragged: the drawing learns of it when they are put down. */
  moving: ReadonlyMap<string, Position>;
}

/** The cards in the order of the drawing, and behind that of each loop the frame of its body. */
export function flowNodes(looks: NodeLooks): CanvasNode[] {
  const { drawing, kinds, selection, moving } = looks;
  const cards = flowCards(looks);
  const frames = flowFrames({ drawing, kinds, selected: selection.nodes, moving });
  if (frames.size === 0) return cards;
  return cards.flatMap((card) => {
    const frame = frames.get(card.id);
    return frame === undefined ? [card] : [card, frame];
  });
}

function flowCards({ drawing, kinds, selection, problems, moving }: NodeLooks): FlowNode[] {
  const counts = countProblems(problems);
  const start = startOf(drawing);
  return [...nodesOf(drawing).values()].map((node) => {
    const position = moving.get(node.id) ?? positionOf(node);
    const [errors, warnings] = counts.get(node.id) ?? [0, 0];
    const selected = selection.nodes.has(node.id);
    const state = [position.x, position.y, errors, warnings, selected, node.id === start].join();
    const last = known.get(node);
    if (last?.state === state) return last.node;
    const card = { ...toCard(node, kinds), isStart: node.id === start, errors, warnings };
    const flowNode = toFlowNode(node.id, position, card, selected);
    known.set(node, { node: flowNode, state });
    return flowNode;
  });
}

function toCard(node: DrawnNode, kinds: NodeKinds): Omit<CardData, 'isStart' | 'errors' | 'warnings'> {
  const kind = kinds.get(typeOf(node));
  return {
    label: labelOf(node, kinds),
    title: kind?.title ?? `Unknown kind ${typeOf(node)}`,
    category: kind?.category ?? '',
    exits: exitsOf(kind, dataOf(node)),
    isEntrance: !isStart(kind),
  };
}

function toFlowNode(id: string, position: Position, data: CardData, selected: boolean): FlowNode {
  const size = { width: CARD_WIDTH, height: cardHeight(data.exits) };
  return {
    id,
    type: 'card',
    position,
    data,
    selected,
    ...size,
    measured: size,
    handles: toHandles(data.exits),
    ariaLabel: data.label,
  };
}

function toHandles(exits: readonly Exit[]): NodeHandle[] {
  const half = REACH / 2;
  const size = { width: REACH, height: REACH };
  return [
    { ...size, id: null, type: 'target', position: Side.Left, x: -half, y: HEAD_HEIGHT / 2 - half },
    ...exits.map(({ handle }, at): NodeHandle => ({
      ...size,
      id: handle,
      type: 'source',
      position: Side.Right,
      x: CARD_WIDTH - half,
      y: exitTop(exits, at) - half,
    })),
  ];
}

function countProblems(problems: readonly Problem[]): Map<string, [errors: number, warnings: number]> {
  const counts = new Map<string, [number, number]>();
  for (const { nodeId, severity } of problems) {
    if (nodeId === null) continue;
    const count = counts.get(nodeId) ?? [0, 0];
    count[severity === 'error' ? 0 : 1] += 1;
    counts.set(nodeId, count);
  }
  return counts;
}
