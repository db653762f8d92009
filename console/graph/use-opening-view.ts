import type { FitViewOptions, Viewport } from '@xyflow/react';
import { useState } from 'react';
import type { CanvasNode } from './flow-nodes.js';

/** More are not shown at once: the view begins at the first ones, in a size that can be read. */
export const MAX_AT_ONCE = 150;

interface OpeningView {
  fitView: boolean;
  fitViewOptions: FitViewOptions;
  defaultViewport: Viewport;
}

/** Where the view is when a workflow is opened; afterwards only people move it. */
export function useOpeningView(nodes: readonly CanvasNode[]): OpeningView {
  const [view] = useState(() => {
    const first = nodes.find((node) => node.type === 'card' && node.data.isStart) ?? nodes[0];
    const { x, y } = first?.position ?? { x: 0, y: 0 };
    return {
      fitView: nodes.length > 0 && nodes.length <= MAX_AT_ONCE,
      fitViewOptions: { maxZoom: 1, padding: 0.15 },
      defaultViewport: { x: 80 - x * 0.8, y: 240 - y * 0.8, zoom: 0.8 },
    };
  });
  return view;
}
