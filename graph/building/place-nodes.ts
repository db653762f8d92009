// Gives new nodes a place in the drawing at which they overlap neither nodes nor notes. The sizes are those of the
// cards of the console.
import { isObject, ownValue, type JsonObject } from '../json.js';
import { exitNamesOf, ORDINARY_EXIT } from './node-links.js';
import { kindOfType } from '../nodes/registry.js';

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const WIDTH = 220;
const HEAD = 64;
const EXIT = 24;
const NOTE = { width: 240, height: 160 };
const GAP_X = 72;
const GAP_Y = 40;

/** A link between nodes, by their ids. */
interface Ends {
  from: string;
  to: string;
}

/**
 * Returns the upper left corner of each new node: to the right of a node that leads to it, else to the left of one that
 * it leads to, else below everything. Existing nodes stay where they are.
 */
export function placeNodes(
  nodes: ReadonlyMap<string, JsonObject>,
  added: ReadonlySet<string>,
  links: readonly Ends[],
  notes: unknown,
): Map<string, { x: number; y: number }> {
  const placed = new Map([...nodes].filter(([id]) => !added.has(id)).map(([id, node]) => [id, boxOf(node)]));
  const taken = new Columns([...placed.values(), ...boxesOfNotes(notes)]);
  const sources = new Map<string, string[]>();
  for (const { from, to } of links) {
    if (added.has(to) && nodes.has(from)) sources.set(to, [...(sources.get(to) ?? []), from]);
  }
  const places = new Map<string, { x: number; y: number }>();
  const put = (id: string, wanted: { x: number; y: number }): void => {
    const box = taken.take({ ...wanted, ...sizeOf(nodes.get(id)!) });
    placed.set(id, box);
    places.set(id, { x: box.x, y: box.y });
  };
  for (const id of inOrder(added, links)) {
    const before = sources.get(id)?.map((source) => placed.get(source)) ?? [];
    const known = before.filter((box) => box !== undefined);
    const [first] = known;
    if (first === undefined) put(id, { x: taken.left, y: taken.isEmpty ? 0 : taken.bottom + GAP_Y });
    else put(id, { x: Math.max(...known.map(({ x, width }) => x + width)) + GAP_X, y: first.y });
  }
  return places;
}

/** Returns the new nodes so that each comes behind those that lead to it; the nodes of a circle come last. */
function inOrder(added: ReadonlySet<string>, links: readonly Ends[]): string[] {
  const waits = new Map([...added].map((id) => [id, 0]));
  const next = new Map<string, string[]>();
  for (const { from, to } of links) {
    if (!added.has(from) || !added.has(to)) continue;
    waits.set(to, waits.get(to)! + 1);
    next.set(from, [...(next.get(from) ?? []), to]);
  }
  const order = [...added].filter((id) => waits.get(id) === 0);
  for (const id of order) {
    for (const to of next.get(id) ?? []) {
      waits.set(to, waits.get(to)! - 1);
      if (waits.get(to) === 0) order.push(to);
    }
  }
  return [...new Set([...order, ...added])];
}

/** The boxes that are taken, in columns as wide as a card: a box is listed in each column that it touches. */
class Columns {
  readonly #columns = new Map<number, Box[]>();
  left = 0;
  bottom = 0;
  isEmpty = true;

  constructor(boxes: readonly Box[]) {
    for (const box of boxes) this.#add(box);
  }

  /** Moves the box down until it overlaps no other, and takes that place. */
  take(wanted: Box): Box {
    const others = new Set(columnsOf(wanted).flatMap((column) => this.#columns.get(column) ?? []));
    const beside = [...others]
      .filter(({ x, width }) => x < wanted.x + wanted.width + GAP_Y && wanted.x < x + width + GAP_Y)
      .toSorted((one, other) => one.y - other.y);
    let { y } = wanted;
    // The boxes are sorted by their upper edges, so a box that was passed is never met again.
    for (const box of beside) {
      if (box.y < y + wanted.height + GAP_Y && y < box.y + box.height + GAP_Y) y = box.y + box.height + GAP_Y;
    }
    const box = { ...wanted, y };
    this.#add(box);
    return box;
  }

  #add(box: Box): void {
    this.left = this.isEmpty ? box.x : Math.min(this.left, box.x);
    this.bottom = this.isEmpty ? box.y + box.height : Math.max(this.bottom, box.y + box.height);
    this.isEmpty = false;
    for (const column of columnsOf(box)) {
      const boxes = this.#columns.get(column);
      if (boxes === undefined) this.#columns.set(column, [box]);
      else boxes.push(box);
    }
  }
}

/** A bound for boxes of hostile widths, which would be listed in any number of columns. */
const MOST_COLUMNS = 100;

function columnsOf({ x, width }: Box): number[] {
  const from = Math.floor((x - GAP_Y) / WIDTH);
  const to = Math.floor((x + width + GAP_Y) / WIDTH);
  return Array.from({ length: Math.min(to - from + 1, MOST_COLUMNS) }, (_, index) => from + index);
}

function boxOf(node: JsonObject): Box {
  return { ...positionOf(node), ...sizeOf(node) };
}

/** Editors store the size of a node after they have shown it. */
function sizeOf(node: JsonObject): { width: number; height: number } {
  const measured = ownValue(node, 'measured');
  const data = isObject(node['data']) ? node['data'] : {};
  const exits = exitNamesOf(kindOfType(typeof node['type'] === 'string' ? node['type'] : ''), data);
  const rows = exits.some((exit) => exit !== ORDINARY_EXIT) ? exits.length * EXIT + 8 : 0;
  return {
    width: lengthOf(ownValue(measured, 'width') ?? node['width'], WIDTH),
    height: lengthOf(ownValue(measured, 'height') ?? node['height'], HEAD + rows),
  };
}

function boxesOfNotes(notes: unknown): Box[] {
  if (!Array.isArray(notes)) return [];
  return notes.filter(isObject).map((note) => ({
    ...positionOf(note),
    width: lengthOf(note['width'], NOTE.width),
    height: lengthOf(note['height'], NOTE.height),
  }));
}

const FAR = 1e7;

function positionOf({ position }: JsonObject): { x: number; y: number } {
  const coordinate = (value: unknown): number =>
    typeof value === 'number' && Number.isFinite(value) ? Math.max(-FAR, Math.min(FAR, value)) : 0;
  return { x: coordinate(ownValue(position, 'x')), y: coordinate(ownValue(position, 'y')) };
}

function lengthOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' && value > 0 && value < FAR ? Math.max(value, otherwise) : otherwise;
}
