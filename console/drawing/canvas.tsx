import {
  Background,
  Controls,
  Handle,
  Panel,
  Position as Side,
  ReactFlow,
  useReactFlow,
  useStore as useFlowStore,
  useViewport,
  type FinalConnectionState,
  type NodeProps,
  type ReactFlowInstance,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { DropdownMenu as Parts } from 'radix-ui';
import { memo, useEffect, useMemo, useRef, useState, type DragEvent, type PointerEvent } from 'react';
import { Button } from '../ui/button.js';
import '../ui/menu.css';
import { boundsOf, fitInto, type Rect } from './bodies.js';
import './canvas.css';
import { addNode, connect, freePlace, mayConnect, type NewLink } from './change-drawing.js';
import { isStart, nodesOf, startOf, type Drawing, type NodeKind, type NodeKinds, type Position } from './drawing.js';
import { useStore, type EditorStore } from './editor-store.js';
import {
  exitTop,
  hasRows,
  HEAD_HEIGHT,
  withFrames,
  type CanvasNode,
  type FlowNode,
  type FrameNode,
} from './flow-nodes.js';
import { KindIcon } from './kind-icon.js';
import type { Exit } from './links.js';
import './loop-frame.css';
import { OpeningView } from './opening-view.js';
import { MAX_AT_ONCE, useFlow } from './use-flow.js';

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
        // A small drawing is rendered whole, so that the keyboard and screen readers reach the nodes out of sight.
        onlyRenderVisibleElements={nodes.length > MAX_AT_ONCE}
        elevateNodesOnSelect={false}
        minZoom={0.1}
        maxZoom={2}
      >
        <Background gap={20} />
        <Controls showInteractive={false} aria-label="Zoom" />
        <Overview nodes={nodes} />
        <OpeningView nodes={nodes} first={startOf(store.drawing)} />
      </ReactFlow>
      {dropped !== undefined && <DroppedMenu dropped={dropped} onClose={() => setDropped(undefined)} />}
    </>
  );
}

/** The node that is chosen stands where the link was dropped, and is linked. Both are one step of Undo. */
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

/** A link that was dropped on empty ground. */
interface DroppedLink {
  source: string;
  handle: string | null;
  /** The place in the window. */
  at: { x: number; y: number };
}

interface DrawnLink {
  source: string;
  target: string;
  sourceHandle?: string | null | undefined;
}

interface LinkHandlers {
  onConnect: (link: DrawnLink) => void;
  isValidConnection: (link: DrawnLink) => boolean;
  onConnectEnd: (event: MouseEvent | TouchEvent, state: FinalConnectionState) => void;
}

/** Handles the drawing of links. It is made once for a canvas, like the other handlers (use-flow.ts). */
function createLinkHandlers(store: EditorStore, onDropped: (link: DroppedLink) => void): LinkHandlers {
  return {
    onConnect: (link) => store.change(connect(store.drawing, store.kinds, toLink(link))),
    isValidConnection: (link) => mayConnect(store.drawing, store.kinds, toLink(link)),
    onConnectEnd(event, { fromNode, fromHandle, toNode }) {
      if (toNode !== null || fromNode === null || fromHandle?.type !== 'source') return;
      const point = 'changedTouches' in event ? event.changedTouches[0] : event;
      if (point === undefined) return;
      const at = { x: point.clientX, y: point.clientY };
      onDropped({ source: fromNode.id, handle: fromHandle.id ?? null, at });
    },
  };
}

function toLink({ source, target, sourceHandle }: DrawnLink): NewLink {
  return { source, target, handle: sourceHandle ?? null };
}

/** One node of the graph. Its frame, which React Flow makes, is the group that is named by the label. */
const NodeCard = memo(function NodeCard({ data, isConnectable, selected }: NodeProps<FlowNode>) {
  const { label, kind, title, line, exits, isEntrance, isStart: beginsHere, problems, hasErrors } = data;
  return (
    <div className="node-card" data-selected={selected || undefined} data-wrong={hasErrors || undefined}>
      <Handle
        type="target"
        position={Side.Left}
        style={{ top: HEAD_HEIGHT / 2 }}
        isConnectable={isConnectable && isEntrance}
        className={isEntrance ? undefined : 'node-card-closed'}
      />
      <div className="node-card-head" title={`${title}: ${label}`}>
        <KindIcon type={kind} />
        <span className="node-card-label">
          <span className="hidden-text">{title}: </span>
          {label}
        </span>
        <span className="node-card-line" title={line}>
          {beginsHere && <span className="node-card-start">starts here</span>}
          {line === '' ? title : line}
        </span>
        {problems.length > 0 && (
          <span
            className={hasErrors ? 'node-card-mark' : 'node-card-mark node-card-warning'}
            title={problems.join('\n')}
          >
            {problems.length}
            <span className="hidden-text">
              {' '}
              {problems.length === 1 ? 'problem' : 'problems'}: {problems.join(' ')}
            </span>
          </span>
        )}
      </div>
      <Exits exits={exits} isConnectable={isConnectable} />
    </div>
  );
});

