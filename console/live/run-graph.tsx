import {
  Background,
  BaseEdge,
  Controls,
  getBezierPath,
  Handle,
  MarkerType,
  Position,
  ReactFlow,
  type Edge,
  type EdgeProps,
  type Node,
  type NodeProps,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { createContext, use, useMemo } from 'react';
import { useTheme } from '../service/theme.js';
import { writtenStatus } from './node-status.js';
import { useIsWriting, useLinkState, useNodeEntry, useNodeStatus } from './run-cache.js';
import { classNames } from '../ui/class-names.js';
import { findBodies, NO_BODIES, type Bodies } from '../../graph/loop-bodies.js';
import { frameId, framesOf, frameZ, isBodyHandle } from '../drawing/bodies.js';
import { dataOf, nodesOf, typeOf, type NodeKinds } from '../drawing/drawing.js';
import { isObject, ownValue, type JsonObject } from '../../graph/json.js';
import { exitsOf } from '../drawing/links.js';
import { layOut } from '../drawing/lay-out.js';
import '../drawing/loop-frame.css';
import { OpeningView } from '../drawing/opening-view.js';
import './run-graph.css';
import { runHandleOf, runLabelOf, type RunLink, type RunLinks } from '../drawing/run-links.js';

interface RunGraphProps {
  runId: string;
  /** The drawing with which the run started. */
  drawing: JsonObject;
  links: RunLinks;
  kinds: NodeKinds;
  selected: string | undefined;
  /** The node that is in view at first if the whole drawing does not fit. */
  first: string | undefined;
  onSelect: (nodeId: string) => void;
}

const NODE_TYPES = { run: RunGraphNode, frame: RunFrame };
const EDGE_TYPES = { run: RunGraphEdge };
const FIT = { padding: 0.08, maxZoom: 1 };
const ARIA = { 'controls.ariaLabel': 'View of the graph' };
/** Larger drawings render only the nodes in view. */
const DRAWN_WHOLE = 600;

/** Read-only graph of a run. Each node reads its own status, so that a change renders that node only. */
export function RunGraph({ runId, drawing, links, kinds, selected, first, onSelect }: RunGraphProps) {
  const { nodes, edges } = useMemo(() => toFlow(drawing, links, kinds), [drawing, links, kinds]);
  const context = useMemo(() => ({ runId, selected, onSelect }), [runId, selected, onSelect]);
  return (
    <RunGraphContext value={context}>
      <ReactFlow
        className="run-graph"
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        onlyRenderVisibleElements={nodes.length > DRAWN_WHOLE}
        ariaLabelConfig={ARIA}
        colorMode={useTheme()}
        minZoom={0.02}
        maxZoom={1.5}
      >
        <Background />
        <Controls orientation="horizontal" showInteractive={false} fitViewOptions={FIT} />
        <OpeningView nodes={nodes} first={first ?? links.order[0]} />
      </ReactFlow>
    </RunGraphContext>
  );
}

function toFlow(drawing: JsonObject, links: RunLinks, kinds: NodeKinds) {
  const bodies = runBodies(drawing, links, kinds);
  const views = layOutRun(drawing, links, bodies);
  const places = new Map(views.map((view) => [view.id, view]));
  const labels = new Map(views.map(({ id, label }) => [id, label]));
  const words = exitWords(drawing, kinds);
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
  const edges = links.links.map((link): RunFlowEdge => {
    const { from, to, handle } = link;
    return {
      id: JSON.stringify([from, handle, to]),
      type: 'run',
      source: from,
      target: to,
      data: { link },
      ariaLabel: `${labels.get(from)} to ${labels.get(to)}`,
      markerEnd: { type: MarkerType.ArrowClosed },
      ...(handle === '' ? {} : { label: words.get(`${from} ${handle}`) ?? handle }),
    };
  });
  return { nodes: [...nodes, ...frames], edges };
}

/** Returns the words of the editor for the exits of all nodes, by node and handle. */
function exitWords(drawing: JsonObject, kinds: NodeKinds): ReadonlyMap<string, string> {
  return new Map(
    [...nodesOf(drawing).values()].flatMap((node) =>
      exitsOf(kinds.get(typeOf(node)), dataOf(node)).map(
        ({ handle, label }) => [`${node.id} ${runHandleOf(handle)}`, label] as const,
      ),
    ),
  );
}

type RunFlowNode = Node<{ label: string; kind: string }, 'run'>;

/** A node of the run: a group named `<label>, <status>` with a button that opens the details. */
function RunGraphNode({ id, data: { label, kind } }: NodeProps<RunFlowNode>) {
  const { runId, selected, onSelect } = use(RunGraphContext);
  const status = useNodeStatus(runId, id);
  const isWriting = useIsWriting(runId, id) && status === 'in progress';
  const tone = status.split(',')[0]!.replace(' ', '-');
  return (
    <div
      role="group"
      aria-label={`${label}, ${status}`}
      className={classNames(
        'run-node',
        `run-node-${tone}`,
        status.endsWith('reused') && 'run-node-reused',
        selected === id && 'run-node-selected',
      )}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button type="button" className="run-node-button" aria-pressed={selected === id} onClick={() => onSelect(id)}>
        <span className="run-node-label">{label}</span>
        <span className="run-node-foot">
          <span className="run-node-status">{writtenStatus(status)}</span>
          {isWriting ? (
            <span className="run-node-writing">writing</span>
          ) : (
            <span className="run-node-kind">{kind}</span>
          )}
        </span>
      </button>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

type RunFlowEdge = Edge<{ link: RunLink }, 'run'>;

/** A link: animated while its target is in progress or waits, faint if the run did not or will not follow the link. */
function RunGraphEdge({ id, data, label, markerEnd, ...ends }: EdgeProps<RunFlowEdge>) {
  const { runId } = use(RunGraphContext);
  const state = useLinkState(runId, data!.link);
  const [path, labelX, labelY] = getBezierPath(ends);
  return (
    <BaseEdge
      id={id}
      path={path}
      className={`run-edge run-edge-${state}`}
      {...{ label, labelX, labelY }}
      {...(markerEnd !== undefined && { markerEnd })}
    />
  );
}

type RunFrameNode = Node<{ label: string; loop: string }, 'frame'>;

/** The frame around a loop's body: a group named `Body of <label>`, with the number of ended iterations. */
function RunFrame({ data: { label, loop } }: NodeProps<RunFrameNode>) {
  const { runId } = use(RunGraphContext);
  // A nested loop has one entry per outer iteration, so its frame shows no counts.
  const counts = useNodeEntry(runId, loop)?.iterations;
  return (
    <div role="group" aria-label={`Body of ${label}`} className="loop-frame">
      <div className="loop-frame-title">
        <span className="loop-frame-label">Body of {label}</span>
        {counts !== undefined && (
          <span className="loop-frame-progress">
            {counts.succeeded + counts.failed} of {counts.total}
          </span>
        )}
      </div>
    </div>
  );
}

interface RunGraphContextValue {
  runId: string;
  /** The node whose details are shown. */
  selected: string | undefined;
  onSelect: (nodeId: string) => void;
}

/** A context, because React Flow renders the nodes and accepts no extra props for them. */
const RunGraphContext = createContext<RunGraphContextValue>({
  runId: '',
  selected: undefined,
  onSelect: () => undefined,
});

// Positions of nodes in the graph of a run: those of the drawing, or laid out if the drawing has no usable ones.

interface RunNodeView {
  id: string;
  label: string;
  /** The node's `type` in drawings, such as `http-node`. */
  type: string;
  x: number;
  y: number;
}

const NODE_WIDTH = 220;
const NODE_HEIGHT = 64;
const GAPS = { nodesep: 32, ranksep: 80 };

function layOutRun(drawing: JsonObject, links: RunLinks, bodies: Bodies = NO_BODIES): RunNodeView[] {
  const nodes = Array.isArray(drawing['nodes']) ? drawing['nodes'].filter(isObject) : [];
  const seen = new Set<string>();
  const unique = nodes.filter(({ id }) => typeof id === 'string' && !seen.has(id) && seen.add(id));
  const views = unique.map((node) => ({ ...describe(node), ...positionOf(node) }));
  const places = new Set(views.map(({ x, y }) => `${x} ${y}`));
  const isDrawn = views.every(({ x, y }) => x !== undefined && y !== undefined);
  // Programs that generate drawings often leave most nodes at the same position.
  if (isDrawn && (places.size > views.length / 2 || views.length === 1)) return views as RunNodeView[];
  return arrange(views, links, bodies);
}

function describe(node: JsonObject): Pick<RunNodeView, 'id' | 'label' | 'type'> {
  return { id: node['id'] as string, label: runLabelOf(node), type: String(node['type']) };
}

function positionOf(node: JsonObject): { x: number | undefined; y: number | undefined } {
  const [x, y] = [ownValue(node['position'], 'x'), ownValue(node['position'], 'y')];
  return Number.isFinite(x) && Number.isFinite(y) ? { x: x as number, y: y as number } : { x: undefined, y: undefined };
}

function arrange(
  views: readonly Pick<RunNodeView, 'id' | 'label' | 'type'>[],
  { links }: RunLinks,
  bodies: Bodies,
): RunNodeView[] {
  const sizes = new Map(views.map(({ id }) => [id, { width: NODE_WIDTH, height: NODE_HEIGHT }]));
  const ends = links.map(({ from, to }) => ({ source: from, target: to }));
  const places = layOut(sizes, ends, bodies, GAPS);
  return views.map(({ id, label, type }) => ({ id, label, type, ...places.get(id)! }));
}

/** Returns the loop bodies of a run's drawing; none until the kinds are loaded. */
function runBodies(drawing: JsonObject, { start, links, order }: RunLinks, kinds: NodeKinds): Bodies {
  const nodes = Array.isArray(drawing['nodes']) ? drawing['nodes'].filter(isObject) : [];
  const types = new Map(nodes.map(({ id, type }) => [id, type]));
  const ends = links.map(({ from, to, handle }) => ({
    source: from,
    target: to,
    isIntoBody: isBodyHandle(kinds.get(String(types.get(from))), handle),
  }));
  return findBodies(order, start, ends);
}
