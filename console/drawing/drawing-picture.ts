// Computes positions and links for the picture of a drawing. Drawings may be untrusted, so they may have any shape.

export interface PictureNode {
  id: string;
  label: string;
  x: number;
  y: number;
}

export interface PictureLink {
  from: PictureNode;
  to: PictureNode;
  /** Branch such as `true`, or the label or id of a case; empty for an ordinary link. */
  branch: string;
}

interface Picture {
  nodes: PictureNode[];
  links: PictureLink[];
  width: number;
  height: number;
}

export const NODE_WIDTH = 184;
export const NODE_HEIGHT = 52;
const MARGIN = 16;
const GAP_X = 72;
const GAP_Y = 28;
/** Larger drawings were not made by hand, so they are laid out again. */
const MOST_PIXELS = 40_000;

type Data = Record<string, unknown>;
interface Link {
  from: string;
  to: string;
  branch: string;
}

/** Returns an empty picture if the value is not a drawing. */
export function toPicture(drawing: unknown): Picture {
  const listed = isData(drawing) && Array.isArray(drawing['nodes']) ? drawing['nodes'] : [];
  const byId = new Map<string, Data>();
  for (const node of listed) if (isData(node) && typeof node['id'] === 'string') byId.set(node['id'], node);
  const links = linksOf(byId, isData(drawing) ? drawing['edges'] : undefined);
  const places = placesOf(byId) ?? layersOf([...byId.keys()], links);
  const nodes = new Map<string, PictureNode>();
  for (const [id, node] of byId) nodes.set(id, { id, label: labelOf(node), ...places.get(id)! });
  return {
    nodes: [...nodes.values()],
    links: links.map(({ from, to, branch }) => ({ from: nodes.get(from)!, to: nodes.get(to)!, branch })),
    width: greatest(nodes, 'x') + NODE_WIDTH + MARGIN,
    height: greatest(nodes, 'y') + NODE_HEIGHT + MARGIN,
  };
}

function greatest(nodes: ReadonlyMap<string, PictureNode>, axis: 'x' | 'y'): number {
  let most = 0;
  for (const node of nodes.values()) most = Math.max(most, node[axis]);
  return most;
}

function labelOf({ id, type, data }: Data): string {
  const label = isData(data) ? textOf(data['label']) || textOf(data['name']) : '';
  return label || textOf(type) || textOf(id);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

/** Returns the links in the nodes' data, which run, and those that are only drawn. */
function linksOf(byId: ReadonlyMap<string, Data>, edges: unknown): Link[] {
  const links = new Map<string, Link>();
  const add = (from: unknown, to: unknown, branch: string): void => {
    if (typeof from !== 'string' || typeof to !== 'string' || !byId.has(from) || !byId.has(to)) return;
    const key = JSON.stringify([from, to, branch]);
    if (!links.has(key)) links.set(key, { from, to, branch });
  };
  for (const [id, { data }] of byId) if (isData(data)) for (const [to, branch] of targetsOf(data)) add(id, to, branch);
  const drawn = Array.isArray(edges) ? edges.filter(isData) : [];
  for (const { source, target, sourceHandle } of drawn) {
    const data = typeof source === 'string' ? byId.get(source)?.['data'] : undefined;
    add(source, target, (isData(data) && nameOfItem(data, sourceHandle)) || branchOf(sourceHandle));
  }
  return [...links.values()];
}

/** Returns the name of the item, such as a case, to whose exit a link is drawn; undefined for other exits. */
function nameOfItem(data: Data, handle: unknown): string | undefined {
  if (typeof handle !== 'string') return undefined;
  const items = Object.values(data).flatMap((value) => (Array.isArray(value) ? value : []));
  const item: unknown = items.find((each) => isData(each) && each['id'] === handle);
  return isData(item) ? nameOf(item) : undefined;
}

function nameOf(item: Data): string {
  return textOf(item['label']) || textOf(item['id']);
}

/**
 * Yields the targets in `next_nodes`, in fields such as `true_node`, and in lists such as `cases`, whose
 * items have a `node`.
 */
function* targetsOf(data: Data): Generator<[unknown, string]> {
  for (const [field, value] of Object.entries(data)) {
    if (field === 'next_nodes' && Array.isArray(value)) for (const to of value) yield [to, ''];
    else if (field.endsWith('_node')) yield [value, field.slice(0, -'_node'.length)];
    else if (Array.isArray(value)) {
      for (const item of value) if (isData(item)) yield [item['node'], nameOf(item)];
    }
  }
}

/** Returns the branch of a handle: `true` for `condition-true`. */
function branchOf(handle: unknown): string {
  return typeof handle === 'string' && !/^(?:out|output|source)/.test(handle) ? handle.replace(/^condition-/, '') : '';
}

type Places = Map<string, { x: number; y: number }>;

/** Returns the drawn positions. Returns undefined if they are unusable: missing, overlapping, or very far apart. */
function placesOf(byId: ReadonlyMap<string, Data>): Places | undefined {
  const places: Places = new Map();
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [id, { position }] of byId) {
    const { x, y } = isData(position) ? position : {};
    if (typeof x !== 'number' || typeof y !== 'number' || !Number.isFinite(x) || !Number.isFinite(y)) return undefined;
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
    places.set(id, { x, y });
  }
  if (right - left > MOST_PIXELS || bottom - top > MOST_PIXELS || covers(places)) return undefined;
  for (const place of places.values()) {
    place.x += MARGIN - left;
    place.y += MARGIN - top;
  }
  return places;
}

/** True if nodes overlap: two are in the same cell of half a node's size. */
function covers(places: Places): boolean {
  const cells = new Set<string>();
  for (const { x, y } of places.values()) {
    cells.add(`${Math.round((2 * x) / NODE_WIDTH)} ${Math.round((2 * y) / NODE_HEIGHT)}`);
  }
  return cells.size < places.size;
}

/** Places nodes in columns by their shortest distance from the nodes without incoming links. */
function layersOf(ids: readonly string[], links: readonly Link[]): Places {
  const next = new Map<string, string[]>(ids.map((id) => [id, []]));
  const isEntered = new Set<string>();
  for (const { from, to } of links) {
    next.get(from)?.push(to);
    isEntered.add(to);
  }
  const places: Places = new Map();
  const rows: number[] = [];
  const visit = (roots: readonly string[]): void => {
    let layer = roots.filter((id) => !places.has(id));
    for (let column = 0; layer.length > 0; column += 1) {
      for (const id of layer) {
        const row = (rows[column] = (rows[column] ?? -1) + 1);
        places.set(id, { x: MARGIN + column * (NODE_WIDTH + GAP_X), y: MARGIN + row * (NODE_HEIGHT + GAP_Y) });
      }
      layer = [...new Set(layer.flatMap((id) => next.get(id) ?? []))].filter((id) => !places.has(id));
    }
  };
  visit(ids.filter((id) => !isEntered.has(id)));
  // The remaining nodes are in cycles, or come after one.
  for (const id of ids) visit([id]);
  return places;
}

function isData(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
