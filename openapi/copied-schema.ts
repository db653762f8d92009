// Copies a schema with the targets of its references, so that the copy needs no other part of the document. The copy is
// small: a circular reference, and a part that is nested too deeply, become `{}`, a schema that accepts any value. When
// the size limit of an action is reached, further parts also become `{}`, and further properties are left out.
import { cutText } from '../graph/cut-text.js';
import { isContainer, isObject, ownValue, setOwn, type JsonObject } from '../graph/json.js';
import { OperationProblem, referenceOf, resolve, type OpenapiDocument } from './document.js';

const MOST_LEVELS = 10;
const MOST_DESCRIPTION = 500;
const MOST_ENUM = 200;
const MOST_REQUIRED = 1_000;
const MOST_TEXT = 200;

/**
 * What is left of the limits on the schemas of an action's fields, or on that of its answer: the number of schemas
 * (`values`), and the characters of their JSON text. Copying reduces both.
 */
export interface SizeBudget {
  values: number;
  characters: number;
}

type Put = (key: string, value: unknown) => void;

/** The characters of an empty object or list with its comma, and those around a key: two quotes, a colon, a comma. */
const EMPTY = 3;
const AROUND_KEY = 4;

/** Keywords with the type of their values. Model providers refuse a schema in which a value has another type. */
const PLAIN: Record<string, 'string' | 'number' | 'count' | 'boolean'> = {
  format: 'string',
  pattern: 'string',
  minimum: 'number',
  maximum: 'number',
  minLength: 'count',
  maxLength: 'count',
  minItems: 'count',
  maxItems: 'count',
  uniqueItems: 'boolean',
};
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);

interface Copying {
  document: OpenapiDocument;
  budget: SizeBudget;
  /** The references that were followed to this schema. Another use of one of them is a circle. */
  within: readonly string[];
  level: number;
}

/** Throws `OperationProblem` for a reference that `resolve` refuses. Inside the schema, such a one becomes `{}`. */
export function copySchema(document: OpenapiDocument, schema: unknown, budget: SizeBudget): JsonObject {
  return copy({ document, budget, within: [], level: 0 }, schema);
}

function copy(copying: Copying, schema: unknown): JsonObject {
  const { document, budget, within, level } = copying;
  budget.values -= 1;
  budget.characters -= EMPTY;
  if (level > MOST_LEVELS || budget.values <= 0 || budget.characters <= 0) return {};
  const reference = referenceOf(schema);
  if (reference !== undefined && within.includes(reference)) return {};
  const resolved = level === 0 ? resolve(document, schema) : resolvedOrNothing(document, schema);
  if (!isObject(resolved)) return {};
  const inner = { ...copying, level: level + 1, within: reference === undefined ? within : [...within, reference] };
  const copied: JsonObject = {};
  // Leaves out a value that does not fit: a part of it would be another value.
  const put: Put = (key, value) => {
    if (value === undefined) return;
    const characters = key.length + AROUND_KEY + JSON.stringify(value).length;
    if (characters > budget.characters) return;
    budget.characters -= characters;
    copied[key] = value;
  };
  putType(resolved, put);
  put('title', shortText(resolved, 'title', MOST_TEXT));
  // A description beside a reference is about this use of the schema.
  put(
    'description',
    shortText(schema, 'description', MOST_DESCRIPTION) ?? shortText(resolved, 'description', MOST_DESCRIPTION),
  );
  for (const [key, type] of Object.entries(PLAIN)) put(key, plainAt(resolved, key, type));
  put('default', smallDefault(resolved));
  put('enum', enumOf(resolved));
  const putCopied: Put = (key, value) => {
    budget.characters -= key.length + AROUND_KEY + EMPTY;
    copied[key] = value;
  };
  putParts(inner, resolved, putCopied);
  put('required', requiredIn(copied, resolved));
  return copied;
}

