// Checks the values that a drawing gives to the fields of an action. The value of a variable is known only when the
// node runs.
import { ExactNumber } from '../exact-number.js';
import { fileIdOf } from '../file-values.js';
import { isEmpty, isObject, ownValue, type JsonObject } from '../json.js';
import { spansOf } from '../template.js';
import { fieldsOf, requiredOf, type ActionFacts } from './action.js';

/** The message of a node whose service has no such action. */
export const UNKNOWN_ACTION = 'The service has no such action.';

/** The depth down to which a value is compared with the schema of its field. */
const MOST_LEVELS = 32;
/** The limit on comparisons for one action. The rest is not checked, because schemas and values may be hostile. */
const MOST_COMPARISONS = 20_000;
const MOST_ERRORS = 100;

/**
 * Returns an error by field, in the wording of the other fields of nodes. Reports every required field that is empty,
 * and checks the given values until there are 100 errors.
 */
export function valueErrors(facts: Pick<ActionFacts, 'fields'>, values: JsonObject): Record<string, string> {
  const fields = new Map(fieldsOf(facts));
  const required = requiredOf(facts);
  const errors = new Map<string, string>();
  const check: Check = { left: MOST_COMPARISONS };
  for (const key of required) if (isEmpty(ownValue(values, key))) errors.set(key, 'Field required');
  for (const [key, value] of Object.entries(values)) {
    if (errors.size >= MOST_ERRORS) break;
    const field = fields.get(key);
    if (field === undefined) errors.set(key, 'Extra inputs are not permitted');
    else if (!isEmpty(value)) {
      const problem = typeProblem(check, value, field);
      if (problem !== undefined) errors.set(key, problem);
    }
  }
  return Object.fromEntries(errors);
}

interface Check {
  /** How many comparisons may still be made. */
  left: number;
}

interface Problem {
  /** The keys that lead to the value, joined by dots; empty for the value itself. */
  path: string;
  wanted: string;
}

function typeProblem(check: Check, value: unknown, schema: JsonObject): string | undefined {
  const problem = findProblem(check, value, schema, 0);
  if (problem === undefined) return undefined;
  return `Input should be a valid ${problem.wanted}${problem.path === '' ? '' : ` at ${problem.path}`}`;
}

/** Checks types only. The service itself checks the other rules of its document. */
function findProblem(check: Check, value: unknown, schema: unknown, level: number): Problem | undefined {
  if (!isObject(schema) || level > MOST_LEVELS || isTemplate(value) || check.left <= 0) return undefined;
  check.left -= 1;
  const types = typesOf(schema);
  if (types.length > 0 && !types.some((type) => isOfType(value, type, schema))) {
    return { path: '', wanted: types.map((type) => WORDS[type] ?? type).join(' or ') };
  }
  return findInAlternatives(check, value, schema, level) ?? findInside(check, value, schema, level);
}

function findInAlternatives(check: Check, value: unknown, schema: JsonObject, level: number): Problem | undefined {
  for (const part of listOf(schema, 'allOf')) {
    const problem = findProblem(check, value, part, level + 1);
    if (problem !== undefined) return problem;
  }
  for (const key of ['anyOf', 'oneOf']) {
    const problems = listOf(schema, key).map((part) => findProblem(check, value, part, level + 1));
    if (problems.length > 0 && problems.every((problem) => problem !== undefined)) return problems[0];
  }
  return undefined;
}

/**
 * Visits no list whose schema has no `items`, and no object whose schema has no `properties`, because a value may have
 * millions of items.
 */
function findInside(check: Check, value: unknown, schema: JsonObject, level: number): Problem | undefined {
  for (const [key, item, of] of insideOf(value, schema)) {
    if (check.left <= 0) return undefined;
    // `findProblem` counts only values that have a schema.
    if (!isObject(of)) check.left -= 1;
    const problem = item === null ? undefined : findProblem(check, item, of, level + 1);
    if (problem !== undefined) return { ...problem, path: problem.path === '' ? key : `${key}.${problem.path}` };
  }
  return undefined;
}

function* insideOf(value: unknown, schema: JsonObject): Generator<[key: string, item: unknown, of: unknown]> {
  if (Array.isArray(value)) {
    const items = ownValue(schema, 'items');
    if (isObject(items)) for (const [at, item] of value.entries()) yield [String(at), item, items];
  } else if (isObject(value)) {
    const properties = ownValue(schema, 'properties');
    if (!isObject(properties)) return;
    for (const key of Object.keys(value)) yield [key, value[key], ownValue(properties, key)];
  }
}

function listOf(schema: JsonObject, key: string): unknown[] {
  const value = ownValue(schema, key);
  return Array.isArray(value) ? value : [];
}

/** Text in double braces is a variable, whose value only the run knows, or stays as typed, and then is not checked. */
function isTemplate(value: unknown): boolean {
  return typeof value === 'string' && spansOf(value).next().done !== true;
}

const WORDS: Record<string, string> = { array: 'list', object: 'dictionary' };
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);

function typesOf(schema: JsonObject): string[] {
  const given = ownValue(schema, 'type');
  const types = Array.isArray(given) ? given : [given];
  if (!types.every((type) => typeof type === 'string' && TYPES.has(type))) return [];
  return ownValue(schema, 'nullable') === true ? [...(types as string[]), 'null'] : (types as string[]);
}

function isOfType(value: unknown, type: string, schema: JsonObject): boolean {
  if (type === 'string') return typeof value === 'string' || isFileOf(value, schema);
  if (type === 'number') return typeof value === 'number' || value instanceof ExactNumber;
  if (type === 'integer')
    return Number.isInteger(value) || (value instanceof ExactNumber && /^-?\d+$/.test(String(value)));
  if (type === 'boolean') return typeof value === 'boolean';
  if (type === 'array') return Array.isArray(value);
  return type === 'object' ? isObject(value) : value === null;
}

/** A file is a valid value where the document asks for bytes. */
function isFileOf(value: unknown, schema: JsonObject): boolean {
  return fileIdOf(value) !== undefined && ['binary', 'byte'].includes(String(ownValue(schema, 'format')));
}
