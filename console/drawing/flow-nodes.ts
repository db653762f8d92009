// Converts the drawing's nodes to React Flow nodes. A node remains the same object while its part of the drawing and
// its looks do not change, so it does not render again.
import { Position as Side, type Node, type NodeHandle } from '@xyflow/react';
import { allInside, bodiesOf, frameId, framesOf, frameZ, loopOfFrame, type Frame, type Rect } from './bodies.js';
import {
  dataOf,
  isStart,
  labelOf,
  nodesOf,
  positionOf,
  startOf,
  typeOf,
  type Drawing,
  type DrawnNode,
  type NodeKinds,
  type Position,
} from './drawing.js';
import type { Remark, Selection } from './editor-store.js';
import { lineOf } from './kind-looks.js';
import { offeredExits, linksOf, type Exit, type Link } from './links.js';
import { asObject, asText } from '../ui/json.js';
import { noteKey, notesOf, sizeOfNote, textOfNote, type DrawnNote } from './notes.js';
import type { Problem } from './problem.js';

/** Data of a card. A type alias, because React Flow requires an index signature, which interfaces lack. */
export type CardData = {
  label: string;
  /** The node's `type` in drawings. */
  kind: string;
  /** The id of the service whose action the node calls. */
  service: string | undefined;
  title: string;
  /** A summary of the node in one line. */
  line: string;
  exits: readonly Exit[];
  /** Handles of the exits without links. */
  freeExits: readonly (string | null)[];
  /** True if links are drawn from an exit that the node does not have, or does not offer now (`offeredExits`). */
  hasLostLinks: boolean;
  isEntrance: boolean;
  isStart: boolean;
  /** Messages of the node's problems, errors first. */
  problems: readonly string[];
  hasErrors: boolean;
  remark: Remark | undefined;
  /** True if the newest answer of the assistant has changed the node. */
  isAssisted: boolean;
};

export type FlowNode = Node<CardData, 'card'>;

export type NoteNode = Node<{ text: string; isLeftOut: boolean }, 'note'>;

export type CanvasNode = FlowNode | FrameNode | NoteNode;

/** Size in pixels of the area around a link's end that accepts the pointer. */
const REACH = 12;

interface Known {
  node: FlowNode;
  state: string;
}

const known = new WeakMap<DrawnNode, Known>();

interface NodeLooks {
  drawing: Drawing;
  kinds: NodeKinds;
  selection: Selection;
  problems: readonly Problem[];
  remarks?: ReadonlyMap<string, Remark>;
  /** The nodes that the newest answer of the assistant has changed. */
  assisted?: ReadonlySet<string> | undefined;
  /** Positions of nodes during a drag. The drawing is updated when the drag ends. */
  moving: ReadonlyMap<string, Position>;
}

/** Returns the cards in the drawing's order, each loop's card followed by the frame of its body, then the notes. */
export function flowNodes(looks: NodeLooks): CanvasNode[] {
  const { drawing, kinds, selection, moving } = looks;
  const cards = flowCards(looks);
  const notes = flowNotes(looks);
  const frames = flowFrames({ drawing, kinds, selected: selection.nodes, moving });
  if (frames.size === 0) return notes.length === 0 ? cards : [...cards, ...notes];
  const framed = cards.flatMap((card) => {
    const frame = frames.get(card.id);
    return frame === undefined ? [card] : [card, frame];
  });
  return [...framed, ...notes];
}

