// Connects the drawing to React Flow.
import { MarkerType, type Edge, type EdgeChange, type NodeChange, type NodePositionChange } from '@xyflow/react';
import { useMemo, useState } from 'react';
import { moveAll } from './arrange.js';
import { loopOfFrame } from './bodies.js';
import {
  dataOf,
  labelOf,
  nodesOf,
  typeOf,
  type Drawing,
  type DrawnNode,
  type NodeKinds,
  type Position,
} from './drawing.js';
import { useEditor, useStore, type EditorStore } from './editor-store.js';
import { flowNodes, LOST_HANDLE, movedByFrames, type CanvasNode } from './flow-nodes.js';
import { linksOf, offeredExits, type Link } from './links.js';

/** A type alias, because React Flow requires an index signature, which interfaces lack. */
type LinkData = { link: Link };

export type LinkEdgeType = Edge<LinkData, 'link'>;

interface Flow extends FlowHandlers {
  nodes: CanvasNode[];
  edges: LinkEdgeType[];
}

export function useFlow(): Flow {
  const store = useStore();
  const drawing = useEditor(({ history }) => history.present);
  const selection = useEditor((state) => state.selection);
  const problems = useEditor((state) => state.marked);
  const remarks = useEditor((state) => state.remarks);
  const assisted = useEditor((state) => state.answer?.nodes);
  const [moving, setMoving] = useState(STANDING);
  const [memory] = useState<EdgeMemory>(() => ({ byId: new Map(), all: [] }));
  const [handlers] = useState(() => createFlowHandlers(store, setMoving));
  const { kinds } = store;
  const nodes = useMemo(
    () => flowNodes({ drawing, kinds, selection, problems, remarks, assisted, moving }),
    [drawing, kinds, selection, problems, remarks, assisted, moving],
  );
  const edges = useMemo(
    () => flowEdges(drawing, kinds, selection.links, memory),
    [drawing, kinds, selection.links, memory],
  );
  return { nodes, edges, ...handlers };
}

/** With more cards, frames and notes than this, only those in view are rendered. */
export const MAX_AT_ONCE = 150;

/** Cache per canvas: unchanged edges and an unchanged list remain the same objects. */
interface EdgeMemory {
  byId: Map<string, LinkEdgeType>;
  all: LinkEdgeType[];
}

export function flowEdges(
  drawing: Drawing,
  kinds: NodeKinds,
  selected: ReadonlySet<string>,
  memory: EdgeMemory,
): LinkEdgeType[] {
  const nodes = nodesOf(drawing);
  const offered = new Map<string, ReadonlySet<string | null>>();
  const isLost = ({ source, handle }: Link): boolean => {
    const handles = offered.get(source) ?? offeredHandles(nodes.get(source), kinds);
    offered.set(source, handles);
    return !handles.has(handle);
  };
  const edges = linksOf(drawing, kinds).map((link) => {
    const { id, source, target, isIdle } = link;
    // The node may have the exit but not offer it in its present mode (`offeredExits`). So the link need not be idle.
    const hasNoExit = isLost(link);
    const looks: Partial<LinkEdgeType> = {
      ariaLabel: `${labelOf(nodes.get(source), kinds)} to ${labelOf(nodes.get(target), kinds)}`,
      className: isIdle || hasNoExit ? 'link link-idle' : 'link',
      selected: selected.has(id),
      sourceHandle: hasNoExit ? LOST_HANDLE : link.handle,
    };
    const last = memory.byId.get(id);
    const isSame =
      last?.ariaLabel === looks.ariaLabel &&
      last?.className === looks.className &&
      last?.selected === looks.selected &&
      last?.sourceHandle === looks.sourceHandle &&
      last?.data?.link.isIdle === isIdle;
    if (last !== undefined && isSame) return last;
    const edge = toEdge(link, looks);
    memory.byId.set(id, edge);
    return edge;
  });
  const isSame = edges.length === memory.all.length && edges.every((edge, at) => edge === memory.all[at]);
  if (!isSame) memory.all = edges;
  return memory.all;
}

function offeredHandles(node: DrawnNode | undefined, kinds: NodeKinds): ReadonlySet<string | null> {
  const exits = offeredExits(node && kinds.get(typeOf(node)), dataOf(node));
  return new Set(exits.map(({ handle }) => handle));
}

function toEdge(link: Link, looks: Partial<LinkEdgeType>): LinkEdgeType {
  const markerEnd = { type: MarkerType.ArrowClosed, width: 16, height: 16 };
  const { id, source, target } = link;
  return { id, type: 'link', source, target, markerEnd, data: { link }, ...looks };
}

// The handlers apply React Flow's changes to the drawing and the selection. They are created once per canvas, because a
// new handler makes React Flow update every element.

interface FlowHandlers {
  onNodesChange: (changes: NodeChange<CanvasNode>[]) => void;
  onEdgesChange: (changes: EdgeChange[]) => void;
}

/** The positions while nothing is being dragged. Compared by identity. */
export const STANDING: ReadonlyMap<string, Position> = new Map();

/** Calls `onMoving` with the positions of the moved nodes during a drag, and with `STANDING` after it. */
export function createFlowHandlers(
  store: EditorStore,
  onMoving: (positions: ReadonlyMap<string, Position>) => void,
): FlowHandlers {
  let moving = STANDING;
  const setMoving = (positions: ReadonlyMap<string, Position>): void => {
    moving = positions;
    onMoving(positions);
  };
  return {
    onNodesChange(changes) {
      select(store, 'nodes', changes);
      const moved = changes.filter((change) => change.type === 'position');
      if (moved.length === 0) return;
      const positions = new Map([...moving, ...targetsOf(store, moved)]);
      if (moved.some(({ dragging }) => dragging === true)) {
        setMoving(positions);
        return;
      }
      // A drag is one step of Undo when it ends. Consecutive moves by arrow keys are one step as well.
      const isDrag = moving !== STANDING;
      store.change(moveAll(store.drawing, positions), isDrag ? {} : { gesture: 'nudge' });
      setMoving(STANDING);
      // The node is chosen at the end of the drag, because the panel that opens makes the canvas smaller.
      if (isDrag)
        selectMoved(
          store,
          moved.map(({ id }) => id),
        );
    },
    onEdgesChange: (changes) => select(store, 'links', changes),
  };
}

function selectMoved(store: EditorStore, ids: readonly string[]): void {
  const { selection } = store.getState();
  if (!ids.some((id) => selection.nodes.has(id))) store.select(ids);
}

/** Returns the new positions of moved nodes, including those inside moved frames. */
function targetsOf({ drawing, kinds }: EditorStore, moved: readonly NodePositionChange[]): Map<string, Position> {
  const [nodes, frames] = [new Map<string, Position>(), new Map<string, Position>()];
  for (const { id, position } of moved) {
    if (position !== undefined) (loopOfFrame(id) === undefined ? nodes : frames).set(id, position);
  }
  return frames.size === 0 ? nodes : new Map([...movedByFrames(drawing, kinds, frames), ...nodes]);
}

function select(store: EditorStore, which: 'nodes' | 'links', changes: (NodeChange<CanvasNode> | EdgeChange)[]): void {
  const selections = changes.filter((change) => change.type === 'select');
  if (selections.length === 0) return;
  const { selection } = store.getState();
  const ids = new Set(selection[which]);
  for (const { id, selected } of selections) {
    if (selected) ids.add(id);
    else ids.delete(id);
  }
  const next = { ...selection, [which]: ids };
  store.select(next.nodes, next.links);
  store.endGesture();
}
