// Maps n8n's items to results of a drawing. Each node of n8n outputs items, whose `json` the next nodes read; a node of
// a drawing has a result with fields of its own.
import { isObject, ownValue, setOwn, type JsonObject } from '../graph/json.js';
import type { PathPart } from '../graph/variable.js';

/** The value at `path` of an item's `json`, and the variable that names it here (without braces). */
interface Reading {
  path: readonly PathPart[];
  variable: string;
}

/** The `json` of the items that a node outputs. */
export interface JsonPlace {
  /** The readable parts. The path `[]` is the whole. */
  readings: readonly Reading[];
  /**
   * A variable that stands for the whole instead of a reading. Its value is a text, which `itemOf` (`runtime/core.ts`)
   * reads as JSON, or else as an item with the text in the field `data`.
   */
  text?: string;
  /** A variable that is empty unless the node has run. */
  ran: string;
  /** Rises from a node to its successors. */
  order: number;
  /**
   * The number of items that n8n outputs, one by default. The value of several items is the list of their `json`. If
   * the number is known only at run time, a single item is the value itself.
   */
  items?: 'several' | 'unknown';
  /** True if n8n always outputs exactly one item here, and only the data of the item cannot be read. */
  isOneUnread?: true;
  /** Places with the same row have items that belong together, position by position. */
  row?: string;
  /** The reason why nothing else can be read. */
  gap?: string;
}

export function wholePlace(variable: string, ran: string, order: number): JsonPlace {
  return { readings: [{ path: [], variable }], ran, order };
}

export function emptyPlace(gap: string, order: number): JsonPlace {
  return { readings: [], ran: '', order, gap };
}

/** Returns JSON with variables for the value at `path` of a place, or undefined if no variable names it. */
export function templateAt({ readings, text }: JsonPlace, path: readonly PathPart[]): unknown {
  if (text !== undefined && path.length === 0) return inBraces(text);
  const reading = readings.find((candidate) => startsWith(path, candidate.path));
  if (reading !== undefined) return inBraces(writeVariable(reading.variable, path.slice(reading.path.length)));
  const below = readings.filter((candidate) => startsWith(candidate.path, path));
  if (below.length === 0) return undefined;
  const made: JsonObject = {};
  for (const { path: full, variable } of below) setAt(made, full.slice(path.length), `{{ ${variable} }}`);
  return made;
}

/** Sets the value at a path of at least one step. Replaces values on the way that are not objects. */
export function setAt(target: JsonObject, path: readonly PathPart[], value: unknown): void {
  let at = target;
  for (const step of path.slice(0, -1)) {
    const next = ownValue(at, step);
    const holder = isObject(next) ? next : {};
    setOwn(at, String(step), holder);
    at = holder;
  }
  setOwn(at, String(path.at(-1)), value);
}

function startsWith(path: readonly PathPart[], start: readonly PathPart[]): boolean {
  return start.length <= path.length && start.every((name, index) => name === path[index]);
}

function inBraces(variable: string | undefined): string | undefined {
  return variable === undefined ? undefined : `{{ ${variable} }}`;
}

const PLAIN_NAME = /^[A-Za-z_$][\w$]*$/;
/** `graph/variable.ts` doesn't read longer variables. */
const MAX_VARIABLE = 1000;

/** Returns the variable with the path appended, or undefined if the path cannot be written in a variable. */
function writeVariable(root: string, path: readonly PathPart[]): string | undefined {
  let text = root;
  for (const name of path) {
    if (typeof name === 'number') text += `[${name}]`;
    else if (PLAIN_NAME.test(name)) text += `.${name}`;
    else if (name === '' || /\]|\{\{|\}\}/.test(name)) return undefined;
    else text += `["${name}"]`;
  }
  return text.length > MAX_VARIABLE ? undefined : text;
}

const keys = new WeakMap<JsonPlace, string>();

/** Places with equal keys provide the same values. */
export function keyOf(place: JsonPlace): string {
  let key = keys.get(place);
  if (key === undefined) keys.set(place, (key = JSON.stringify([place.gap, place.items, place.readings])));
  return key;
}

/** Returns the row of a place. A place without one begins a row of its own. */
export function rowOf(place: JsonPlace): string {
  return place.row ?? keyOf(place);
}