function flowCards({ drawing, kinds, selection, problems, remarks, assisted, moving }: NodeLooks): FlowNode[] {
  const found = problemsByNode(problems);
  const start = startOf(drawing);
  const nodes = nodesOf(drawing);
  const linked = groupHandles(linksOf(drawing, kinds));
  const labelOfId = (id: string): string | undefined => {
    const node = nodes.get(id);
    return node && labelOf(node, kinds);
  };
  return [...nodes.values()].map((node) => {
    const position = moving.get(node.id) ?? positionOf(node);
    const { problems: sentences, hasErrors } = found.get(node.id) ?? NO_PROBLEMS;
    const selected = selection.nodes.has(node.id);
    const remark = remarks?.get(node.id);
    const line = lineOf(typeOf(node), dataOf(node), labelOfId);
    const exits = offeredExits(kinds.get(typeOf(node)), dataOf(node));
    const handles = exits.map(({ handle }) => handle);
    const own = linked.get(node.id) ?? NO_HANDLES;
    const freeExits = handles.filter((handle) => !own.has(handle));
    const hasLostLinks = [...own].some((handle) => !handles.includes(handle));
    const first = node.id === start;
    const isAssisted = assisted?.has(node.id) === true;
    const drawn = { exits, freeExits, hasLostLinks, isStart: first, line, problems: sentences, hasErrors };
    const looks = { ...drawn, remark, isAssisted };
    const state = JSON.stringify([position, selected, looks]);
    const last = known.get(node);
    if (last?.state === state) return last.node;
    const card = { ...toCard(node, kinds), ...looks };
    const flowNode = toFlowNode(node.id, position, card, selected);
    known.set(node, { node: flowNode, state });
    return flowNode;
  });
}

function toCard(
  node: DrawnNode,
  kinds: NodeKinds,
): Pick<CardData, 'label' | 'kind' | 'service' | 'title' | 'isEntrance'> {
  const kind = kinds.get(typeOf(node));
  return {
    label: labelOf(node, kinds),
    kind: typeOf(node),
    service: asText(asObject(dataOf(node)['action'])['service']),
    title: kind?.title ?? `Unknown kind ${typeOf(node)}`,
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
    handles: toHandles(data),
    ariaLabel: [data.label, data.remark?.status, data.remark?.pin, data.isAssisted && 'changed by the assistant']
      .filter(Boolean)
      .join(', '),
  };
}

/** The handle of links from an exit that the node does not have or offer. People see the links, and can delete them. */
export const LOST_HANDLE = '(lost)';

function toHandles({ exits, hasLostLinks }: CardData): NodeHandle[] {
  const half = REACH / 2;
  const size = { width: REACH, height: REACH };
  const source = (id: string | null, top: number): NodeHandle => ({
    ...size,
    id,
    type: 'source',
    position: Side.Right,
    x: CARD_WIDTH - half,
    y: top - half,
  });
  return [
    { ...size, id: null, type: 'target', position: Side.Left, x: -half, y: HEAD_HEIGHT / 2 - half },
    ...exits.map(({ handle }, at) => source(handle, exitTop(exits, at))),
    ...(hasLostLinks ? [source(LOST_HANDLE, HEAD_HEIGHT / 2)] : []),
  ];
}

const NO_HANDLES: ReadonlySet<string | null> = new Set();

function groupHandles(links: readonly Link[]): ReadonlyMap<string, Set<string | null>> {
  const groups = new Map<string, Set<string | null>>();
  for (const { source, handle } of links) groups.set(source, (groups.get(source) ?? new Set()).add(handle));
  return groups;
}

interface NodeProblems {
  problems: string[];
  hasErrors: boolean;
}

const NO_PROBLEMS: NodeProblems = { problems: [], hasErrors: false };

function problemsByNode(problems: readonly Problem[]): Map<string, NodeProblems> {
  const found = new Map<string, NodeProblems>();
  const errorsFirst = problems.toSorted((one, other) => Number(isWarning(one)) - Number(isWarning(other)));
  for (const { nodeId, message, severity } of errorsFirst) {
    if (nodeId === null) continue;
    const own = found.get(nodeId) ?? { problems: [], hasErrors: false };
    own.problems.push(message);
    own.hasErrors ||= severity === 'error';
    found.set(nodeId, own);
  }
  return found;
}

function isWarning({ severity }: Problem): boolean {
  return severity !== 'error';
}

// Notes are below links and cards, and above frames.

const NOTE_Z = -0.5;

const knownNotes = new WeakMap<DrawnNote, { node: NoteNode; state: string }>();

