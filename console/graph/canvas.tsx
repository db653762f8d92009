import { Background, Controls, ReactFlow, useReactFlow } from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useState, type DragEvent } from 'react';
import './canvas.css';
import { HEAD_HEIGHT } from './card-size.js';
import { connect } from './change-links.js';
import { addNode } from './change-nodes.js';
import { KindMenu } from './kind-menu.js';
import { LoopFrame } from './loop-frame.js';
import { createLinkHandlers, type DroppedLink } from './link-handlers.js';
import { NodeCard } from './node-card.js';
import { Overview } from './overview.js';
import { KIND_FORMAT } from './palette.js';
import { useStore } from './use-editor.js';
import { useFlow } from './use-flow.js';
import { MAX_AT_ONCE, useOpeningView } from './use-opening-view.js';

const NODE_TYPES = { card: NodeCard, frame: LoopFrame };

export function Canvas() {
  const store = useStore();
  const flow = useReactFlow();
  const { nodes, edges, onNodesChange, onEdgesChange } = useFlow();
  const [dropped, setDropped] = useState<DroppedLink>();
  const [links] = useState(() => createLinkHandlers(store, setDropped));
  const isEditable = !store.isReadOnly;
  const onDrop = (event: DragEvent): void => {
    const kind = store.kinds.get(event.dataTransfer.getData(KIND_FORMAT));
    if (kind === undefined) return;
    event.preventDefault();
    const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const added = addNode(store.drawing, store.kinds, kind, { x: Math.round(at.x), y: Math.round(at.y) });
    store.change(added.drawing, { select: [added.id] });
  };
  return (
    <>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onConnect={links.onConnect}
        onConnectEnd={links.onConnectEnd}
        isValidConnection={links.isValidConnection}
        onDrop={onDrop}
        onDragOver={(event) => event.preventDefault()}
        nodesDraggable={isEditable}
        nodesConnectable={isEditable}
        edgesReconnectable={false}
        deleteKeyCode={null}
        zoomOnDoubleClick={false}
        // Of few nodes all are there, so that the keyboard and screen readers reach those out of sight, too.
        onlyRenderVisibleElements={nodes.length > MAX_AT_ONCE}
        elevateNodesOnSelect={false}
        minZoom={0.1}
        maxZoom={2}
        {...useOpeningView(nodes)}
      >
        <Background gap={20} />
        <Controls showInteractive={false} aria-label="Zoom" />
        <Overview nodes={nodes} />
      </ReactFlow>
      {dropped !== undefined && <DroppedMenu dropped={dropped} onClose={() => setDropped(undefined)} />}
    </>
  );
}

/** The node that is chosen stands where the link was dropped, and is linked: one step. */
function DroppedMenu({ dropped, onClose }: { dropped: DroppedLink; onClose: () => void }) {
  const store = useStore();
  const flow = useReactFlow();
  return (
    <KindMenu
      at={dropped.at}
      kinds={store.kinds}
      onClose={onClose}
      onChoose={(kind) => {
        const at = flow.screenToFlowPosition(dropped.at);
        const position = { x: Math.round(at.x), y: Math.round(at.y - HEAD_HEIGHT / 2) };
        const { drawing, id } = addNode(store.drawing, store.kinds, kind, position);
        store.change(connect(drawing, store.kinds, { ...dropped, target: id }), { select: [id] });
      }}
    />
  );
}
