// Finds the secrets of a drawing and an input (Specification, "Trigger input field"), cuts them out for storage, and
// puts them back for a run.
import { ExactNumber } from './exact-number.js';
import { isEmpty, isObject, leavesOf, ownValue, setOwn, type JsonObject } from './json.js';
import { kinds, traitsOf, type KindTraits } from './kinds.js';
import { kindOfType } from './nodes/registry.js';
import type { RunInput } from './variable.js';

/** Replaces a secret in everything that leaves the service. */
export const MASK = '********';

/**
 * The secrets of a drawing by their place: `field:<node>:<field>`, `header:<node>[:<tool server>]:<header>`. An entry
 * `lost:<place>` means that an update has sent `********` for a place without a stored value (`graph/lost-secrets.ts`).
 */
export type SecretMap = Record<string, unknown>;

/** A place that may hold a secret. */
interface SecretPlace {
  name: string;
  /** The trigger or tool server that the place belongs to. The place's name begins with it. */
  owner: string;
  /** The server that a header is sent to; empty for a field. */
  origin: string;
  nodeId: unknown;
  /** The path inside the node's data. */
  path: string;
  /** The field's id or the header's name. */
  label: string;
}

type Replace = (value: unknown, place: SecretPlace) => unknown;

/** The lists of all kinds, so that secrets stay secret when a node changes its type. */
export const SECRET_FIELDS = Object.values(kinds).flatMap(({ secretFields }): readonly string[] => secretFields);

const CREDENTIAL_HEADER = /^(?:authorization|proxy-authorization|cookie|.*[-_](?:key|token)|key|token)$/i;

export function isCredentialHeader(name: string): boolean {
  return CREDENTIAL_HEADER.test(name);
}

export function isSecretField(field: JsonObject): boolean {
  return field['is_secret'] === true;
}

/**
 * Cuts every secret out of a drawing. With `stored` (the masked document before an update, and its secrets), `********`
 * keeps the value stored at the same place or at its former name. A header keeps its value only while it is sent to the
 * same server. Where nothing was stored, the value is lost, unless the place already held a literal `********`.
 */
export function splitSecrets(
  data: JsonObject,
  stored?: { data: JsonObject; secrets: SecretMap },
): { masked: JsonObject; secrets: SecretMap } {
  const before = stored && storedPlaces(stored);
  const renamed = before === undefined ? undefined : findRenamed(before, data);
  const secrets: SecretMap = {};
  const masked = mapSecrets(data, (value, { name, origin }) => {
    if (isEmpty(value)) return value;
    const known = before?.get(renamed?.get(name) ?? name);
    if (value !== MASK) secrets[name] = value;
    else if (known?.origin === origin && 'secret' in known) secrets[name] = known.secret;
    else if (before !== undefined && !(known?.origin === origin && known.isLiteral)) secrets[lostName(name)] = true;
    return MASK;
  });
  return { masked, secrets };
}

interface StoredPlace {
  owner: string;
  origin: string;
  /** Returns whether the workflow was created with a literal `********` here. */
  isLiteral: boolean;
  secret?: unknown;
}

function storedPlaces({ data, secrets }: { data: JsonObject; secrets: SecretMap }): Map<string, StoredPlace> {
  const places = new Map<string, StoredPlace>();
  mapSecrets(data, (value, { name, owner, origin }) => {
    const isKnown = Object.hasOwn(secrets, name);
    const isLiteral = value === MASK && !isKnown && !isLost(secrets, name);
    places.set(name, { owner, origin, isLiteral, ...(isKnown ? { secret: secrets[name] } : {}) });
    return value;
  });
  return places;
}

/**
 * Maps the new name of a place to its old one. If exactly one stored secret of an owner has disappeared and exactly one
 * new place of that owner holds `********`, the place was renamed.
 */