/** `put` does not count the characters of its value, because `copy` has already counted those of a schema. */
function putParts(inner: Copying, schema: JsonObject, put: Put): void {
  for (const key of ['allOf', 'anyOf', 'oneOf']) {
    const parts = ownValue(schema, key);
    if (Array.isArray(parts) && parts.length > 0)
      put(
        key,
        parts.slice(0, 50).map((part: unknown) => copy(inner, part)),
      );
  }
  const items = ownValue(schema, 'items');
  if (isObject(items)) put('items', copy(inner, items));
  const additional = ownValue(schema, 'additionalProperties');
  if (typeof additional === 'boolean') put('additionalProperties', additional);
  else if (isObject(additional)) put('additionalProperties', copy(inner, additional));
  const properties = ownValue(schema, 'properties');
  if (!isObject(properties)) return;
  const copied: JsonObject = {};
  for (const [name, property] of Object.entries(properties)) {
    if (isReadOnly(property)) continue;
    const characters = JSON.stringify(name).length + AROUND_KEY;
    if (inner.budget.values <= 0 || inner.budget.characters <= characters) break;
    inner.budget.characters -= characters;
    setOwn(copied, name, copy(inner, property));
  }
  put('properties', copied);
}

function requiredIn({ properties }: JsonObject, schema: JsonObject): string[] | undefined {
  const required = [...new Set(requiredAt(schema))].filter((name) => ownValue(properties, name) !== undefined);
  return required.length > 0 ? required : undefined;
}

/** Resolves a schema inside another one. Returns undefined for a reference that `resolve` refuses. */
function resolvedOrNothing(document: OpenapiDocument, schema: unknown): unknown {
  try {
    return resolve(document, schema);
  } catch (error) {
    if (error instanceof OperationProblem) return undefined;
    throw error;
  }
}

function putType(schema: JsonObject, put: Put): void {
  const type = ownValue(schema, 'type');
  // `file` is the type that Swagger 2.0 has for the bytes of a file.
  if (type === 'file') {
    put('type', 'string');
    put('format', 'binary');
    return;
  }
  const given = new Set<unknown>(Array.isArray(type) ? type.slice(0, MOST_ENUM) : [type]);
  const types = [...given].filter((each): each is string => typeof each === 'string' && TYPES.has(each));
  const isNullable = ownValue(schema, 'nullable') === true && types.length > 0 && !types.includes('null');
  const all = isNullable ? [...types, 'null'] : types;
  if (all.length > 0) put('type', all.length === 1 ? all[0] : all);
}

export function isReadOnly(schema: unknown): boolean {
  return ownValue(schema, 'readOnly') === true;
}

/** Returns the names of the required properties. Ignores the true or false that early drafts put at each property. */
export function requiredAt(schema: unknown): string[] {
  const required = ownValue(schema, 'required');
  if (!Array.isArray(required)) return [];
  return required.slice(0, MOST_REQUIRED).filter((name): name is string => typeof name === 'string');
}

function shortText(owner: unknown, key: string, most: number): string | undefined {
  const value = ownValue(owner, key);
  return typeof value === 'string' && value.trim() !== '' ? cutText(value.trim(), most) : undefined;
}

/** Leaves out a text that is too long, because a cut pattern would be another pattern. */
function plainAt(schema: JsonObject, key: string, type: string): unknown {
  const value = ownValue(schema, key);
  if (type === 'count') return Number.isInteger(value) && (value as number) >= 0 ? value : undefined;
  if (typeof value !== type || (typeof value === 'string' && value.length > MOST_TEXT)) return undefined;
  return typeof value === 'number' && !Number.isFinite(value) ? undefined : value;
}

/** Leaves out null, lists, objects, and a text that is too long, because a cut default would be another default. */
function smallDefault(schema: JsonObject): unknown {
  const value = ownValue(schema, 'default');
  if (value === null || isContainer(value)) return undefined;
  return typeof value === 'string' && value.length > MOST_TEXT ? undefined : value;
}

function enumOf(schema: JsonObject): unknown[] | undefined {
  const constant = ownValue(schema, 'const');
  if (constant !== undefined && !isContainer(constant)) return [constant];
  const values = ownValue(schema, 'enum');
  if (!Array.isArray(values) || values.length === 0 || values.length > MOST_ENUM) return undefined;
  const leaves = values.filter((value) => !isContainer(value) && String(value).length <= MOST_TEXT);
  return leaves.length === values.length ? leaves : undefined;
}
