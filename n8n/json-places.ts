// These types say where the data of n8n's nodes stands in a drawing. Each node of n8n puts out items, whose `json` the
// next nodes read. A node of a drawing has a result with fields of its own.
import { isObject, ownValue, setOwn, type JsonObject } from '../graph/json.js';
import type { PathPart } from '../graph/variable.js';

/** The value at `path` of an item's `json`, as the variable that gives it here (without braces). */
interface Reading {
  path: readonly PathPart[];
  variable: string;
}

/** The `json` of the items that a node puts out. */
export interface JsonPlace {
  /** The readable parts. The path `[]` is the whole. */
  readings: readonly Reading[];
  /** A variable that is empty unless the node has run. */
  ran: string;
  /** The number rises from a node to those after it. */
  order: number;
  /**
   * The number of items that n8n puts out there, one by default. The value of several items is the list of their
   * `json`. If the number is known only when the node runs, one item is the value itself.
   */
  items?: 'several' | 'unknown';
  /** The reason why nothing else can be read. */
  gap?: string;
}

/** The place of a node whose `json` is the whole of one variable. */
export function wholePlace(variable: string, ran: string, order: number): JsonPlace {
  return { readings: [{ path: [], variable }], ran, order };
}

/** The place of a node of which nothing can be read. */
export function emptyPlace(gap: string, order: number): JsonPlace {
  return { readings: [], ran: '', order, gap };
}

/** Returns the JSON with variables that gives the value at `path` of a place. It is undefined if no variable does. */
export function templateAt({ readings }: JsonPlace, path: readonly PathPart[]): unknown {
  const reading = readings.find((candidate) => startsWith(path, candidate.path));
  if (reading !== undefined) return inBraces(writeVariable(reading.variable, path.slice(reading.path.length)));
  const below = readings.filter((candidate) => startsWith(candidate.path, path));
  if (below.length === 0) return undefined;
  const made: JsonObject = {};
  for (const { path: full, variable } of below) setAt(made, full.slice(path.length), `{{ ${variable} }}`);
  return made;
}

/** Sets the value at a path of at least one step. Anything on the way there that is no object is replaced by one. */
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
/** Longer variables are not read (`graph/variable.ts`). */
const MAX_VARIABLE = 1000;

/** Returns the variable with the path behind it. The result is undefined if no variable can name it. */
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

/** Two places with the same key give the same values. */
export function keyOf(place: JsonPlace): string {
  let key = keys.get(place);
  if (key === undefined) keys.set(place, (key = JSON.stringify([place.gap, place.items, place.readings])));
  return key;
}
