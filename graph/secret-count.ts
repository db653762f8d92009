// Bounds the number of secrets of a drawing.
import { splitAddress } from './address-credentials.js';
import { isObject, ownValue, type JsonObject } from './json.js';
import { isSecretField, mapArray, mapObject, SECRET_FIELDS } from './secrets.js';

/**
 * Returns true if a drawing has more than `limit` places of secrets. Counts secret fields, the credentials in
 * addresses, and every header and value of an action as if it were a credential, because that is cheap.
 */
export function holdsMoreSecretPlacesThan(data: JsonObject, limit: number): boolean {
  let places = 0;
  const count = (entries: JsonObject): JsonObject => {
    places += Object.keys(entries).length;
    return entries;
  };
  const countCredentials = (owner: JsonObject): JsonObject => {
    for (const key of ['url', 'endpoint_url']) if (splitAddress(ownValue(owner, key)) !== undefined) places += 1;
    return mapObject(
      isObject(ownValue(owner, 'action')) || owner['type'] === 'action' ? mapObject(owner, 'values', count) : owner,
      'headers',
      count,
    );
  };
  mapArray(data, 'nodes', (node) =>
    mapObject(node, 'data', (nodeData) => {
      if (places > limit) return nodeData;
      for (const list of SECRET_FIELDS) {
        const fields = ownValue(nodeData, list);
        if (Array.isArray(fields)) places += fields.filter((field) => isObject(field) && isSecretField(field)).length;
      }
      return mapArray(countCredentials(nodeData), 'tools', countCredentials);
    }),
  );
  return places > limit;
}
