// The drawing, as React Flow shows and changes it.
import type { Edge } from '@xyflow/react';
import { useMemo, useState } from 'react';
import { flowEdges, type EdgeMemory } from './flow-edges.js';
import { createFlowHandlers, STANDING, type FlowHandlers } from './flow-handlers.js';
import { flowNodes, type CanvasNode } from './flow-nodes.js';
import { useEditor, useStore } from './use-editor.js';

export interface Flow extends FlowHandlers {
  nodes: CanvasNode[];
  edges: Edge[];
}

export function useFlow(): Flow {
  const store = useStore();
  const drawing = useEditor(({ history }) => history.present);
  const selection = useEditor((state) => state.selection);
  const problems = useEditor((state) => state.problems);
  const [moving, setMoving] = useState(STANDING);
  const [memory] = useState<EdgeMemory>(() => ({ byId: new Map(), all: [] }));
  const [handlers] = useState(() => createFlowHandlers(store, setMoving));
  const { kinds } = store;
  const nodes = useMemo(
    () => flowNodes({ drawing, kinds, selection, problems, moving }),
    [drawing, kinds, selection, problems, moving],
  );
  const edges = useMemo(
    () => flowEdges(drawing, kinds, selection.links, memory),
    [drawing, kinds, selection.links, memory],
  );
  return { nodes, edges, ...handlers };
}
