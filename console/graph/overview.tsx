// The whole graph in small. React Flow's own map watches each node by itself, which costs more than the graph's drawing
// when there are thousands; here they are painted at once.
import { Panel, useReactFlow, useStore as useFlowStore, useViewport } from '@xyflow/react';
import { useEffect, useMemo, useRef, type PointerEvent } from 'react';
import type { CanvasNode } from './flow-nodes.js';
import './overview.css';
import { boundsOf, fitInto, type Rect } from './overview-frame.js';

const SIZE = { width: 144, height: 96 };

export function Overview({ nodes }: { nodes: readonly CanvasNode[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const flow = useReactFlow();
  const { x, y, zoom } = useViewport();
  const width = useFlowStore((state) => state.width);
  const height = useFlowStore((state) => state.height);
  const bounds = useMemo(() => boundsOf(nodes), [nodes]);
  const seen = { x: -x / zoom, y: -y / zoom, width: width / zoom, height: height / zoom };
  const frame = useMemo(() => fitInto(bounds, SIZE), [bounds]);
  useEffect(() => {
    if (canvas.current !== null) paint(canvas.current, nodes, frame);
    // Panning moves the frame of what is seen alone.
  }, [nodes, frame]);
  const lead = (event: PointerEvent<HTMLCanvasElement>): void => {
    if (event.buttons !== 1) return;
    const box = event.currentTarget.getBoundingClientRect();
    const at = { x: event.clientX - box.x, y: event.clientY - box.y };
    void flow.setCenter((at.x - frame.x) / frame.scale, (at.y - frame.y) / frame.scale, { zoom });
  };
  return (
    <Panel position="bottom-right" className="overview">
      <canvas
        ref={canvas}
        role="img"
        aria-label="Overview of the graph"
        width={SIZE.width * 2}
        height={SIZE.height * 2}
        style={SIZE}
        onPointerDown={lead}
        onPointerMove={lead}
      />
      <div className="overview-seen" style={place(seen, frame)} />
    </Panel>
  );
}

type Frame = ReturnType<typeof fitInto>;

function place(rect: Rect, { x, y, scale }: Frame) {
  return { left: rect.x * scale + x, top: rect.y * scale + y, width: rect.width * scale, height: rect.height * scale };
}

function paint(canvas: HTMLCanvasElement, nodes: readonly CanvasNode[], frame: Frame): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const { accentColor, color } = getComputedStyle(canvas);
  context.setTransform(2, 0, 0, 2, 0, 0);
  context.clearRect(0, 0, SIZE.width, SIZE.height);
  for (const { type, position, width = 0, height = 0, selected } of nodes) {
    context.fillStyle = context.strokeStyle = selected === true ? accentColor : color;
    const box = place({ ...position, width, height }, frame);
    if (type === 'frame') context.strokeRect(box.left, box.top, box.width, box.height);
    else context.fillRect(box.left, box.top, Math.max(1, box.width), Math.max(1, box.height));
  }
}
