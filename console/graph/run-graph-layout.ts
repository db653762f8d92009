// Where the nodes of a drawing stand when a run is shown: as they were drawn, or laid out where nothing was drawn.
import { isObject, ownValue, type JsonObject } from '../../graph/json.js';
import { NO_BODIES, type Bodies } from './bodies.js';
import { layOut } from './lay-out.js';
import type { RunLinks } from './run-links.js';

export interface RunNodeView {
  id: string;
  label: string;
  /** The kind's word in drawings, such as `http-node`. */
  type: string;
  x: number;
  y: number;
}

export const NODE_WIDTH = 220;
export const NODE_HEIGHT = 64;
const GAPS = { nodesep: 32, ranksep: 80 };

export function layOutRun(drawing: JsonObject, links: RunLinks, bodies: Bodies = NO_BODIES): RunNodeView[] {
  const nodes = Array.isArray(drawing['nodes']) ? drawing['nodes'].filter(isObject) : [];
  const seen = new Set<string>();
  const unique = nodes.filter(({ id }) => typeof id === 'string' && !seen.has(id) && seen.add(id));
  const views = unique.map((node) => ({ ...describe(node), ...positionOf(node) }));
  const places = new Set(views.map(({ x, y }) => `${x} ${y}`));
  const isDrawn = views.every(({ x, y }) => x !== undefined && y !== undefined);
  // Programs that make drawings often leave every node where it began.
  if (isDrawn && (places.size > views.length / 2 || views.length === 1)) return views as RunNodeView[];
  return arrange(views, links, bodies);
}

/** The label of a node; its id where it has none. */
export function labelOf(node: JsonObject): string {
  const label = ownValue(node['data'], 'label');
  return typeof label === 'string' && label.trim() !== '' ? label : String(node['id']);
}

function describe(node: JsonObject): Pick<RunNodeView, 'id' | 'label' | 'type'> {
  return { id: node['id'] as string, label: labelOf(node), type: String(node['type']) };
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
