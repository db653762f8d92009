// Splits forms into fields that people need first and the rest, according to the schema.
import { isObject, isEqualJson, type JsonObject } from '../../graph/json.js';
import { asObject, asText } from '../ui/json.js';
import { isRequired, propertiesOf, shapeOf, typesOf, variantsOf, withoutNull } from './schema.js';

/** Returns the schema of the first fields and that of the others. `filled` has the keys that are set (`isSet`). */
export function layersOf(schema: JsonObject, filled: ReadonlySet<string>): [first: JsonObject, more: JsonObject] {
  const entries = Object.entries(propertiesOf(schema));
  const deciding = new Set(entries.flatMap(([, property]) => Object.keys(asObject(property['when']))));
  const isFirst = ([key, property]: [string, JsonObject]): boolean =>
    isRequired(schema, key) || filled.has(key) || deciding.has(key) || isNeeded(key, property);
  const part = (some: typeof entries): JsonObject => ({ ...schema, properties: Object.fromEntries(some) });
  return [part(entries.filter(isFirst)), part(entries.filter((entry) => !isFirst(entry)))];
}

/**
 * People need fields of the selected mode, fields with a format, tables and lists. Of the other fields, they need those
 * that have no default and cannot be null, and those that are edited as JSON and have a default.
 */
function isNeeded(key: string, property: JsonObject): boolean {
  if (property['when'] !== undefined || asText(withoutNull(property)['format']) !== undefined) return true;
  const shape = shapeOf(property, key);
  if (shape === 'list' || shape === 'record') return true;
  if (Object.hasOwn(property, 'default')) return shape === 'json';
  return !isNullable(property);
}

function isNullable(property: JsonObject): boolean {
  return [property, ...variantsOf(property)].some((each) => typesOf(each).includes('null'));
}

/** True if a field has a value that is not empty and differs from its default. */
export function isSet(schema: JsonObject, key: string, owner: JsonObject): boolean {
  const value = owner[key];
  const isEmpty =
    value === undefined || value === null || value === '' || isEqualJson(value, {}) || isEqualJson(value, []);
  return !isEmpty && !isEqualJson(value, propertiesOf(schema)[key]?.['default']);
}

/** Returns the schema without fields whose `when` names another mode than the object's. */
export function withoutOtherModes(schema: JsonObject, owner: JsonObject): JsonObject {
  const properties = propertiesOf(schema);
  const counts = ([, property]: [string, JsonObject]): boolean =>
    !isObject(property['when']) ||
    Object.entries(property['when']).every(([key, wanted]) => (owner[key] ?? properties[key]?.['default']) === wanted);
  return { ...schema, properties: Object.fromEntries(Object.entries(properties).filter(counts)) };
}

/** Returns the schema with only these fields, in the order of `keys`. */
export function onlyFields(schema: JsonObject, keys: readonly string[]): JsonObject {
  const properties = propertiesOf(schema);
  const chosen = keys.flatMap((key) => (properties[key] === undefined ? [] : [[key, properties[key]] as const]));
  return { ...schema, properties: Object.fromEntries(chosen) };
}

export function withoutFields(schema: JsonObject, keys: readonly string[]): JsonObject {
  const left = Object.entries(propertiesOf(schema)).filter(([key]) => !keys.includes(key));
  return { ...schema, properties: Object.fromEntries(left) };
}
