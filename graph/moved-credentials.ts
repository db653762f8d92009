// Moves literal credentials out of the headers and addresses of a drawing into connections (docs/use/connections.md).
import { toBasic, withoutCredentials } from './address-credentials.js';
import { mapConnections } from './connections.js';
import { isObject, type JsonObject } from './json.js';
import { credentialHeadersOf, type CredentialHeader } from './literal-credentials.js';
import { MASK } from './mask-text.js';
import { pushTo } from './push-to.js';
import { isInAddress, mapArray, mapObject, mapSecrets } from './secrets.js';
import { findExpressions } from './template.js';

const MOST_HEADERS = 5;

/** The credential headers of a node, or of an agent's tool server, that one connection can send instead. */
export interface CredentialMove {
  nodeId: string;
  /**
   * The path inside the node's data of the object with the headers: `tools.<index>` of an agent, or empty for the data
   * itself.
   */
  owner: string;
  origin: string;
  headers: { name: string; value: string }[];
  /** The field whose address contains a user name and password, which `headers` lists as `Authorization`. */
  address?: string;
}

export interface CredentialLeft {
  nodeId: string;
  path: string;
  reason: string;
}

/**
 * Finds the credentials that can move. `drawing` must contain its secrets; a remaining `********` has no value and is
 * skipped.
 */
export function findCredentialMoves(drawing: JsonObject): { moves: CredentialMove[]; left: CredentialLeft[] } {
  const connected = ownersWithConnection(drawing);
  const repeated = repeatedIds(drawing);
  const left: CredentialLeft[] = [];
  const byOwner = new Map<string, FoundCredential[]>();
  const authorized = new Set<string>();
  for (const found of [...credentialHeadersOf(drawing), ...addressCredentialsOf(drawing)]) {
    if (found.value === MASK) continue;
    const key = ownerKey(found.nodeId, found.owner);
    const isTwice = found.name.toLowerCase() === 'authorization' && authorized.has(key);
    if (found.name.toLowerCase() === 'authorization') authorized.add(key);
    const reason = repeated.has(found.nodeId)
      ? 'Two nodes have its id.'
      : reasonToStay(found, { hasConnection: connected.has(key), isTwice });
    if (reason === undefined) pushTo(byOwner, key, found);
    else left.push(leave(found, reason));
  }
  const moves: CredentialMove[] = [];
  for (const headers of byOwner.values()) {
    const { nodeId, owner, origin } = headers[0]!;
    if (headers.length <= MOST_HEADERS) {
      const address = headers.find((header) => header.address !== undefined)?.address;
      const moved = headers.map(({ name, value, ...of }) => ({ name, value: of.address ? toBasic(value) : value }));
      moves.push({ nodeId, owner, origin, headers: moved, ...(address !== undefined && { address }) });
    } else {
      left.push(
        ...headers.map((header) => leave(header, `A connection holds ${MOST_HEADERS} headers, and here are more.`)),
      );
    }
  }
  return { moves, left };
}

/** Converts a move to credentials that stay in place. */
export function leaveMove({ nodeId, owner, headers, address }: CredentialMove, reason: string): CredentialLeft[] {
  const place = owner === '' ? '' : `${owner}.`;
  return headers.map(({ name }) => {
    const isInHeaders = address === undefined || name !== AUTHORIZATION;
    return { nodeId, path: place + (isInHeaders ? `headers.${name}` : address), reason };
  });
}

/** Returns a copy of the drawing with the moves' connections in place of their credentials. */
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
    const { address } = move;
    const stripped = address === undefined ? {} : { [address]: withoutCredentials(holder[address]) };
    return { ...without, ...stripped, connection: move.connection };
  };
  return mapArray(drawing, 'nodes', (node) =>
    mapObject(node, 'data', (data) =>
      mapArray(inOwner(node, '', data), 'tools', (tool, index) => inOwner(node, `tools.${index}`, tool)),
    ),
  );
}

/** `address`: the field whose address contains the value, a user name and password. */
type FoundCredential = CredentialHeader & { address?: string };

const AUTHORIZATION = 'Authorization';

function addressCredentialsOf(drawing: JsonObject): FoundCredential[] {
  const found: FoundCredential[] = [];
  mapSecrets(drawing, (value, { name, nodeId, origin, path, label }) => {
    if (!isInAddress({ name }) || typeof nodeId !== 'string') return value;
    const owner = path.slice(0, -`.${label}`.length);
    found.push({ nodeId, owner, origin, name: AUTHORIZATION, path, value: String(value), address: label });
    return value;
  });
  return found;
}

function reasonToStay(
  { value, origin }: CredentialHeader,
  { hasConnection, isTwice }: { hasConnection: boolean; isTwice: boolean },
): string | undefined {
  if (hasConnection) return 'The node has a connection already.';
  if (isTwice) return 'The node has an Authorization header, which is what it sends.';
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
