// Gives new nodes a place in the drawing at which they overlap neither nodes nor notes. The sizes are those of the
// cards of the console.
import { isObject, ownValue, type JsonObject } from '../json.js';
import { findBodies, FRAME_PADDING, FRAME_TITLE, loopsAround, type Bodies } from '../loop-bodies.js';
import { exitNamesOf, ORDINARY_EXIT } from './node-links.js';
import { kindOfType } from '../nodes/registry.js';
import { pushTo } from '../push-to.js';

interface Box {
  /** The id of the node; undefined for notes and frames. */
  id?: string;
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
  /** True if the link leads from a loop into its body. */
  isIntoBody: boolean;
}

/** The parts of a drawing that decide about places. */
interface Placing {
  nodes: ReadonlyMap<string, JsonObject>;
  start: string | undefined;
  links: readonly Ends[];
  notes: unknown;
}

/**
 * Returns the upper left corner of each new node: to the right of the placed nodes that lead to it, or, if there are
 * none, at the left edge below everything. Existing nodes stay where they are. No new node makes the frame of a loop's
 * body hold a node or note that is not in the body, unless `MOST_MOVES` moves find no place without that.
 */
export function placeNodes(
  { nodes, start, links, notes }: Placing,
  added: ReadonlySet<string>,
): Map<string, { x: number; y: number }> {
  const placed = new Map([...nodes].filter(([id]) => !added.has(id)).map(([id, node]) => [id, boxOf(node, id)]));
  const taken = new Columns([...placed.values(), ...boxesOfNotes(notes)]);
  const ends = links.map(({ from: source, to: target, isIntoBody }) => ({ source, target, isIntoBody }));
  const bodies = findBodies([...nodes.keys()], start, ends);
  const frames = new Frames(bodies, placed, taken);
  const sources = new Map<string, string[]>();
  for (const { from, to } of links) {
    if (added.has(to) && nodes.has(from)) pushTo(sources, to, from);
  }
  const places = new Map<string, { x: number; y: number }>();
  const put = (id: string, ...wanted: { x: number; y: number }[]): void => {
    const boxes = wanted.map((place) => ({ ...place, ...sizeOf(nodes.get(id)!), id }));
    const box = taken.take(boxes, (at) => frames.below(id, at));
    placed.set(id, box);
    frames.add(id, box);
    places.set(id, { x: box.x, y: box.y });
  };
  for (const id of inOrder(added, links, (one) => loopsAround(bodies, one).length)) {
    const before = sources.get(id)?.filter((source) => placed.has(source)) ?? [];
    const [first] = before;
    if (first === undefined) {
      put(id, { x: taken.left, y: taken.isEmpty ? 0 : taken.bottom + GAP_Y });
      continue;
    }
    // The first nodes of a body stand below the title of its frame.
    const inset =
      bodies.loopOf.get(id) === first ? { x: FRAME_PADDING, y: FRAME_TITLE + FRAME_PADDING } : { x: 0, y: 0 };
    const edges = before.map((source) => frames.rightOf(source, id) ?? rightOf(placed.get(source)!));
    // Arguments of a call (`Math.max(...edges)`) would exceed the stack, as any number of nodes may lead to this one.
    const right = edges.reduce((most, edge) => Math.max(most, edge), -Infinity);
    const { x, y } = placed.get(first)!;
    const beside = { x: right + GAP_X + inset.x, y: y + inset.y };
    // In a body that has no room on the right, there may be room below the preceding node.
    if (bodies.loopOf.has(id) && bodies.loopOf.get(id) === bodies.loopOf.get(first)) put(id, beside, { x, y });
    else put(id, beside);
  }
  return places;
}

/**
 * Returns the new nodes in an order in which each comes after those that lead to it, and the nodes in the body of a
 * loop come before those that follow the loop. The nodes of a cycle, and those after them, come last.
 */
function inOrder(added: ReadonlySet<string>, links: readonly Ends[], depthOf: (id: string) => number): string[] {
  const waits = new Map([...added].map((id) => [id, 0]));
  const next = new Map<string, string[]>();
  for (const { from, to } of links) {
    if (!added.has(from) || !added.has(to)) continue;
    waits.set(to, waits.get(to)! + 1);
    pushTo(next, from, to);
  }
  const depths = new Map([...added].map((id) => [id, depthOf(id)]));
  const ready = [...added].filter((id) => waits.get(id) === 0);
  const order: string[] = [];
  while (ready.length > 0) {
    const deepest = Math.max(...ready.map((id) => depths.get(id)!));
    const [id] = ready.splice(
      ready.findIndex((each) => depths.get(each) === deepest),
      1,
    );
    order.push(id!);
    for (const to of next.get(id!) ?? []) {
      waits.set(to, waits.get(to)! - 1);
      if (waits.get(to) === 0) ready.push(to);
    }
  }
  return [...new Set([...order, ...added])];
}

/** The frames around the bodies of loops, which grow with the nodes that are placed in them. */
class Frames {
  readonly #bodies: Bodies;
  readonly #frames = new Map<string, Box>();
  readonly #taken: Columns;

  constructor(bodies: Bodies, placed: ReadonlyMap<string, Box>, taken: Columns) {
    this.#bodies = bodies;
    this.#taken = taken;
    for (const id of bodies.loopOf.keys()) {
      const box = placed.get(id);
      if (box !== undefined) this.add(id, box);
    }
  }

