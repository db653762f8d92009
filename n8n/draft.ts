// Builds a drawing: collects nodes and links, and finally writes the links into the nodes' data.
import { isObject, setOwn, type JsonObject } from '../graph/json.js';
import { traitsOf, type NodeKind } from '../graph/kinds.js';
import { nodeDefinitions } from '../graph/nodes/registry.js';
import { MAX_NOTE_CHARACTERS } from '../graph/notes.js';
import { pushTo } from '../graph/push-to.js';
import { spread, type Spot } from './spread.js';
import { widen } from './widen.js';
import { groupBy, shortened, numberOf, textOf, type N8nNode } from './n8n-file.js';

export interface Source {
  id: string;
  /** The `sourceHandle` of its edges; null for the ordinary links. */
  handle: string | null;
}

export interface DraftNode {
  id: string;
  kind: NodeKind;
  data: JsonObject;
  spot: Spot;
}

interface DraftLink {
  source: Source;
  target: string;
}

const PLAIN_ID = /^(?!input)[A-Za-z0-9_-]{1,120}$/;

export class Draft {
  readonly #nodes = new Map<string, DraftNode>();
  readonly #links = new Map<string, DraftLink>();
  readonly #ids = new Set<string>();

  get nodeCount(): number {
    return this.#nodes.size;
  }

  /** Returns an unused id: the wanted one if it is unused and matches `PLAIN_ID`, so that variables can name it. */
  newId(wanted: unknown): string {
    const base = typeof wanted === 'string' && PLAIN_ID.test(wanted) ? wanted : `node-${this.#ids.size + 1}`;
    let id = base;
    for (let number = 2; this.#ids.has(id); number += 1) id = `${base}-${number}`;
    this.#ids.add(id);
    return id;
  }

  add(node: DraftNode): void {
    this.#nodes.set(node.id, node);
  }

  change(id: string, changes: JsonObject): void {
    const node = this.#nodes.get(id);
    if (node !== undefined) node.data = { ...node.data, ...changes };
  }

  link(source: Source, target: string): void {
    this.#links.set(JSON.stringify([source.id, source.handle, target]), { source, target });
  }

  toDrawing(startNode: string, rest: JsonObject): JsonObject {
    const links = [...this.#links.values()].filter(
      ({ source, target }) => this.#nodes.has(source.id) && this.#nodes.has(target),
    );
    const targets = groupBy(links, ({ source }) => source.id);
    const { spots, notes } = this.#layOut(rest, links);
    const nodes = [...this.#nodes.values()].map(({ id, kind, data, spot }) => ({
      id,
      type: nodeDefinitions[kind].type,
      position: spots.get(id) ?? spot,
      data: withLinks(kind, { id, ...data }, targets.get(id) ?? []),
    }));
    const edges = links.map(({ source: { id, handle }, target }) => ({
      id: `${id}-${handle ?? 'out'}-${target}`,
      source: id,
      target,
      ...(handle !== null && { sourceHandle: handle }),
    }));
    return { nodes, edges, viewport: { x: 0, y: 0, zoom: 1 }, start_node: startNode, ...rest, ...notes };
  }

  /**
   * Computes the positions of all nodes and notes. Added nodes that are linked one after another get columns of their
   * own; other added nodes get free places above or below.
   */
  #layOut({ notes }: JsonObject, links: readonly DraftLink[]): { spots: Map<string, Spot>; notes: JsonObject } {
    const nodes = [...this.#nodes.values()];
    const added = new Map<DraftNode, string[]>();
    for (const { id } of nodes) {
      const owner = this.#ownerOf(id);
      if (owner !== undefined) pushTo(added, owner, id);
    }
    const targets = groupBy(links, ({ source }) => source.id);
    const groups = [...added].map(([owner, ids]) => ({ owner, added: ids }));
    const { spots, moved } = widen(groups, (id) => (targets.get(id) ?? []).map(({ target }) => target));
    for (const { id, spot } of nodes) if (!spots.has(id)) spots.set(id, moved(spot));
    const given = (Array.isArray(notes) ? notes : []).filter(isObject);
    const movedNotes = given.map((note) => ({ ...note, position: moved(note['position'] as Spot) }));
    const marks = movedNotes.filter((note) => (note as JsonObject)['left_out'] === true);
    const isAdded = new Set([...added.values()].flat());
    const fixed = nodes.filter(({ id }) => !isAdded.has(id)).map(({ id }) => spots.get(id)!);
    const free = [...isAdded].map((id) => ({ id, spot: spots.get(id)! }));
    for (const [id, spot] of spread([...fixed, ...marks.map(({ position }) => position)], free)) spots.set(id, spot);
    return { spots, notes: movedNotes.length === 0 ? {} : { notes: movedNotes } };
  }

  /**
   * Returns the node of the file for which this node was added, or undefined if there is none. The id and the label of
   * an added node are derived from those of the node of the file (`NodeTranslation.add`).
   */
  #ownerOf(id: string): DraftNode | undefined {
    const label = String(this.#nodes.get(id)?.data['label']);
    for (let end = id.lastIndexOf('-'); end > 0; end = id.lastIndexOf('-', end - 1)) {
      const owner = this.#nodes.get(id.slice(0, end));
      if (owner !== undefined && label.startsWith(`${String(owner.data['label'])} (`)) return owner;
    }
    return undefined;
  }
}

