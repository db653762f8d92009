// JSON Schema that users write, for the answers of models. Ajv compiles a schema to JavaScript; nothing is ever fetched,
// and no `pattern` becomes a `RegExp`. What a compiled schema costs is bounded by who runs it
// (`activities/kinds/structured-answer.ts`).
import { Ajv, type AnySchemaObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { takeFromBudget } from './check-budget.js';
import { ExactNumber } from './exact-number.js';
import { isContainer, isObject, leavesOf, mapLeaves, ownValue } from './json.js';
import { writeJson } from './json-text.js';
import { compilePattern, matchesPattern } from './pattern.js';
import { NodeError } from './node-error.js';
import { cutText } from './cut-text.js';

/** The limit applies to the schema as JSON text. */
const MAX_SCHEMA_CHARACTERS = 65_536;

/** This many characters are compared in the time that one instruction of a pattern takes to be compiled. */
const CHARACTERS_PER_UNIT = 50;

/** Returns the first thing that is wrong with a value, as `/items/0/price must be number`; undefined where it fits. */
export type SchemaCheck = (value: unknown) => string | undefined;

const DRAFT_7 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;
const DRAFT_2020 = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/**
 * RE2 stands in for `RegExp`, which Ajv would use. What RE2 cannot match (lookaround, back references, a pattern that is
 * too large by itself or for the text) is not checked.
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
 * Keywords that Ajv does not know say nothing, like `format`, which is an annotation. Each referenced part is compiled
 * once, not wherever it is referenced. One mistake is enough: a hostile answer could have a million.
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

/** They are compiled at their first use, which takes some ten milliseconds. */
function metaSchemaOf(schema: object): Ajv {
  metaSchemas ??= { draft7: new Ajv(OPTIONS), draft2020: new Ajv2020(OPTIONS) };
  return isDraft7(schema) ? metaSchemas.draft7 : metaSchemas.draft2020;
}

function isDraft7(schema: object): boolean {
  return DRAFT_7.test(String(ownValue(schema, '$schema')));
}

/**
 * Returns why a value cannot be used as a schema, as a message about the field that holds it; undefined where it can,
 * except that references are looked up only when it is compiled. Takes linear time, and within `withCheckBudget` schemas
 * beyond the budget are not compared with the schema of schemas.
 */
export function schemaProblem(schema: unknown): string | undefined {
  if (!isObject(schema)) return 'Input should be a valid dictionary';
  const { length } = writeJson(schema);
  if (length > MAX_SCHEMA_CHARACTERS) return `JSON Schema should have at most ${MAX_SCHEMA_CHARACTERS} characters`;
  const dialect = ownValue(schema, '$schema');
  if (dialect !== undefined && !isDialect(dialect)) return 'JSON Schema should be of draft 2020-12 or draft-07';
  // Ajv would answer with a promise, whose rejection nobody catches.
  if (ownValue(schema, '$async')) return 'JSON Schema should not be asynchronous ($async)';
  if (holdsRemoteReference(schema)) return "References in a JSON Schema should begin with '#'";
  if (!takeFromBudget(Math.ceil(length / CHARACTERS_PER_UNIT))) return undefined;
  const meta = metaSchemaOf(schema);
  if (meta.validateSchema(toDoubles(schema) as AnySchemaObject) === true) return undefined;
  const [error] = meta.errors ?? [];
  return `Input should be a valid JSON Schema: ${error?.instancePath || 'it'} ${error?.message ?? 'is not valid'}`;
}

function isDialect(dialect: unknown): boolean {
  return typeof dialect === 'string' && (DRAFT_2020.test(dialect) || DRAFT_7.test(dialect));
}

function holdsRemoteReference(schema: object): boolean {
  const met: object[] = [schema];
  for (const item of met) {
    for (const [key, value] of Object.entries(item)) {
      if (isContainer(value)) met.push(value);
      else if ((key === '$ref' || key === '$dynamicRef') && typeof value === 'string' && !value.startsWith('#'))
        return true;
    }
  }
  return false;
}

/**
 * Compiles a schema without a problem. Throws an `Error` for a reference to nothing. A hostile schema can take very long,
 * and so can its check.
 */
export function compileSchema(schema: object): SchemaCheck {
  // An instance of its own, so that nothing of one user's schema meets another's.
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

/** Ajv knows doubles only. The nearest one stands for a number that no double can hold. */
function toDoubles(value: unknown): unknown {
  if (!isContainer(value)) return toDouble(value);
  const isExact = leavesOf(value).some((leaf) => leaf instanceof ExactNumber);
  return isExact ? mapLeaves(value, toDouble) : value;
}

function toDouble(leaf: unknown): unknown {
  return leaf instanceof ExactNumber ? Number(leaf.toString()) : leaf;
}
