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
import {
  memo,
  use,
  useEffect,
  useMemo,
  useRef,
  useState,
  type DragEvent,
  type PointerEvent,
  type ReactNode,
} from 'react';
import { useServiceName } from '../service/services.js';
import { kindOfDrop, useProjectId } from './action-kind.js';
import { boundsOf, fitInto, type Rect } from './bodies.js';
import './canvas.css';
import { CardRemark } from './card-remark.js';
import { addNode, connect, mayConnect, type NewLink } from './change-drawing.js';
import { startOf, type NodeKind } from './drawing.js';
import { onlyNode, useStore, type EditorStore } from './editor-store.js';
import {
  exitTop,
  hasRows,
  HEAD_HEIGHT,
  LOST_HANDLE,
  type CanvasNode,
  type CardData,
  type FlowNode,
  type FrameNode,
} from './flow-nodes.js';
import { addBehind } from './insert.js';
import { KeepInView } from './keep-in-view.js';
import { KindIcon } from './kind-icon.js';
import { AskContext, KindMenu, type AskedPlace } from './kind-menu.js';
import { LinkEdge } from './link-edge.js';
import './loop-frame.css';
import { NoteCard } from './note-card.js';
import { OpeningView } from './opening-view.js';
import { ServiceIcon } from './service-icon.js';
import { MAX_AT_ONCE, useFlow } from './use-flow.js';

/** Requests on the canvas for which the page opens a menu. The functions never change while the canvas is mounted. */
export interface CanvasEvents {
  /** A person asks for the menu of the selection, or of the empty canvas (`ground`), at a point of the window. */
  onMenu: (at: Point, on: 'chosen' | 'ground') => void;
  /** A person asks to add a node at a point of the window. */
  onAdd: (at: Point) => void;
}

interface Point {
  x: number;
  y: number;
}

interface CanvasProps {
  events: CanvasEvents;
  /**
   * The initial view includes this many pixels above the only selected node, else above the start node, because the
   * page shows something there.
   */
  headroom?: number;
  /** Pixels on the right that a panel takes once something is chosen. */
  reserved?: number;
  children?: ReactNode;
}

