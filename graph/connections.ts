// The connections that a drawing names: in the data of nodes that send requests, and in the tools of agents
// (docs/use/connections.md).
import { isObject, ownValue, type JsonObject } from './json.js';
import { mapArray, mapObject, traitsOfType } from './secrets.js';

export interface ConnectionPlace {
  node: JsonObject;
  /** The path inside the node's data, such as `connection` or `tools.0.connection`. */
  path: string;
}

/**
 * Returns a copy of the drawing with `replace` applied to every value in the place of a connection. A value is removed
 * if `replace` returns undefined for it. The drawing may be invalid.
 */
export function mapConnections(
  drawing: JsonObject,
  replace: (value: unknown, place: ConnectionPlace) => unknown,
): JsonObject {
  const inOwner = (owner: JsonObject, place: ConnectionPlace): JsonObject => {
    const value = ownValue(owner, 'connection');
    if (value === undefined || value === null) return owner;
    const { connection: _named, ...rest } = owner;
    const named = replace(value, place);
    return named === undefined ? rest : { ...rest, connection: named };
  };
  return mapArray(drawing, 'nodes', (node) =>
    mapObject(node, 'data', (data) => {
      const { servers } = traitsOfType(node['type']);
      if (servers === 'none') return data;
      if (servers !== 'tools') return inOwner(data, { node, path: 'connection' });
      return mapArray(data, 'tools', (tool, index) => inOwner(tool, { node, path: `tools.${index}.connection` }));
    }),
  );
}

export interface NamedConnection extends ConnectionPlace {
  id: number;
}

/**
 * Returns the connections in the order of the drawing. Skips values that are not ids, which the node's schema reports.
 */
export function connectionsIn(drawing: JsonObject): NamedConnection[] {
  const found: NamedConnection[] = [];
  mapConnections(drawing, (value, place) => {
    if (isId(value)) found.push({ ...place, id: value });
    return value;
  });
  return found;
}

const MAX_ID = 2 ** 31 - 1;

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_ID;
}

/**
 * Returns the distinct connection ids in `document`, a drawing as JSON text. Parses the text only if it may contain
 * some, because few drawings do.
 */
export function connectionIdsOf(document: string): number[] {
  if (!document.includes('"connection"')) return [];
  const drawing: unknown = JSON.parse(document);
  return isObject(drawing) ? [...new Set(connectionsIn(drawing).map(({ id }) => id))] : [];
}

/** The field error of a connection that doesn't exist in the project. */
export const UNKNOWN_CONNECTION = 'The project has no such connection.';
