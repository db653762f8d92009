// Checks answers of models against users' JSON Schemas. Ajv compiles a schema to JavaScript, fetches nothing, and makes
// no `RegExp` of a `pattern`. `activities/kinds/structured-answer.ts` limits the cost of a compiled schema.
import { Ajv, type AnySchemaObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { spendBudget } from './check-budget.js';
import { ExactNumber } from './exact-number.js';
import { isContainer, isObject, leavesOf, mapLeaves, ownValue } from './json.js';
import { writeJsonOrNothing } from './json-text.js';
import { compilePattern, matchesPattern } from './pattern.js';
import { NodeError } from './node-error.js';
import { cutText } from './cut-text.js';

/** The limit on the schema as JSON text. */
const MAX_SCHEMA_CHARACTERS = 65_536;

/** The number of characters that are checked in the time in which one instruction of a pattern is compiled. */
const CHARACTERS_PER_UNIT = 50;

/** Returns the first error of a value, such as `/items/0/price must be number`, or undefined if it is valid. */
export type SchemaCheck = (value: unknown) => string | undefined;

const DRAFT_7 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;
const DRAFT_2020 = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/**
 * Replaces `RegExp` in Ajv by RE2. A pattern that RE2 cannot match (lookaround, back references, too large by itself or
 * for the text) counts as matching every text.
 */
const patternEngine = Object.assign(
  (pattern: string) => {
    try {
      compilePattern(pattern);
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      return { test: () => true };
    }
    return { test: (text: string) => mayMatch(text, pattern), toString: () => `/${pattern}/u` };
  },
  { code: 'patternEngine' },
);

function mayMatch(text: string, pattern: string): boolean {
  try {
    return matchesPattern(text, pattern);
  } catch (error) {
    if (error instanceof NodeError) return true;
    throw error;
  }
}

/**
 * Ignores unknown keywords and `format`, which is an annotation. Compiles each referenced part once instead of at each
 * reference. Stops at the first mistake, because a hostile answer could have a million.
 */
const OPTIONS = {
  strict: false,
  allErrors: false,
  validateFormats: false,
  inlineRefs: false,
  ownProperties: true,
  logger: false,
  code: { regExp: patternEngine },
} as const satisfies Options;

let metaSchemas: { draft7: Ajv; draft2020: Ajv2020 } | undefined;

/** Compiles the meta-schemas on first use, which takes about ten milliseconds. */
function metaSchemaOf(schema: object): Ajv {
  metaSchemas ??= { draft7: new Ajv(OPTIONS), draft2020: new Ajv2020(OPTIONS) };
  return isDraft7(schema) ? metaSchemas.draft7 : metaSchemas.draft2020;
}

function isDraft7(schema: object): boolean {
  return DRAFT_7.test(String(ownValue(schema, '$schema')));
}

/**
 * Returns the field error of a value that cannot be used as a schema, otherwise undefined. Compiling may still fail,
 * for example for an unresolved reference. Within `withCheckBudget`, schemas beyond the budget are not checked against
 * the meta-schema.
 */
export function schemaProblem(schema: unknown): string | undefined {
  if (!isObject(schema)) return 'Input should be a valid dictionary';
  const { length } = writeJsonOrNothing(schema);
  if (length === 0) return 'JSON Schema should be less deeply nested';
  if (length > MAX_SCHEMA_CHARACTERS) return `JSON Schema should have at most ${MAX_SCHEMA_CHARACTERS} characters`;
  const dialect = ownValue(schema, '$schema');
  if (dialect !== undefined && !isDialect(dialect)) return 'JSON Schema should be of draft 2020-12 or draft-07';
  // Ajv would answer with a promise, whose rejection nothing catches.
  if (ownValue(schema, '$async')) return 'JSON Schema should not be asynchronous ($async)';
  const problem = problemOfParts(schema);
  if (problem !== undefined) return problem;
  if (!spendBudget(Math.ceil(length / CHARACTERS_PER_UNIT))) return undefined;
  const meta = metaSchemaOf(schema);
  if (meta.validateSchema(toDoubles(schema) as AnySchemaObject) === true) return undefined;
  const [error] = meta.errors ?? [];
  return `Input should be a valid JSON Schema: ${error?.instancePath || 'it'} ${error?.message ?? 'is not valid'}`;
}

function isDialect(dialect: unknown): boolean {
  return typeof dialect === 'string' && (DRAFT_2020.test(dialect) || DRAFT_7.test(dialect));
}

/** There are seven types. Ajv compares each pair of the listed ones, so a long list would hold up the process. */
const MOST_TYPES = 100;

/** Returns the problem of a part that Ajv must not see. */
function problemOfParts(schema: object): string | undefined {
  const met: object[] = [schema];
  for (const item of met) {
    for (const [key, value] of Object.entries(item)) {
      if (key === 'type' && Array.isArray(value) && value.length > MOST_TYPES) {
        return 'A `type` in a JSON Schema should list no type twice';
      }
      if (isContainer(value)) met.push(value);
      else if ((key === '$ref' || key === '$dynamicRef') && typeof value === 'string' && !value.startsWith('#')) {
        return "References in a JSON Schema should begin with '#'";
      }
    }
  }
  return undefined;
}

/**
 * Compiles a schema that has passed `schemaProblem`. Throws an `Error` if that fails, for example for an unresolved
 * reference. Compiling a hostile schema can take very long, and so can its check.
 */
export function compileSchema(schema: object): SchemaCheck {
  // A new instance for each schema, so that schemas of different users never share state.
  const Dialect = isDraft7(schema) ? Ajv : Ajv2020;
  const { $schema: _dialect, ...plain } = toDoubles(schema) as AnySchemaObject;
  const validate = new Dialect({ ...OPTIONS, meta: false, validateSchema: false }).compile(plain);
  return (value) => {
    if (validate(toDoubles(value)) === true) return undefined;
    const [error] = validate.errors ?? [];
    return `${error?.instancePath || 'it'} ${describe(error?.message, error?.params)}`;
  };
}

function describe(message = 'does not fit', params: Record<string, unknown> = {}): string {
  const { additionalProperty, allowedValues, allowedValue } = params;
  if (typeof additionalProperty === 'string') return `${message}: ${JSON.stringify(additionalProperty)}`;
  const allowed = allowedValues ?? allowedValue;
  return allowed === undefined ? message : `${message}: ${cutText(JSON.stringify(allowed), 500)}`;
}

/** Ajv supports only doubles, so a number that no double can represent becomes the nearest one. */
function toDoubles(value: unknown): unknown {
  if (!isContainer(value)) return toDouble(value);
  const isExact = leavesOf(value).some((leaf) => leaf instanceof ExactNumber);
  return isExact ? mapLeaves(value, toDouble) : value;
}

function toDouble(leaf: unknown): unknown {
  return leaf instanceof ExactNumber ? Number(leaf.toString()) : leaf;
}
