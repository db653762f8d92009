// Moves literal credentials out of the headers of a drawing, to where a connection is named. Extensions, section 10.
import { mapConnections } from './connections.js';
import { isObject, type JsonObject } from './json.js';
import { credentialHeadersOf, type CredentialHeader } from './literal-credentials.js';
import { mapArray, mapObject, MASK } from './secrets.js';
import { findExpressions } from './template.js';

/** A connection holds so many headers. */
const MOST_HEADERS = 5;

/** The credential headers of a node, or of a tool server of an agent, that one connection can send in their place. */
export interface CredentialMove {
  nodeId: string;
  /** The path inside the node's data of what has the headers: `tools.<index>` of an agent, or empty for the data itself. */
  owner: string;
  origin: string;
  headers: { name: string; value: string }[];
}

/** A credential header that stays where it is. */
export interface CredentialLeft {
  nodeId: string;
  path: string;
  reason: string;
}

/**
 * Finds the credential headers that can move. `drawing` contains its secrets: a header that is still `********` has no
 * value, and is passed over.
 */
export function findCredentialMoves(drawing: JsonObject): { moves: CredentialMove[]; left: CredentialLeft[] } {
  const connected = ownersWithConnection(drawing);
  const repeated = repeatedIds(drawing);
  const left: CredentialLeft[] = [];
  const byOwner = new Map<string, CredentialHeader[]>();
  for (const header of credentialHeadersOf(drawing)) {
    if (header.value === MASK) continue;
    const key = ownerKey(header.nodeId, header.owner);
    const reason = repeated.has(header.nodeId) ? 'Two nodes have its id.' : reasonToStay(header, connected.has(key));
    if (reason === undefined) byOwner.set(key, [...(byOwner.get(key) ?? []), header]);
    else left.push(leave(header, reason));
  }
  const moves: CredentialMove[] = [];
  for (const headers of byOwner.values()) {
    const { nodeId, owner, origin } = headers[0]!;
    if (headers.length <= MOST_HEADERS) {
      moves.push({ nodeId, owner, origin, headers: headers.map(({ name, value }) => ({ name, value })) });
    } else {
      left.push(
        ...headers.map((header) => leave(header, `A connection holds ${MOST_HEADERS} headers, and here are more.`)),
      );
    }
  }
  return { moves, left };
}

/** Returns the headers of a move as headers that stay, for the reason. */
export function leaveMove({ nodeId, owner, headers }: CredentialMove, reason: string): CredentialLeft[] {
  const place = owner === '' ? 'headers' : `${owner}.headers`;
  return headers.map(({ name }) => ({ nodeId, path: `${place}.${name}`, reason }));
}

/** Returns a copy of the drawing without the headers of the moves, and with the connections in their place. */
export function moveCredentials(
  drawing: JsonObject,
  moves: readonly (CredentialMove & { connection: number })[],
): JsonObject {
  const byOwner = new Map(moves.map((move) => [ownerKey(move.nodeId, move.owner), move]));
  const inOwner = (node: JsonObject, owner: string, holder: JsonObject): JsonObject => {
    const move = byOwner.get(ownerKey(node['id'], owner));
    if (move === undefined) return holder;
    const names = new Set(move.headers.map(({ name }) => name));
    const without = mapObject(holder, 'headers', (headers) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name))),
    );
    return { ...without, connection: move.connection };
  };
  return mapArray(drawing, 'nodes', (node) =>
    mapObject(node, 'data', (data) =>
      mapArray(inOwner(node, '', data), 'tools', (tool, index) => inOwner(node, `tools.${index}`, tool)),
    ),
  );
}

function reasonToStay({ value, origin }: CredentialHeader, hasConnection: boolean): string | undefined {
  if (hasConnection) return 'The node has a connection already.';
  if (!findExpressions(value).next().done) return 'The value has variables.';
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) return 'The address has no literal origin.';
  return undefined;
}

function leave({ nodeId, path }: CredentialHeader, reason: string): CredentialLeft {
  return { nodeId, path, reason };
}

function ownersWithConnection(drawing: JsonObject): Set<string> {
  const owners = new Set<string>();
  mapConnections(drawing, (value, { node, path }) => {
    owners.add(ownerKey(node['id'], path.replace(/\.?connection$/, '')));
    return value;
  });
  return owners;
}

function repeatedIds(drawing: JsonObject): Set<unknown> {
  const nodes: unknown[] = Array.isArray(drawing['nodes']) ? drawing['nodes'] : [];
  const seen = new Set<unknown>();
  return new Set(
    nodes.filter(isObject).flatMap(({ id }) => {
      if (seen.has(id)) return [id];
      seen.add(id);
      return [];
    }),
  );
}

function ownerKey(nodeId: unknown, owner: string): string {
  return JSON.stringify([nodeId, owner]);
}
