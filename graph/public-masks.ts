// Finds `********` where nothing is secret: it would be sent as it stands (Specification, "Trigger input field").
import { ownValue, type JsonObject } from './json.js';
import {
  isCredentialHeader,
  isSecretField,
  mapArray,
  mapObject,
  MASK,
  SECRET_FIELDS,
  traitsOfType,
} from './secrets.js';

export interface PublicMask {
  kind: 'field' | 'header';
  nodeId: unknown;
  /** The field's id or the header's name. */
  label: string;
  /** The path inside the node's data. */
  path: string;
}

/** In defaults of fields that are not secret, and in headers whose values are not stored as secrets. */
export function findPublicMasks(drawing: JsonObject): PublicMask[] {
  const found: PublicMask[] = [];
  mapArray(drawing, 'nodes', (node) => {
    const { id: nodeId } = node;
    const { servers } = traitsOfType(node['type']);
    const inHeaders = (owner: JsonObject, path: string, isServer: boolean): JsonObject =>
      mapObject(owner, 'headers', (headers) => {
        for (const [label, value] of Object.entries(headers)) {
          if (value !== MASK || (isServer && isCredentialHeader(label))) continue;
          found.push({ kind: 'header', nodeId, label, path: `${path}headers.${label}` });
        }
        return headers;
      });
    return mapObject(node, 'data', (data) => {
      for (const list of SECRET_FIELDS) {
        mapArray(data, list, (field, index) => {
          const label = typeof field['id'] === 'string' ? field['id'] : '';
          const isMask = ownValue(field, 'default_value') === MASK && !isSecretField(field);
          if (isMask) found.push({ kind: 'field', nodeId, label, path: `${list}.${index}.default_value` });
          return field;
        });
      }
      mapArray(data, 'tools', (tool, index) => inHeaders(tool, `tools.${index}.`, servers === 'tools'));
      return inHeaders(data, '', servers === 'self');
    });
  });
  return found;
}

/** Those of a drawing that are not in the one before it: a secret has stood there, or nothing has. */
export function newPublicMasks(drawing: JsonObject, before: JsonObject): PublicMask[] {
  const known = new Set(findPublicMasks(before).map(nameOf));
  return findPublicMasks(drawing).filter((mask) => !known.has(nameOf(mask)));
}

function nameOf({ kind, nodeId, label }: PublicMask): string {
  return JSON.stringify([kind, nodeId, label]);
}
