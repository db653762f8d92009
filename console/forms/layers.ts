// Forms in layers: what is needed first, then the rest. The schema decides, for all kinds.
import { asObject, asText, isObject, isEqualJson, type JsonObject } from '../ui/json.js';
import { isRequired, propertiesOf, shapeOf, typesOf, variantsOf, withoutNull } from './schema.js';

/** Returns the schema of the fields that come first, and the schema of the others. `begun` are the keys with values. */
export function layersOf(schema: JsonObject, begun: ReadonlySet<string>): [first: JsonObject, more: JsonObject] {
  const entries = Object.entries(propertiesOf(schema));
  const deciding = new Set(entries.flatMap(([, property]) => Object.keys(asObject(property['when']))));
  const isFirst = ([key, property]: [string, JsonObject]): boolean =>
    isRequired(schema, key) || begun.has(key) || deciding.has(key) || isNeeded(key, property);
  const part = (some: typeof entries): JsonObject => ({ ...schema, properties: Object.fromEntries(some) });
  return [part(entries.filter(isFirst)), part(entries.filter((entry) => !isFirst(entry)))];
}

/** A person has to know of fields without a default, of those of the chosen mode, and of tables and lists. */
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

/** Returns whether a field has a value of its own, and not just what it would have without one. */
export function isSet(schema: JsonObject, key: string, owner: JsonObject): boolean {
  const value = owner[key];
  const isEmpty =
    value === undefined || value === null || value === '' || isEqualJson(value, {}) || isEqualJson(value, []);
  return !isEmpty && !isEqualJson(value, propertiesOf(schema)[key]?.['default']);
}

/** Returns the schema without the fields that count in another mode than the chosen one. */
export function withoutOtherModes(schema: JsonObject, owner: JsonObject): JsonObject {
  const properties = propertiesOf(schema);
  const counts = ([, property]: [string, JsonObject]): boolean =>
    !isObject(property['when']) ||
    Object.entries(property['when']).every(([key, wanted]) => (owner[key] ?? properties[key]?.['default']) === wanted);
  return { ...schema, properties: Object.fromEntries(Object.entries(properties).filter(counts)) };
}

/** Returns the schema with these fields alone, in the order of their keys here. */
export function onlyFields(schema: JsonObject, keys: readonly string[]): JsonObject {
  const properties = propertiesOf(schema);
  const chosen = keys.flatMap((key) => (properties[key] === undefined ? [] : [[key, properties[key]] as const]));
  return { ...schema, properties: Object.fromEntries(chosen) };
}

/** Returns the schema without these fields. */
export function withoutFields(schema: JsonObject, keys: readonly string[]): JsonObject {
  const left = Object.entries(propertiesOf(schema)).filter(([key]) => !keys.includes(key));
  return { ...schema, properties: Object.fromEntries(left) };
}
