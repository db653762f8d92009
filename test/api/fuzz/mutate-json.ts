// Mutations of JSON: one change of a value, or changes of its bytes.
import { HOSTILE_KEYS, HOSTILE_NUMBERS, HOSTILE_STRINGS } from './hostile.js';
import type { Random } from './random.js';

/** A piece of JSON text in a value, written unchanged: a number that no double can hold, or a deep nesting. */
class RawText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Json = unknown;
type Container = Json[] | Record<string, Json>;

/** The host of the addresses in the drawings. */
const HOST = 'target.invalid';
const OTHERS: readonly Json[] = [null, true, [], {}, [[]], [null], { toString: 1, valueOf: 1 }];

/** Returns a copy with one change somewhere in it; deep places are as likely as upper ones. */
export function mutateJson(value: Json, random: Random): Json {
  const root = { root: structuredClone(value) };
  const places = placesIn(root);
  const [container, key] = random.pick(places);
  const at = container as Record<string, Json>;
  const choice = random.below(10);
  if (choice === 0) delete at[key];
  else if (choice === 1) setKey(container, random.pick(HOSTILE_KEYS), at[key]);
  else if (choice === 2 && Array.isArray(container)) container.push(...repeated(at[key], random.pick([1, 2, 50])));
  else if (choice === 3) at[key] = nested(at[key], random.pick([1, 5, 190, 300, 5000]));
  else if (choice === 4) at[key] = random.pick(OTHERS);
  else if (choice <= 6) at[key] = new RawText(random.pick(HOSTILE_NUMBERS));
  else if (choice === 7 && typeof at[key] === 'string' && !at[key].includes('.invalid')) {
    at[key] = spliced(at[key], random.pick(HOSTILE_STRINGS), random);
  } else at[key] = random.pick(HOSTILE_STRINGS);
  return root.root;
}

/** Returns every place in a value, as its container and its key in the container. */
function placesIn(root: Container): [Container, string][] {
  const places: [Container, string][] = [];
  const open: Container[] = [root];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    for (const [key, member] of Object.entries(container)) {
      places.push([container, key]);
      if (typeof member === 'object' && member !== null && !(member instanceof RawText)) open.push(member as Container);
    }
  }
  return places;
}

function setKey(container: Container, key: string, value: Json): void {
  Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
}

function repeated(value: Json, count: number): Json[] {
  return Array.from({ length: count }, () => structuredClone(value));
}

function nested(value: Json, depth: number): Json {
  return new RawText(`${'['.repeat(depth)}${toText(value)}${']'.repeat(depth)}`);
}

function spliced(text: string, piece: string, random: Random): string {
  const at = random.below(text.length + 1);
  return text.slice(0, at) + piece + text.slice(at);
}

/** Returns JSON text, with raw pieces unchanged. */
export function toText(value: Json): string {
  if (value instanceof RawText) return value.text;
  // `value.map` would read the value's own `constructor`.
  if (Array.isArray(value)) return `[${Array.from(value, (item) => toText(item)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${toText(member)}`)
    .join(',')}}`;
}

/**
 * Flips, cuts, doubles or inserts bytes, but never within a host name: `target.invalid` without its last letters is a
 * name of the internet, and no request may leave the machine.
 */
export function mutateBytes(body: Buffer, random: Random): Buffer {
  if (body.length === 0) return Buffer.from(random.pick(['{', '\0', 'x', '[]', '"', '\ufeff']));
  const at = random.below(body.length);
  const before = body.subarray(0, at);
  const end = at + random.pick([0, 1, 1, 5]);
  const after = body.subarray(end);
  const piece = random.pick([
    Buffer.from([random.below(256)]),
    Buffer.from('\\u0000'),
    Buffer.from('"'),
    Buffer.from('{'),
    body,
  ]);
  const changed = random.chance(0.2) ? before : Buffer.concat([before, piece, after]);
  return isWithinHost(body, at) || isWithinHost(body, end) ? Buffer.concat([body, piece]) : changed;
}

function isWithinHost(body: Buffer, at: number): boolean {
  const found = body.indexOf(HOST, Math.max(0, at - HOST.length + 1));
  return found !== -1 && found < at;
}
