// Creates random values that a schema of a document permits. They come from the document itself and not from the fields
// of an action, so that the comparison finds fields that an action lacks.
import fc from 'fast-check';
import type { Json } from './chosen-operations.js';
import type { Random } from './random.js';

/** The content of a file: the value of a schema for binary data. */
export class Bytes {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** From this level on, objects have only their required properties. */
const PLAIN_LEVELS = 3;
/** Below this level, no value is created. */
const MOST_LEVELS = 8;
const WORDS = [
  'a',
  'Blue 7',
  'x&y=z',
  '50%',
  'a/b',
  'é ü',
  'one, two',
  'q?#',
  '"quoted"',
  "it's",
  'a+b',
  '~tilde_-.',
  '[0]',
];

interface Values {
  root: Json;
  random: Random;
  /** True in forms, where binary data is a file. Elsewhere, it is text. */
  hasFiles: boolean;
}

/** Returns undefined if it finds no value that the schema permits. */
export function randomValue(values: Values, given: unknown, level = 0): unknown {
  const schema = merged(values, given, 0);
  if (schema === undefined || level > MOST_LEVELS) return undefined;
  const { random } = values;
  for (const key of ['oneOf', 'anyOf']) {
    const alternatives = schema[key];
    if (!Array.isArray(alternatives) || alternatives.length === 0) continue;
    const { [key]: _, ...rest } = schema;
    return randomValue(values, { allOf: [rest, random.pick(alternatives as unknown[])] }, level + 1);
  }
  if (Array.isArray(schema['enum'])) {
    const fitting = (schema['enum'] as unknown[]).filter((value) => value !== null && value !== '');
    return fitting.length === 0 ? undefined : random.pick(fitting);
  }
  if (schema['const'] !== undefined) return schema['const'];
  return ofType(values, schema, typeOf(schema), level);
}

function typeOf(schema: Json): string {
  const { type } = schema;
  const types = (Array.isArray(type) ? type : [type]).filter((each) => each !== 'null' && each !== undefined);
  if (types.length > 0) return String(types[0]);
  if (schema['properties'] !== undefined || schema['additionalProperties'] !== undefined) return 'object';
  return schema['items'] === undefined ? 'any' : 'array';
}

function ofType(values: Values, schema: Json, type: string, level: number): unknown {
  const { random } = values;
  if (values.hasFiles && ['binary', 'file'].includes(String(schema['format']))) return randomFile(random);
  if (type === 'boolean') return random.chance(0.5);
  if (type === 'integer') return randomNumber(random, schema, 1);
  if (type === 'number') return randomNumber(random, schema, 4);
  if (type === 'array') return randomList(values, schema, level);
  if (type === 'object') return randomObject(values, schema, level);
  if (type === 'file') return randomFile(random);
  if (type === 'string') return randomText(values, schema);
  return random.pick(WORDS);
}

export function randomFile(random: Random): Bytes {
  return new Bytes(`file ${random.integer(1_000_000)}`);
}

function randomNumber(random: Random, schema: Json, steps: number): number {
  const limit = (key: string): number | undefined => (typeof schema[key] === 'number' ? schema[key] : undefined);
  const low = Math.ceil(limit('minimum') ?? Math.min(0, limit('maximum') ?? 0)) + (schema['exclusiveMinimum'] ? 1 : 0);
  const high = Math.floor(limit('maximum') ?? low + 1000);
  return (
    low +
    random.integer(Math.min(1_000_000, Math.max(0, high - low))) +
    (steps > 1 && high > low ? random.integer(steps) / steps : 0)
  );
}

function randomList(values: Values, schema: Json, level: number): unknown[] | undefined {
  const { random } = values;
  const least = Math.max(1, Number(schema['minItems'] ?? 1));
  if (least > 50) return undefined;
  const most = Math.max(least, Math.min(Number(schema['maxItems'] ?? 3), least + 2));
  const wanted = least + random.integer(most - least + 1);
  const items: unknown[] = [];
  for (let tries = 0; items.length < wanted && tries < 4 * wanted; tries += 1) {
    const item = randomValue(values, schema['items'] ?? { type: 'string' }, level + 1);
    if (item === undefined) return undefined;
    if (schema['uniqueItems'] !== true || !items.some((other) => JSON.stringify(other) === JSON.stringify(item)))
      items.push(item);
  }
  return items.length < least ? undefined : items;
}

function randomObject(values: Values, schema: Json, level: number): Json | undefined {
  const { random } = values;
  const made: Json = {};
  const required = new Set(Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []);
  for (const [name, property] of Object.entries((schema['properties'] ?? {}) as Json)) {
    if (isReadOnly(values, property)) continue;
    const isRequired = required.has(name);
    if (!isRequired && (level >= PLAIN_LEVELS || !random.chance(0.5))) continue;
    const value = randomValue(values, property, level + 1);
    if (value !== undefined) made[name] = value;
    else if (isRequired) return undefined;
  }
  const more = schema['additionalProperties'];
  if (typeof more === 'object' && more !== null && schema['properties'] === undefined) {
    const value = randomValue(values, more, level + 1);
    if (value !== undefined) made[`key${random.integer(9)}`] = value;
  }
  return made;
}

function isReadOnly(values: Values, schema: unknown): boolean {
  return merged(values, schema, 0)?.['readOnly'] === true;
}

function randomText({ random }: Values, schema: Json): unknown {
  const two = (below: number): string => String(1 + random.integer(below)).padStart(2, '0');
  switch (schema['format']) {
    case 'date-time':
      return `2026-${two(12)}-${two(28)}T${two(23)}:${two(59)}:${two(59)}.${two(99)}0Z`;
    case 'date':
      return `2026-${two(12)}-${two(28)}`;
    case 'uuid':
      return `3f0a4b0e-1111-4222-8333-${String(random.integer(1e12)).padStart(12, '0')}`;
    case 'email':
      return `ada${random.integer(99)}@example.com`;
    case 'uri':
    case 'url':
      return `https://example.com/${random.integer(99)}?a=b`;
    case 'byte':
      return Buffer.from(random.pick(WORDS)).toString('base64');
  }
  return ofPattern(random, schema) ?? ofLength(random, schema);
}

function ofPattern(random: Random, { pattern }: Json): string | undefined {
  if (typeof pattern !== 'string') return undefined;
  try {
    const [text] = fc.sample(fc.stringMatching(new RegExp(pattern, 'u')), {
      seed: random.integer(2 ** 31),
      numRuns: 1,
    });
    return text === undefined || text.trim() === '' || text.length > 200 ? undefined : text;
  } catch {
    return undefined;
  }
}

function ofLength(random: Random, schema: Json): string {
  const least = Math.min(Number(schema['minLength'] ?? 0), 500);
  const most = Number(schema['maxLength'] ?? Infinity);
  const word = random.pick(WORDS).padEnd(least, 'y');
  return word.length <= most ? word : 'abcdefghijklmnopqrstuvwxyz'.slice(0, Math.max(1, most));
}

/**
 * Follows references, and makes one schema of `allOf`. Returns undefined if a reference leads to nothing, or if they
 * are nested too deeply.
 */
function merged(values: Values, given: unknown, depth: number): Json | undefined {
  if (depth > 20 || typeof given !== 'object' || given === null) return undefined;
  const schema = given as Json;
  if (typeof schema['$ref'] === 'string') return merged(values, pointed(values.root, schema['$ref']), depth + 1);
  const parts = schema['allOf'];
  if (!Array.isArray(parts)) return schema;
  const { allOf: _, ...own } = schema;
  let whole: Json = {};
  for (const part of [...(parts as unknown[]), own]) {
    const one = merged(values, part, depth + 1);
    if (one === undefined) return undefined;
    const list = (key: string): unknown[] =>
      [whole[key], one[key]].flatMap((each) => (Array.isArray(each) ? each : []) as unknown[]);
    const properties = { ...(whole['properties'] as Json | undefined), ...(one['properties'] as Json | undefined) };
    const required = list('required');
    whole = {
      ...whole,
      ...one,
      ...(Object.keys(properties).length > 0 && { properties }),
      ...(required.length > 0 && { required }),
    };
  }
  return whole;
}

/** Returns the value at a reference inside the document; undefined if there is none. */
export function pointed(root: Json, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>(
      (at, part) => (at as Json | undefined)?.[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')],
      root,
    );
}