export function Canvas({ events, headroom = 0, reserved = 0, children }: CanvasProps) {
  const store = useStore();
  const flow = useReactFlow();
  const { nodes, edges, onNodesChange, onEdgesChange } = useFlow();
  const [asked, setAsked] = useState<AskedPlace>();
  const [links] = useState(() => createLinkHandlers(store, flow, setAsked));
  const [pointer] = useState(() => createPointerHandlers(store, events));
  const isEditable = !store.isReadOnly;
  const onDrop = (event: DragEvent): void => {
    const kind = kindOfDrop(store.kinds, event.dataTransfer);
    if (kind === undefined) return;
    event.preventDefault();
    const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const added = addNode(store.drawing, store.kinds, kind, { x: Math.round(at.x), y: Math.round(at.y) });
    store.change(added.drawing, { select: [added.id] });
  };
  return (
    <AskContext value={setAsked}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onConnect={links.onConnect}
        onConnectEnd={links.onConnectEnd}
        isValidConnection={links.isValidConnection}
        {...pointer}
        onDrop={onDrop}
        onDragOver={(event) => event.preventDefault()}
        nodesDraggable={isEditable}
        selectNodesOnDrag={false}
        nodesConnectable={isEditable}
        edgesReconnectable={false}
        deleteKeyCode={null}
        zoomOnDoubleClick={false}
        // Small drawings are rendered whole, so that keyboard and screen readers reach nodes outside the view.
        onlyRenderVisibleElements={nodes.length > MAX_AT_ONCE}
        elevateNodesOnSelect={false}
        minZoom={0.1}
        maxZoom={2}
      >
        <Background gap={20} />
        <Controls showInteractive={false} aria-label="Zoom" />
        <Overview nodes={nodes} />
        <OpeningView
          nodes={nodes}
          first={onlyNode(store.getState().selection) ?? startOf(store.drawing)}
          headroom={headroom}
          reserved={onlyNode(store.getState().selection) === undefined ? reserved : 0}
        />
        <KeepInView />
        {children}
      </ReactFlow>
      {asked !== undefined && <KindMenu place={asked} onClose={() => setAsked(undefined)} />}
    </AskContext>
  );
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

/** Handlers for drawing links, created once per canvas for the reason given in use-flow.ts. */
function createLinkHandlers(
  store: EditorStore,
  flow: ReactFlowInstance,
  ask: (place: AskedPlace) => void,
): LinkHandlers {
  return {
    onConnect: (link) => store.change(connect(store.drawing, store.kinds, toLink(link))),
    isValidConnection: (link) => mayConnect(store.drawing, store.kinds, toLink(link)),
    onConnectEnd(event, { fromNode, fromHandle, toNode }) {
      if (toNode !== null || fromNode === null || fromHandle?.type !== 'source') return;
      const point = 'changedTouches' in event ? event.changedTouches[0] : event;
      if (point === undefined) return;
      const at = { x: point.clientX, y: point.clientY };
      const { x, y } = flow.screenToFlowPosition(at);
      const position = { x: Math.round(x), y: Math.round(y - HEAD_HEIGHT / 2) };
      ask({
        at,
        add: (kind) => {
          const { drawing, id } = addNode(store.drawing, store.kinds, kind, position);
          const link = { source: fromNode.id, handle: fromHandle.id ?? null, target: id };
          return { id, drawing: connect(drawing, store.kinds, link) };
        },
      });
    },
  };
}

interface PointerHandlers {
  onNodeClick: (event: KeyedMouse, node: CanvasNode) => void;
  onNodeContextMenu: (event: MouseLike, node: CanvasNode) => void;
  onEdgeContextMenu: (event: MouseLike, edge: { id: string }) => void;
  onPaneContextMenu: (event: MouseLike) => void;
  onDoubleClick: (event: MouseLike) => void;
}

type KeyedMouse = Pick<MouseEvent, 'ctrlKey' | 'metaKey' | 'shiftKey'>;
type MouseLike = Pick<MouseEvent, 'clientX' | 'clientY' | 'target' | 'preventDefault' | 'defaultPrevented'>;

/** Handlers of clicks and of the context menu, created once per canvas like those of links. */
function createPointerHandlers(store: EditorStore, { onMenu, onAdd }: CanvasEvents): PointerHandlers {
  const open = (event: MouseLike, on: 'chosen' | 'ground'): void => {
    event.preventDefault();
    onMenu({ x: event.clientX, y: event.clientY }, on);
  };
  return {
    onNodeClick({ ctrlKey, metaKey, shiftKey }, { id }) {
      const { nodes, links } = store.getState().selection;
      // After a plain click on one of several selected nodes, React Flow leaves the others selected.
      if (nodes.has(id) && nodes.size + links.size > 1 && !ctrlKey && !metaKey && !shiftKey) store.select([id]);
    },
    onNodeContextMenu(event, { id }) {
      // The text of a note has the menu of the browser.
      if (event.target instanceof HTMLTextAreaElement && event.target.classList.contains('nodrag')) return;
      if (!store.getState().selection.nodes.has(id)) store.select([id]);
      open(event, 'chosen');
    },
    onEdgeContextMenu(event, { id }) {
      if (!store.getState().selection.links.has(id)) store.select([], [id]);
      open(event, 'chosen');
    },
    onPaneContextMenu: (event) => open(event, 'ground'),
    onDoubleClick(event) {
      const isGround = event.target instanceof Element && event.target.classList.contains('react-flow__pane');
      // If the first click was on a card, the page has opened that node and prevented the default
      // (console/pages/workflow/node-view.tsx).
      if (isGround && !event.defaultPrevented && !store.isReadOnly) onAdd({ x: event.clientX, y: event.clientY });
    },
  };
}

function toLink({ source, target, sourceHandle }: DrawnLink): NewLink {
  return { source, target, handle: sourceHandle ?? null };
}

/** A node of the graph. React Flow renders the wrapper, a group whose name begins with the label. */
const NodeCard = memo(function NodeCard({ id, data, isConnectable, selected }: NodeProps<FlowNode>) {
  const { label, kind, service, title, line, isEntrance, isStart: isStartNode, problems, hasErrors, remark } = data;
  const { isAssisted } = data;
  return (
    <div
      className="node-card"
      data-selected={selected || undefined}
      data-wrong={hasErrors || undefined}
      data-assisted={isAssisted || undefined}
    >
      <Handle
        type="target"
        position={Side.Left}
        style={{ top: HEAD_HEIGHT / 2 }}
        isConnectable={isConnectable && isEntrance}
        className={isEntrance ? undefined : 'node-card-closed'}
      />
      <div className="node-card-head" title={`${title}: ${label}`}>
        {service === undefined ? <KindIcon type={kind} /> : <ServiceOfCard id={service} />}
        <span className="node-card-label">
          <span className="hidden-text">{title}: </span>
          {label}
        </span>
        <span className="node-card-line" title={line}>
          {isStartNode && <span className="node-card-start">start</span>}
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
      <Exits id={id} data={data} isConnectable={isConnectable} />
      {data.hasLostLinks && (
        <Handle
          type="source"
          position={Side.Right}
          id={LOST_HANDLE}
          style={{ top: HEAD_HEIGHT / 2 }}
          isConnectable={false}
          className="node-card-closed"
        />
      )}
      {(remark !== undefined || isAssisted) && <CardRemark remark={remark} isAssisted={isAssisted} />}
    </div>
  );
});

function Exits({ id, data, isConnectable }: { id: string; data: CardData; isConnectable: boolean }) {
  const { exits, freeExits, label: of } = data;
  const isNamed = hasRows(exits);
  return exits.map(({ handle, label }, at) => (
    <div key={handle ?? ''} className={isNamed ? 'node-card-exit' : undefined}>
      {isNamed && <span className="node-card-exit-label">{label}</span>}
      {isConnectable && freeExits.includes(handle) && (
        <AddBehind
          source={id}
          handle={handle}
          name={`Add node after ${of}${handle === null ? '' : `, ${label}`}`}
          top={exitTop(exits, at)}
        />
      )}
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

interface AddBehindProps {
  source: string;
  handle: string | null;
  name: string;
  top: number;
}

function ServiceOfCard({ id }: { id: string }) {
  return <ServiceIcon id={id} name={useServiceName(useProjectId(), id)} />;
}

/** The `+` beside an exit without links. */
function AddBehind({ source, handle, name, top }: AddBehindProps) {
  const store = useStore();
  const ask = use(AskContext);
  return (
    <button
      type="button"
      className="node-card-add nodrag nopan"
      aria-label={name}
      style={{ top }}
      onClick={(event) => {
        event.stopPropagation();
        const { right, top: y } = event.currentTarget.getBoundingClientRect();
        const add = (kind: NodeKind) => addBehind(store.drawing, store.kinds, kind, { source, handle });
        ask({ at: { x: right + 4, y }, add });
      }}
    >
      <span aria-hidden="true">+</span>
    </button>
  );
}

/** The frame around a loop's body. React Flow renders the wrapper, a group named `Body of <label>`. */
const LoopFrame = memo(function LoopFrame({ data, selected }: NodeProps<FrameNode>) {
  return (
    <div className="loop-frame" data-selected={selected || undefined}>
      <div className="loop-frame-title">
        <span className="loop-frame-label">Body of {data.label}</span>
      </div>
    </div>
  );
});

const NODE_TYPES = { card: NodeCard, frame: LoopFrame, note: NoteCard };
const EDGE_TYPES = { link: LinkEdge };

// An overview of the whole graph. React Flow's `MiniMap` subscribes to each node, which costs more than the graph
// itself for thousands of nodes; this paints all nodes on one canvas.

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
    // Panning only moves the frame of the visible area, so it repaints nothing.
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
    if (type !== 'card') context.strokeRect(box.left, box.top, box.width, box.height);
    else context.fillRect(box.left, box.top, Math.max(1, box.width), Math.max(1, box.height));
  }
}