function findRenamed(before: ReadonlyMap<string, StoredPlace>, data: JsonObject): Map<string, string> {
  const gone = new Map([...before].filter(([, place]) => 'secret' in place).map(([name, { owner }]) => [name, owner]));
  const come = new Map<string, string>();
  mapSecrets(data, (value, { name, owner }) => {
    gone.delete(name);
    if (value === MASK && !before.has(name)) come.set(name, owner);
    return value;
  });
  const [oneGone, oneCome] = [onlyOnes(gone), onlyOnes(come)];
  return new Map([...oneCome].flatMap(([owner, name]) => (oneGone.has(owner) ? [[name, oneGone.get(owner)!]] : [])));
}

/** Returns by owner the names whose owner has no other name. */
function onlyOnes(owners: ReadonlyMap<string, string>): Map<string, string> {
  const counts = new Map<string, number>();
  for (const owner of owners.values()) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  return new Map([...owners].flatMap(([name, owner]) => (counts.get(owner) === 1 ? [[owner, name]] : [])));
}

function lostName(name: string): string {
  return `lost:${name}`;
}

export function isLost(secrets: SecretMap, name: string): boolean {
  return Object.hasOwn(secrets, lostName(name));
}

/** Reverses `splitSecrets`. */
export function joinSecrets(masked: JsonObject, secrets: SecretMap): JsonObject {
  return mapSecrets(masked, (value, { name }) =>
    value === MASK && Object.hasOwn(secrets, name) ? secrets[name] : value,
  );
}

/** Returns a copy of the drawing with `replace` applied to every place that may hold a secret. */
export function mapSecrets(data: JsonObject, replace: Replace): JsonObject {
  const uses = new Map<string, number>();
  const unique: Replace = (value, place) => {
    const use = (uses.get(place.name) ?? 0) + 1;
    uses.set(place.name, use);
    return replace(value, use === 1 ? place : { ...place, name: `${place.name}#${use}` });
  };
  return mapArray(data, 'nodes', (node, index) =>
    mapObject(node, 'data', (nodeData) => mapNode({ node, part: toNamePart(node['id'], index) }, nodeData, unique)),
  );
}

interface Owner {
  node: JsonObject;
  /** The node's id, encoded for the name of a place. */
  part: string;
}

function mapNode({ node, part }: Owner, data: JsonObject, replace: Replace): JsonObject {
  const nodeId = node['id'];
  const withFields = SECRET_FIELDS.reduce((mapped, list) => mapFields({ node, part }, mapped, list, replace), data);
  const { servers } = traitsOfType(node['type']);
  if (servers === 'self') {
    return mapHeaders(withFields, { owner: `header:${part}`, nodeId, path: 'headers' }, replace);
  }
  if (servers === 'none') return withFields;
  return mapArray(withFields, 'tools', (tool, index) => {
    const owner = `header:${part}:${toNamePart(tool['server_label'], index)}`;
    return mapHeaders(tool, { owner, nodeId, path: `tools.${index}.headers` }, replace);
  });
}

function mapFields({ node, part }: Owner, data: JsonObject, list: string, replace: Replace): JsonObject {
  return mapArray(data, list, (field, index) => {
    if (!isSecretField(field) || !Object.hasOwn(field, 'default_value')) return field;
    const owner = `field:${part}`;
    const path = `${list}.${index}.default_value`;
    const { id, default_value: value } = field;
    const label = typeof id === 'string' ? id : path;
    const place = { name: `${owner}:${toNamePart(id, index)}`, owner, origin: '', nodeId: node['id'], path, label };
    return { ...field, default_value: replace(value, place) };
  });
}

/** Only fields are secret if the type is unknown. */
export function traitsOfType(type: unknown): Pick<KindTraits, 'servers'> {
  const kind = typeof type === 'string' ? kindOfType(type) : undefined;
  return kind === undefined ? { servers: 'none' } : traitsOf(kind);
}