function Exits({ exits, isConnectable }: { exits: readonly Exit[]; isConnectable: boolean }) {
  const isNamed = hasRows(exits);
  return exits.map(({ handle, label }, at) => (
    <div key={handle ?? ''} className={isNamed ? 'node-card-exit' : undefined}>
      {isNamed && <span className="node-card-exit-label">{label}</span>}
      <Handle
        type="source"
        position={Side.Right}
        id={handle}
        style={{ top: exitTop(exits, at) }}
        isConnectable={isConnectable}
      />
    </div>
  ));
}

/** The frame around the body of a loop. Its element, which React Flow makes, is the group named `Body of <label>`. */
const LoopFrame = memo(function LoopFrame({ data, selected }: NodeProps<FrameNode>) {
  return (
    <div className="loop-frame" data-selected={selected || undefined}>
      <div className="loop-frame-title">
        <span className="loop-frame-label">Body of {data.label}</span>
      </div>
    </div>
  );
});

const NODE_TYPES = { card: NodeCard, frame: LoopFrame };

interface KindMenuProps {
  /** The place in the window. */
  at: { x: number; y: number };
  kinds: NodeKinds;
  onChoose: (kind: NodeKind) => void;
  onClose: () => void;
}

/** Asks which kind of node a link leads to that was dropped on empty ground. */
function KindMenu({ at, kinds, onChoose, onClose }: KindMenuProps) {
  return (
    <Parts.Root open modal={false} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Parts.Trigger asChild>
        <span aria-hidden="true" style={{ position: 'fixed', left: at.x, top: at.y }} />
      </Parts.Trigger>
      <Parts.Portal>
        <Parts.Content className="menu" align="start" collisionPadding={8} aria-label="Which kind of node">
          {[...kinds.values()]
            .filter((kind) => !isStart(kind))
            .map((kind) => (
              <Parts.Item key={kind.type} className="menu-item" onSelect={() => onChoose(kind)}>
                {kind.title}
              </Parts.Item>
            ))}
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  );
}

/** The format in which a kind is dragged: the `type` of its nodes. */
const KIND_FORMAT = 'application/x-node-kind';

/** The kinds of nodes by category. A person presses one to add it, or drags it onto the graph. */
export function Palette() {
  const store = useStore();
  const flow = useReactFlow();
  const add = (kind: NodeKind): void => {
    const graph = document.querySelector('.react-flow')?.getBoundingClientRect() ?? new DOMRect();
    const middle = flow.screenToFlowPosition({ x: graph.x + graph.width / 2, y: graph.y + graph.height / 2 });
    const selected = withFrames(store.drawing, store.kinds, store.getState().selection.nodes);
    const free = freePlace(store.drawing, selected, middle);
    const { drawing, id } = addNode(store.drawing, store.kinds, kind, free);
    store.change(drawing, { select: [id] });
    const [from, to] = [
      flow.flowToScreenPosition(free),
      flow.flowToScreenPosition({ x: free.x + 240, y: free.y + 120 }),
    ];
    const isInSight = from.x > graph.left && to.x < graph.right && from.y > graph.top && to.y < graph.bottom;
    if (!isInSight) showNew(flow, store.drawing, free);
  };
  return (
    <div className="palette" role="group" aria-label="Add nodes">
      {categoriesOf(store.kinds).map(([category, kinds]) => (
        <div key={category} className="palette-category">
          <h2 className="palette-heading">{category}</h2>
          {kinds.map((kind) => (
            <Button
              key={kind.type}
              className="palette-kind"
              aria-label={`Add ${kind.title}`}
              title={kind.description}
              draggable
              onDragStart={(event) => event.dataTransfer.setData(KIND_FORMAT, kind.type)}
              onClick={() => add(kind)}
            >
              <span aria-hidden="true">+</span> {kind.title}
            </Button>
          ))}
        </div>
      ))}
    </div>
  );
}

/** Shows the whole graph if it can be read then, else the new node in the middle. */
function showNew(flow: ReactFlowInstance, drawing: Drawing, { x, y }: Position): void {
  const zoom = flow.getZoom();
  if (nodesOf(drawing).size <= MAX_AT_ONCE) void flow.fitView({ maxZoom: zoom, padding: 0.1 });
  else void flow.setCenter(x, y, { zoom });
}

function categoriesOf(kinds: NodeKinds): [string, NodeKind[]][] {
  const categories = new Map<string, NodeKind[]>();
  for (const kind of kinds.values()) categories.set(kind.category, [...(categories.get(kind.category) ?? []), kind]);
  return [...categories];
}

// A small picture of the whole graph. React Flow's own map watches each node by itself, which costs more than drawing
// the graph when there are thousands of nodes; here they are painted at once.

const SIZE = { width: 144, height: 96 };

function Overview({ nodes }: { nodes: readonly CanvasNode[] }) {
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
    // Panning moves only the frame around what is seen, so it paints nothing.
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