  add(id: string, box: Box): void {
    for (const [loop, frame] of this.#grown(id, box)) this.#frames.set(loop, frame);
  }

  /** Returns the right edge of a loop's frame; undefined if the loop has none, or if the node `id` is in its body. */
  rightOf(loop: string, id: string): number | undefined {
    const frame = this.#frames.get(loop);
    return frame === undefined || loopsAround(this.#bodies, id).includes(loop) ? undefined : rightOf(frame);
  }

  /**
   * Returns the `y` to which the box must move down so that no frame holds a node or note that is not in its body;
   * undefined if the box can stay.
   */
  below(id: string, box: Box): number | undefined {
    if (this.#frames.size === 0 && !this.#bodies.loopOf.has(id)) return undefined;
    const own = new Set(loopsAround(this.#bodies, id));
    for (const [loop, frame] of this.#frames) {
      if (!own.has(loop) && overlaps(frame, box)) return frame.y + frame.height + GAP_Y;
    }
    for (const [loop, frame] of this.#grown(id, box)) {
      const before = this.#frames.get(loop);
      const hit = this.#taken.within(frame).find((other) => {
        const isInside = other.id !== undefined && loopsAround(this.#bodies, other.id).includes(loop);
        // A box that already overlaps the frame may stay there.
        return !isInside && overlaps(frame, other) && (before === undefined || !overlaps(before, other));
      });
      if (hit !== undefined) return hit.y + hit.height + GAP_Y + Math.max(0, box.y - frame.y);
    }
    return undefined;
  }

  /** Returns the frames around the node, grown to include its box, innermost first. */
  #grown(id: string, box: Box): [loop: string, frame: Box][] {
    let inner = box;
    return loopsAround(this.#bodies, id).map((loop) => {
      const frame = {
        x: inner.x - FRAME_PADDING,
        y: inner.y - FRAME_PADDING - FRAME_TITLE,
        width: inner.width + 2 * FRAME_PADDING,
        height: inner.height + 2 * FRAME_PADDING + FRAME_TITLE,
      };
      const before = this.#frames.get(loop);
      inner = before === undefined ? frame : union(before, frame);
      return [loop, inner];
    });
  }
}

function union(one: Box, other: Box): Box {
  const [x, y] = [Math.min(one.x, other.x), Math.min(one.y, other.y)];
  const right = Math.max(rightOf(one), rightOf(other));
  const bottom = Math.max(one.y + one.height, other.y + other.height);
  return { x, y, width: right - x, height: bottom - y };
}

function overlaps(one: Box, other: Box): boolean {
  return (
    one.x < rightOf(other) && other.x < rightOf(one) && one.y < other.y + other.height && other.y < one.y + one.height
  );
}

function rightOf({ x, width }: Box): number {
  return x + width;
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

  /**
   * Takes a place for one of the wanted boxes, and returns the box at this place. Each box in turn moves down until it
   * overlaps no taken box and `below` moves it no further, with at most `MOST_MOVES` moves. If no box finds such a
   * place, the first one moves down only until it overlaps no taken box.
   */
  take(wanted: readonly Box[], below: (box: Box) => number | undefined): Box {
    for (const each of wanted) {
      let box = this.#free(each);
      for (let moves = 0; moves < MOST_MOVES; moves += 1) {
        const y = below(box);
        if (y === undefined) return this.#add(box);
        box = this.#free({ ...each, y });
      }
    }
    return this.#add(this.#free(wanted[0]!));
  }

  /** Returns the boxes of the columns that the area touches. */
  within(area: Box): Box[] {
    return [...new Set(columnsOf(area).flatMap((column) => this.#columns.get(column) ?? []))];
  }

  #free(wanted: Box): Box {
    const others = new Set(columnsOf(wanted).flatMap((column) => this.#columns.get(column) ?? []));
    const beside = [...others]
      .filter(({ x, width }) => x < wanted.x + wanted.width + GAP_Y && wanted.x < x + width + GAP_Y)
      .toSorted((one, other) => one.y - other.y);
    let { y } = wanted;
    // The boxes are sorted by their upper edges, so a box that was passed is never met again.
    for (const box of beside) {
      if (box.y < y + wanted.height + GAP_Y && y < box.y + box.height + GAP_Y) y = box.y + box.height + GAP_Y;
    }
    return { ...wanted, y };
  }

  #add(box: Box): Box {
    this.left = this.isEmpty ? box.x : Math.min(this.left, box.x);
    this.bottom = this.isEmpty ? box.y + box.height : Math.max(this.bottom, box.y + box.height);
    this.isEmpty = false;
    for (const column of columnsOf(box)) {
      const boxes = this.#columns.get(column);
      if (boxes === undefined) this.#columns.set(column, [box]);
      else boxes.push(box);
    }
    return box;
  }
}

/** The limit on the moves of a box, for a frame that existing nodes surround. */
const MOST_MOVES = 8;

/** A bound for boxes of hostile widths, which would be listed in any number of columns. */
const MOST_COLUMNS = 100;

function columnsOf({ x, width }: Box): number[] {
  const from = Math.floor((x - GAP_Y) / WIDTH);
  const to = Math.floor((x + width + GAP_Y) / WIDTH);
  return Array.from({ length: Math.min(to - from + 1, MOST_COLUMNS) }, (_, index) => from + index);
}

function boxOf(node: JsonObject, id: string): Box {
  return { ...positionOf(node), ...sizeOf(node), id };
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
