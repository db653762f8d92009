// React Flow's changes into the drawing. Made once for a canvas: React Flow tells everything on it of a new handler.
import type { EdgeChange, NodeChange, NodePositionChange } from '@xyflow/react';
import { moveNodes } from './change-nodes.js';
import type { Position } from './drawing.js';
import type { EditorStore } from './editor-store.js';
import { movedByFrames } from './flow-frames.js';
import type { CanvasNode } from './flow-nodes.js';
import { loopOfFrame } from './frames.js';

export interface FlowHandlers {
  onNodesChange: (changes: NodeChange<CanvasNode>[]) => void;
  onEdgesChange: (changes: EdgeChange[]) => void;
}

/** Where nothing is being dragged. */
export const STANDING: ReadonlyMap<string, Position> = new Map();

/** `onMoving` hears where nodes are while they are dragged. */
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
      // Put down after a drag: one step. The arrow keys, as long as nothing else happens, are one step, too.
      const gesture = moving === STANDING ? { gesture: 'nudge' } : {};
      store.change(moveNodes(store.drawing, positions), gesture);
      setMoving(STANDING);
    },
    onEdgesChange: (changes) => select(store, 'links', changes),
  };
}

/** Where the nodes go that are moved, or whose frames are. */
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