function mapHeaders(
  server: JsonObject,
  of: Pick<SecretPlace, 'owner' | 'nodeId' | 'path'>,
  replace: Replace,
): JsonObject {
  const origin = toOrigin(server['endpoint_url']);
  return mapObject(server, 'headers', (headers) =>
    Object.fromEntries(
      Object.entries(headers).map(([header, value]) => {
        if (!isCredentialHeader(header)) return [header, value];
        const name = `${of.owner}:${toNamePart(header.toLowerCase(), 0)}`;
        return [header, replace(value, { ...of, name, origin, label: header, path: `${of.path}.${header}` })];
      }),
    ),
  );
}

export function mapArray(
  owner: JsonObject,
  key: string,
  map: (item: JsonObject, index: number) => JsonObject,
): JsonObject {
  const items = ownValue(owner, key);
  if (!Array.isArray(items)) return owner;
  return { ...owner, [key]: items.map((item: unknown, index) => (isObject(item) ? map(item, index) : item)) };
}

export function mapObject(owner: JsonObject, key: string, map: (value: JsonObject) => JsonObject): JsonObject {
  const value = ownValue(owner, key);
  return isObject(value) ? { ...owner, [key]: map(value) } : owner;
}

/** Encodes an id for the name of a place, without collisions. An item that has no id yet gets its position instead. */
function toNamePart(id: unknown, index: number): string {
  if (typeof id !== 'string') return `#${index}`;
  return id.replace(/[%:#]/g, (reserved) => `%${reserved.charCodeAt(0).toString(16)}`);
}

function toOrigin(url: unknown): string {
  if (typeof url !== 'string') return '';
  const origin = URL.canParse(url) ? new URL(url).origin : 'null';
  return origin === 'null' ? url : origin;
}

/** Returns the masked input, and the texts that must be masked wherever else they occur. */
export function maskInput(
  fields: readonly JsonObject[],
  input: RunInput,
): { masked: RunInput; secretValues: string[] } {
  const secretValues = new Set<string>();
  const masked = mapInput(fields.filter(isSecretField), input, (value) => {
    for (const text of secretStrings(value)) secretValues.add(text);
    return MASK;
  });
  return { masked, secretValues: [...secretValues] };
}

/**
 * Replaces `********` in the fields of the input: in a secret one by the stored value, in any other, or if `stored` returns
 * undefined, by null. The field counts as not given then, because `********` is never a value.
 */
export function keepInputSecrets(
  fields: readonly JsonObject[],
  input: RunInput,
  stored: (fieldId: string) => unknown,
): RunInput {
  return mapInput(fields, input, (value, fieldId, isSecret) => {
    if (value !== MASK) return value;
    return isSecret ? (stored(fieldId) ?? null) : null;
  });
}

function mapInput(
  fields: readonly JsonObject[],
  input: RunInput,
  replace: (value: unknown, fieldId: string, isSecret: boolean) => unknown,
): RunInput {
  const copy: RunInput = Array.isArray(input) ? [...input] : { ...input };
  for (const field of fields) {
    const { id } = field;
    const value = typeof id === 'string' ? ownValue(input, id) : undefined;
    if (typeof id === 'string' && !isEmpty(value)) setOwn(copy, id, replace(value, id, isSecretField(field)));
  }
  return copy;
}

/** Returns the texts to mask for a drawing's secrets. A credential is also masked without its scheme. */
export function secretTexts(secrets: SecretMap): string[] {
  return Object.entries(secrets).flatMap(([name, value]) => {
    const texts = secretStrings(value);
    if (!name.startsWith('header:')) return texts;
    return texts.flatMap(credentialTexts);
  });
}

/** Returns `Bearer abc` and `abc`, because a server that quotes a credential may omit its scheme. */
export function credentialTexts(headerValue: string): string[] {
  return [headerValue, headerValue.replace(/^[\w-]+\s+/, '')];
}

/** Returns the texts to mask for a secret value: its strings and the text of its numbers, at any depth. */
export function secretStrings(value: unknown): string[] {
  return leavesOf(value).flatMap((leaf) => {
    if (typeof leaf === 'string') return [leaf];
    return typeof leaf === 'number' || leaf instanceof ExactNumber ? [String(leaf)] : [];
  });
}
