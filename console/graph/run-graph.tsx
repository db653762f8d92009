import { Background, Controls, MarkerType, ReactFlow, type Edge, type ReactFlowInstance } from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useMemo } from 'react';
import type { JsonObject } from '../../graph/json.js';
import { frameId, framesOf, frameZ } from './frames.js';
import type { NodeKinds } from './node-kind.js';
import { runBodies } from './run-bodies.js';
import { RunFrame, type RunFrameNode } from './run-frame.js';
import { RunGraphContext } from './run-graph-context.js';
import { layOutRun, NODE_HEIGHT, NODE_WIDTH } from './run-graph-layout.js';
import { RunGraphNode, type RunFlowNode } from './run-graph-node.js';
import './run-graph.css';
import type { RunLinks } from './run-links.js';

interface RunGraphProps {
  runId: string;
  /** The drawing with which the run was started. */
  drawing: JsonObject;
  links: RunLinks;
  kinds: NodeKinds;
  selected: string | undefined;
  onSelect: (nodeId: string) => void;
}

const NODE_TYPES = { run: RunGraphNode, frame: RunFrame };
const FIT = { padding: 0.08, maxZoom: 1 };
const ARIA = { 'controls.ariaLabel': 'View of the graph' };
/** What is smaller cannot be read. */
const READABLE = 0.3;
/** Larger drawings show only what is in sight. */
const DRAWN_WHOLE = 600;

/** A drawing as it runs or ran; it is looked at, not changed. The nodes read their status by themselves. */
export function RunGraph({ runId, drawing, links, kinds, selected, onSelect }: RunGraphProps) {
  const { nodes, edges } = useMemo(() => toFlow(drawing, links, kinds), [drawing, links, kinds]);
  const context = useMemo(() => ({ runId, selected, onSelect }), [runId, selected, onSelect]);
  return (
    <RunGraphContext value={context}>
      <ReactFlow
        className="run-graph"
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        onlyRenderVisibleElements={nodes.length > DRAWN_WHOLE}
        ariaLabelConfig={ARIA}
        colorMode="system"
        onInit={(flow) => void showFirst(flow, links.start)}
        minZoom={0.02}
        maxZoom={1.5}
      >
        <Background />
        <Controls orientation="horizontal" showInteractive={false} fitViewOptions={FIT} />
      </ReactFlow>
    </RunGraphContext>
  );
}

/** All of the drawing, unless it is so large that nothing could be read: then where it begins. */
async function showFirst(
  flow: ReactFlowInstance<RunFlowNode | RunFrameNode>,
  start: string | undefined,
): Promise<void> {
  await flow.fitView(FIT);
  const first = flow.getNode(start ?? '');
  if (first === undefined || flow.getZoom() >= READABLE) return;
  const { x, y } = first.position;
  await flow.setCenter(x + 1.5 * NODE_WIDTH, y + NODE_HEIGHT / 2, { zoom: READABLE });
}

function toFlow(drawing: JsonObject, links: RunLinks, kinds: NodeKinds) {
  const bodies = runBodies(drawing, links, kinds);
  const views = layOutRun(drawing, links, bodies);
  const places = new Map(views.map((view) => [view.id, view]));
  const labels = new Map(views.map(({ id, label }) => [id, label]));
  const nodes = views.map(({ id, label, type, x, y }): RunFlowNode => ({
    id,
    type: 'run',
    position: { x, y },
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
    data: { label, kind: kinds.get(type)?.title ?? '' },
  }));
  const frames = framesOf(bodies, (id) => ({ ...places.get(id)!, width: NODE_WIDTH, height: NODE_HEIGHT })).map(
    ({ loop, depth, x, y, width, height }): RunFrameNode => ({
      id: frameId(loop),
      type: 'frame',
      position: { x, y },
      width,
      height,
      zIndex: frameZ(depth),
      data: { label: labels.get(loop)!, loop },
    }),
  );
  const edges = links.links.map(({ from, to, handle }): Edge => ({
    id: JSON.stringify([from, handle, to]),
    source: from,
    target: to,
    ariaLabel: `${labels.get(from)} to ${labels.get(to)}`,
    markerEnd: { type: MarkerType.ArrowClosed },
    ...(handle === '' ? {} : { label: handle }),
  }));
  return { nodes: [...nodes, ...frames], edges };
}
