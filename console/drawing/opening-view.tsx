import { useReactFlow, useStore } from '@xyflow/react';
import { useEffect, useEffectEvent } from 'react';
import { openingView, type StandingNode } from './opening.js';

interface OpeningViewProps {
  nodes: readonly StandingNode[];
  /** The node that must be in view. */
  first: string | undefined;
  /** Pixels above the first node that are in view, too. */
  headroom?: number;
  /** Pixels on the right that stay free if the nodes are legible in the rest of the width. */
  reserved?: number;
}

/** Child of a `ReactFlow` that sets its initial view once, when the size of the canvas is known. */
export function OpeningView({ nodes, first, headroom = 0, reserved = 0 }: OpeningViewProps) {
  const flow = useReactFlow();
  const isReady = useStore(({ width, height, panZoom }) => width > 0 && height > 0 && panZoom !== null);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const show = useEffectEvent(() => {
    if (nodes.length > 0)
      void flow.setViewport(openingView(withHeadroom(nodes, first, headroom), first, { width, height }, reserved));
  });
  useEffect(() => {
    if (isReady) show();
  }, [isReady]);
  return null;
}

function withHeadroom(nodes: readonly StandingNode[], first: string | undefined, height: number): StandingNode[] {
  const node = nodes.find(({ id }) => id === first);
  if (node === undefined || height === 0) return [...nodes];
  const { x, y } = node.position;
  return [...nodes, { id: '', position: { x, y: y - height }, width: 1, height }];
}