function flowNotes({ drawing, selection, moving }: NodeLooks): NoteNode[] {
  return [...notesOf(drawing).values()].map((note) => {
    const id = noteKey(note.id);
    const position = moving.get(id) ?? positionOf(note);
    const selected = selection.nodes.has(id);
    const state = JSON.stringify([position, selected]);
    const last = knownNotes.get(note);
    if (last?.state === state) return last.node;
    const size = sizeOfNote(note);
    const isLeftOut = note['left_out'] === true;
    const data = { text: textOfNote(note), isLeftOut };
    const looks = {
      ariaRole: 'article',
      ariaLabel: isLeftOut ? 'Left out' : 'Note',
      connectable: false,
      zIndex: NOTE_Z,
    } as const;
    const node: NoteNode = { id, type: 'note', position, data, selected, ...size, measured: size, ...looks };
    knownNotes.set(note, { node, state });
    return node;
  });
}

// Frames of loops as React Flow nodes below the cards. Only their titles accept the pointer, so that a click inside a
// frame acts like a click on the background.

export type FrameNode = Node<{ label: string }, 'frame'>;

interface KnownFrame {
  node: FrameNode;
  state: string;
}

const knownFrames = new WeakMap<DrawnNode, KnownFrame>();

interface FrameLooks {
  drawing: Drawing;
  kinds: NodeKinds;
  selected: ReadonlySet<string>;
  moving: ReadonlyMap<string, Position>;
}

/** Returns the frames by loop id. */
function flowFrames({ drawing, kinds, selected, moving }: FrameLooks): Map<string, FrameNode> {
  const frames = drawnFrames(drawing, kinds, moving);
  return new Map(
    frames.map((frame) => {
      const loop = nodesOf(drawing).get(frame.loop)!;
      const isSelected = selected.has(frameId(frame.loop));
      const state = [frame.x, frame.y, frame.width, frame.height, frame.depth, isSelected].join();
      const last = knownFrames.get(loop);
      if (last?.state === state) return [frame.loop, last.node];
      const node = toFlowFrame(frame, labelOf(loop, kinds), isSelected);
      knownFrames.set(loop, { node, state });
      return [frame.loop, node];
    }),
  );
}

function drawnFrames(drawing: Drawing, kinds: NodeKinds, moving?: ReadonlyMap<string, Position>): Frame[] {
  const nodes = nodesOf(drawing);
  return framesOf(bodiesOf(drawing, kinds), (id): Rect => {
    const node = nodes.get(id)!;
    const height = cardHeight(offeredExits(kinds.get(typeOf(node)), dataOf(node)));
    return { ...(moving?.get(id) ?? positionOf(node)), width: CARD_WIDTH, height };
  });
}

function toFlowFrame({ loop, depth, x, y, width, height }: Frame, label: string, selected: boolean): FrameNode {
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

/** Returns the new positions of the nodes inside moved frames. */
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

/** Returns the nodes in `ids`, plus the nodes inside the frames in `ids`. */
export function withFrames(drawing: Drawing, kinds: NodeKinds, ids: ReadonlySet<string>): Set<string> {
  const all = [...ids].flatMap((id) => {
    const loop = loopOfFrame(id);
    return loop === undefined ? [id] : allInside(bodiesOf(drawing, kinds), loop);
  });
  return new Set(all.filter((id) => nodesOf(drawing).has(id)));
}

// Cards have a fixed size, so that links to cards outside the view can be drawn without rendering the cards.

export const CARD_WIDTH = 220;
export const HEAD_HEIGHT = 64;
const EXIT_HEIGHT = 24;

export function cardHeight(exits: readonly Exit[]): number {
  return hasRows(exits) ? HEAD_HEIGHT + exits.length * EXIT_HEIGHT + 8 : HEAD_HEIGHT;
}

/** Named exits are rows below the card's head. */
export function hasRows(exits: readonly Exit[]): boolean {
  return exits.some(({ handle }) => handle !== null);
}

/** Returns the distance of an exit from the card's upper edge, in pixels. */
export function exitTop(exits: readonly Exit[], at: number): number {
  return hasRows(exits) ? HEAD_HEIGHT + at * EXIT_HEIGHT + EXIT_HEIGHT / 2 : HEAD_HEIGHT / 2;
}
