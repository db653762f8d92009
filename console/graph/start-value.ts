import { asArray, isObject, type JsonObject } from './json.js';

/** The least value that a form can begin with: what is required, with defaults of the schema, is there; the rest is not. */
export function startValue(schema: unknown): unknown {
  if (!isObject(schema)) return '';
  if (Object.hasOwn(schema, 'const')) return schema['const'];
  if (Object.hasOwn(schema, 'default')) return structuredClone(schema['default']);
  const values = asArray(schema['enum']);
  if (values.length > 0) return values[0];
  const [variant] = asArray(schema['anyOf'] ?? schema['oneOf']);
  if (variant !== undefined) return startValue(variant);
  return startOfType(schema);
}

function startOfType(schema: JsonObject): unknown {
  const [type] = asArray(Array.isArray(schema['type']) ? schema['type'] : [schema['type']]);
  switch (type) {
    case 'object':
      return startOfObject(schema);
    case 'array':
      return Array.from({ length: Number(schema['minItems'] ?? 0) }, () => startValue(schema['items']));
    case 'boolean':
      return false;
    case 'number':
    case 'integer':
      return Number(schema['minimum'] ?? 0);
    case 'null':
      return null;
    default: {
      const [example] = asArray(schema['examples']);
      // The first example of a chat role is `system`; what a person begins with is what they ask.
      return asArray(schema['examples']).includes('user') ? 'user' : (example ?? '');
    }
  }
}

function startOfObject(schema: JsonObject): JsonObject {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  // What is required unless something else holds is there, too: a form shows it first.
  const otherwise = isObject(schema['else']) ? schema['else']['required'] : [];
  const required = new Set([...asArray(schema['required']), ...asArray(otherwise)]);
  const begun = Object.entries(properties).filter(([key]) => required.has(key));
  return Object.fromEntries(begun.map(([key, property]) => [key, startValue(property)]));
}
