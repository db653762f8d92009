import { useReactFlow, useStore } from '@xyflow/react';
import { useEffect, useEffectEvent } from 'react';
import { openingView, type StandingNode } from './opening.js';

interface OpeningViewProps {
  nodes: readonly StandingNode[];
  /** The node that must be in view. */
  first: string | undefined;
}

/** Child of a `ReactFlow` that sets its initial view once, when the size of the canvas is known. */
export function OpeningView({ nodes, first }: OpeningViewProps) {
  const flow = useReactFlow();
  const isReady = useStore(({ width, height, panZoom }) => width > 0 && height > 0 && panZoom !== null);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const show = useEffectEvent(() => {
    if (nodes.length > 0) void flow.setViewport(openingView(nodes, first, { width, height }));
  });
  useEffect(() => {
    if (isReady) show();
  }, [isReady]);
  return null;
}
