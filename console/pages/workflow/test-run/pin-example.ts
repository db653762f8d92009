// Examples of results, made from the output schemas of nodes.
import { isObject, type JsonObject } from '../../../../graph/json.js';
import { asArray } from '../../../ui/json.js';

const MOST_DEPTH = 6;

/** Returns a result with the required fields of the schema, and in them the schema's values, such as defaults. */
export function exampleOf(schema: unknown): JsonObject {
  const example = valueOf(schema, 0);
  return isObject(example) ? { content: '', ...example } : { content: '' };
}

function valueOf(schema: unknown, depth: number): unknown {
  if (!isObject(schema) || depth > MOST_DEPTH) return null;
  for (const key of ['const', 'default']) if (Object.hasOwn(schema, key)) return schema[key];
  const [choice] = [...asArray(schema['examples']), ...asArray(schema['enum'])];
  if (choice !== undefined) return choice;
  const variant = asArray(schema['anyOf'] ?? schema['oneOf']).find((each) => isObject(each) && each['type'] !== 'null');
  return variant === undefined ? ofType(schema, depth) : valueOf(variant, depth);
}

function ofType(schema: JsonObject, depth: number): unknown {
  const [type] = asArray(Array.isArray(schema['type']) ? schema['type'] : [schema['type']]);
  switch (type) {
    case 'object': {
      const properties = isObject(schema['properties']) ? schema['properties'] : {};
      const required = asArray(schema['required']);
      const shown = Object.entries(properties).filter(([key]) => required.includes(key));
      return Object.fromEntries(shown.map(([key, property]) => [key, valueOf(property, depth + 1)]));
    }
    case 'array':
      return isObject(schema['items']) && Object.keys(schema['items']).length > 0
        ? [valueOf(schema['items'], depth + 1)]
        : [];
    case 'string':
      return '';
    case 'number':
    case 'integer':
      return Math.max(0, Number(schema['minimum'] ?? 0));
    case 'boolean':
      return false;
    default:
      return null;
  }
}
