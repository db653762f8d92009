// React Flow's changes into the drawing, and the drawing into React Flow.
import type { EdgeChange, NodeChange } from '@xyflow/react';
import { useMemo, useState } from 'react';
import { moveNodes } from './change-nodes.js';
import type { Position } from './drawing.js';
import type { EditorStore } from './editor-store.js';
import { flowEdges, type EdgeMemory } from './flow-edges.js';
import { flowNodes, type FlowNode } from './flow-nodes.js';
import { useEditor, useStore } from './use-editor.js';

const STANDING: ReadonlyMap<string, Position> = new Map();

export function useFlow() {
  const store = useStore();
  const drawing = useEditor(({ history }) => history.present);
  const selection = useEditor((state) => state.selection);
  const problems = useEditor((state) => state.problems);
  const [moving, setMoving] = useState(STANDING);
  const [memory] = useState<EdgeMemory>(() => ({ byId: new Map(), all: [] }));
  const { kinds } = store;
  const nodes = useMemo(
    () => flowNodes({ drawing, kinds, selection, problems, moving }),
    [drawing, kinds, selection, problems, moving],
  );
  const edges = useMemo(
    () => flowEdges(drawing, kinds, selection.links, memory),
    [drawing, kinds, selection.links, memory],
  );
  const onNodesChange = (changes: NodeChange<FlowNode>[]): void => {
    select(store, 'nodes', changes);
    const moved = changes.filter((change) => change.type === 'position');
    const positions = new Map(moving);
    for (const { id, position } of moved) if (position !== undefined) positions.set(id, position);
    if (moved.some(({ dragging }) => dragging === true)) {
      setMoving(positions);
    } else if (moved.length > 0) {
      // Put down after a drag: one step. The arrow keys, as long as nothing else happens, are one step, too.
      const gesture = moving.size > 0 ? {} : { gesture: 'nudge' };
      store.change(moveNodes(store.drawing, positions), gesture);
      setMoving(STANDING);
    }
  };
  const onEdgesChange = (changes: EdgeChange[]): void => select(store, 'links', changes);
  return { nodes, edges, onNodesChange, onEdgesChange };
}

function select(store: EditorStore, which: 'nodes' | 'links', changes: (NodeChange<FlowNode> | EdgeChange)[]): void {
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