function withLinks(kind: NodeKind, data: JsonObject, links: readonly DraftLink[]): JsonObject {
  const { handles, handlesFrom, isLeftByNext = false } = traitsOf(kind);
  const byHandle = new Map(
    [...groupBy(links, ({ source }) => source.handle)].map(([handle, group]) => [
      handle,
      group.map(({ target }) => target),
    ]),
  );
  const linked: JsonObject = { ...data };
  if (handles.length === 0 || isLeftByNext) linked['next_nodes'] = byHandle.get(null) ?? [];
  for (const { field, edge } of handles) linked[field] = oneOrMore(byHandle.get(edge));
  if (handlesFrom !== undefined) linked[handlesFrom] = listed(data[handlesFrom], byHandle);
  const onError = byHandle.get('error');
  if (onError !== undefined) linked['error_node'] = oneOrMore(onError);
  return linked;
}

function listed(items: unknown, byHandle: ReadonlyMap<string | null, string[]>): unknown {
  if (!Array.isArray(items)) return items;
  return items.map((item: unknown) =>
    isObject(item) ? { ...item, node: oneOrMore(byHandle.get(String(item['id']))) } : item,
  );
}

function oneOrMore(targets: string[] | undefined): string | string[] | null {
  if (targets === undefined) return null;
  return targets.length === 1 ? targets[0]! : targets;
}

/** Builds an object of these entries. A key such as `__proto__` becomes an ordinary field. */
export function fromEntries(entries: Iterable<readonly [string, unknown]>): JsonObject {
  const made: JsonObject = {};
  for (const [key, value] of entries) setOwn(made, key, value);
  return made;
}

// Positions stay as in the file, at a scale that leaves room for wider cards.

const SCALE_X = 1.3;
const STEP = 10;

/** Returns a function for the position of each node. The leftmost and the topmost node are at 0. */
export function createSpots(nodes: readonly N8nNode[]): (node: N8nNode) => Spot {
  const left = nodes.reduce((least, { x }) => Math.min(least, x), Infinity);
  const top = nodes.reduce((least, { y }) => Math.min(least, y), Infinity);
  return ({ x, y }) => ({ x: rounded((x - left) * SCALE_X), y: rounded(y - top) });
}

function rounded(value: number): number {
  return Math.round(value / STEP) * STEP;
}

// Below: notes in the drawing, for n8n's sticky notes and for each omitted node.

const DEFAULT_WIDTH = 240;
const DEFAULT_HEIGHT = 160;
/** Smaller than the usual distances between nodes of a file, so that the note covers none of them. */
const LEFT_OUT_WIDTH = 240;
const LEFT_OUT_HEIGHT = 110;

/** `content` is Markdown, which this service shows as plain text. */
export function stickyNote({ parameters }: N8nNode, id: string, spot: Spot): JsonObject {
  return {
    id,
    text: shortened(textOf(parameters['content']) ?? '', MAX_NOTE_CHARACTERS - 3),
    position: spot,
    width: numberOf(parameters['width']) ?? DEFAULT_WIDTH,
    height: numberOf(parameters['height']) ?? DEFAULT_HEIGHT,
  };
}

/**
 * `left_out` lets the editor show the note as a mark in place of the node. The note doesn't contain the node's
 * parameters, because these may hold credentials.
 */
export function leftOutNote(node: N8nNode, reason: string, id: string, spot: Spot): JsonObject {
  const text = `${node.label} (${shortened(node.type, 200)}): ${reason}`;
  return { id, text, position: spot, width: LEFT_OUT_WIDTH, height: LEFT_OUT_HEIGHT, left_out: true };
}
