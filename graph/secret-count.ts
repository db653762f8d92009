// Bounds the number of secrets of a drawing.
import { isObject, ownValue, type JsonObject } from './json.js';
import { isSecretField, mapArray, mapObject, SECRET_FIELDS } from './secrets.js';

/**
 * Counts secret fields, and every header and value of an action as if it were a credential, because that is cheap. Does
 * not count the credentials in addresses.
 */
export function holdsMoreSecretPlacesThan(data: JsonObject, limit: number): boolean {
  let places = 0;
  const count = (entries: JsonObject): JsonObject => {
    places += Object.keys(entries).length;
    return entries;
  };
  const countHeaders = (owner: JsonObject): JsonObject =>
    mapObject(
      isObject(ownValue(owner, 'action')) || owner['type'] === 'action' ? mapObject(owner, 'values', count) : owner,
      'headers',
      count,
    );
  mapArray(data, 'nodes', (node) =>
    mapObject(node, 'data', (nodeData) => {
      if (places > limit) return nodeData;
      for (const list of SECRET_FIELDS) {
        const fields = ownValue(nodeData, list);
        if (Array.isArray(fields)) places += fields.filter((field) => isObject(field) && isSecretField(field)).length;
      }
      return mapArray(countHeaders(nodeData), 'tools', countHeaders);
    }),
  );
  return places > limit;
}
