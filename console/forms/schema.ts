// Selects the control for a value from its JSON Schema.
import { isObject, type JsonObject } from '../../graph/json.js';
import { asArray, asObject, asText } from '../ui/json.js';

type Shape =
  | 'choice'
  | 'suggestions'
  | 'text'
  | 'long text'
  | 'code'
  | 'number'
  | 'boolean'
  | 'record'
  | 'condition'
  | 'object'
  | 'list'
  | 'variants'
  | 'constant'
  | 'json';

export type Path = readonly (string | number)[];

export function shapeOf(schema: JsonObject, key: string): Shape {
  const plain = withoutNull(schema);
  if (Object.hasOwn(plain, 'const')) return 'constant';
  if (asArray(plain['enum']).length > 0) return 'choice';
  if (isCondition(plain)) return 'condition';
  if (variantsOf(plain).length > 1) return 'variants';
  return shapeOfType(plain, key);
}

function shapeOfType(schema: JsonObject, key: string): Shape {
  const types = typesOf(schema);
  if (types.includes('string')) {
    if (schema['contentMediaType'] === 'text/javascript') return 'code';
    if (asArray(schema['examples']).length > 1) return 'suggestions';
    return LONG.test(key) ? 'long text' : 'text';
  }
  switch (types[0] ?? 'any') {
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return isObject(schema['items']) && Object.keys(schema['items']).length > 0 ? 'list' : 'json';
    case 'object':
      return shapeOfObject(schema);
    default:
      return 'json';
  }
}

/** Names of fields whose texts usually have several lines. */
const LONG = /^(message|text|content|body|code|prompt|guide|description|instructions)$/;

/** Keys of conditions, the same in each kind that has one. */
const CONDITION = ['left', 'operator', 'right'];

function isCondition(schema: JsonObject): boolean {
  return CONDITION.every((key) => Object.hasOwn(propertiesOf(schema), key));
}

function shapeOfObject(schema: JsonObject): Shape {
  const keys = Object.keys(propertiesOf(schema));
  if (keys.length > 0) return 'object';
  if (schema['format'] === 'record') return 'record';
  return typesOf(asObject(schema['additionalProperties'])).includes('string') ? 'record' : 'json';
}

/** Returns the only alternative to null, with the schema's other keywords. Returns any other schema unchanged. */
export function withoutNull(schema: JsonObject): JsonObject {
  const variants = variantsOf(schema).filter((variant) => !isNull(variant));
  const [only] = variants;
  if (only === undefined || variants.length > 1) return schema;
  const { anyOf: _any, oneOf: _one, ...rest } = schema;
  return { ...only, ...rest };
}

export function variantsOf(schema: JsonObject): JsonObject[] {
  return asArray(schema['anyOf'] ?? schema['oneOf']).filter(isObject);
}

function isNull(schema: JsonObject): boolean {
  const types = typesOf(schema);
  return types.length === 1 && types[0] === 'null';
}

export function typesOf(schema: JsonObject): string[] {
  const { type } = schema;
  return asArray(Array.isArray(type) ? type : [type]).filter((each): each is string => typeof each === 'string');
}

export function propertiesOf(schema: JsonObject): Record<string, JsonObject> {
  return asObject(schema['properties']) as Record<string, JsonObject>;
}

/**
 * A field that is required in one mode of the node only is marked with `needed` and is not in `required`, because the
 * field may be empty in the other modes.
 */
export function isRequired(schema: JsonObject, key: string): boolean {
  return asArray(schema['required']).includes(key) || propertiesOf(schema)[key]?.['needed'] === true;
}

export function titleOf(schema: JsonObject, key: string): string {
  return asText(schema['title']) ?? key;
}

export function descriptionOf(schema: JsonObject): string | undefined {
  return asText(schema['description']);
}

/** Returns the titles on a problem's path: `Messages 1 › Message` for `messages.0.message`. */
export function titleOfPath(schema: unknown, path: string): string {
  return walk(schema, path).titles.join(' › ');
}

/** Returns the schema of the field at a problem's path, empty for an unknown one. */
export function schemaAt(schema: unknown, path: string): JsonObject {
  return walk(schema, path).field;
}

function walk(schema: unknown, path: string): { titles: string[]; field: JsonObject } {
  const titles: string[] = [];
  const definitions = asObject(asObject(schema)['$defs']);
  const plainOf = (field: JsonObject): JsonObject => {
    const reference = asText(field['$ref'])?.replace('#/$defs/', '');
    return withoutNull(reference === undefined ? field : asObject(definitions[reference]));
  };
  let current = asObject(schema);
  for (const part of path === '' ? [] : path.split('.')) {
    const plain = plainOf(current);
    if (/^\d+$/.test(part) && isObject(plain['items'])) {
      titles.push(`${titles.pop() ?? ''} ${Number(part) + 1}`.trim());
      current = plain['items'];
    } else {
      // The field may belong to the object itself, or to one or more of its variants; the first of them counts.
      const forms = [plain, ...variantsOf(plain)].map(propertiesOf);
      const property = forms.find((properties) => Object.hasOwn(properties, part))?.[part];
      titles.push(property === undefined ? part : titleOf(property, part));
      current = property ?? {};
    }
  }
  return { titles, field: plainOf(current) };
}

interface VariantOption {
  label: string;
  value?: unknown;
  /** Schema of an alternative that is an object with fields. */
  schema?: JsonObject;
}

/** True if an object has the constants that identify the alternative. */
export function hasConstants(schema: JsonObject, value: JsonObject): boolean {
  return Object.entries(propertiesOf(schema)).every(
    ([key, property]) => !Object.hasOwn(property, 'const') || value[key] === property['const'],
  );
}

/** Returns the alternatives to select: words, and objects with fields. Omits any other. */
export function variantOptions(schema: JsonObject): VariantOption[] {
  return variantsOf(schema).flatMap((variant): VariantOption[] => {
    const words = asArray(variant['enum'] ?? (Object.hasOwn(variant, 'const') ? [variant['const']] : []));
    if (words.length > 0) return words.map((word) => ({ label: String(word), value: word }));
    const keys = Object.keys(propertiesOf(variant));
    if (!typesOf(variant).includes('object') || keys.length === 0) return [];
    return [
      {
        label:
          asText(variant['title']) ??
          `with ${keys.map((key) => titleOf(propertiesOf(variant)[key]!, key)).join(' and ')}`,
        schema: variant,
      },
    ];
  });
}
