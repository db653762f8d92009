// Finds the secrets of a drawing and an input (docs/operate/security.md), cuts them out for storage, and puts them back
// for a run.
import { actionOfTool, holdsLiteral, isCredentialField, readAction } from './actions/action.js';
import { percentEncoded } from './actions/styled-value.js';
import { addressSecretTexts, areOnlyVariables, joinAddress, splitAddress } from './address-credentials.js';
import { credentialLiteralsOf, isCredentialHeader, isOnlyVariables } from './credential-headers.js';
import { ExactNumber } from './exact-number.js';
import { isEmpty, isObject, leavesOf, ownValue, setOwn, type JsonObject } from './json.js';
import { kinds, traitsOf, type KindTraits } from './kinds.js';
import { MASK } from './mask-text.js';
import { kindOfType } from './nodes/registry.js';
import type { RunInput } from './variable.js';

/**
 * The secrets of a drawing by their place: `field:<node>:<field>`, `header:<node>[:<tool server>]:<header>`,
 * `value:<node>[:<tool>]:<action>/<field>` for a value of an action, and `address:<node>[:<tool server>]` for the user
 * name and password in an address. An entry `lost:<place>` means that an update sent `********` for a place without a
 * stored value (`graph/lost-secrets.ts`).
 */
export type SecretMap = Record<string, unknown>;

export interface SecretPlace {
  name: string;
  /** The node, or the tool of an agent, that the place belongs to, as a prefix of the place's name. */
  owner: string;
  /**
   * The origin that receives a header or the credentials of an address (`toOrigin`). For a value of an action, the
   * service and its server as JSON text. Empty for a field.
   */
  origin: string;
  nodeId: unknown;
  /** The path inside the node's data. */
  path: string;
  /** The id of a field, the name of a header, the key of an action's value, or the field that holds an address. */
  label: string;
}

const ADDRESS = 'address:';

export function isInAddress({ name }: { name: string }): boolean {
  return name.startsWith(ADDRESS);
}

const VALUE = 'value:';

/** True if the place is a value of an action. */
export function isInValues({ name }: { name: string }): boolean {
  return name.startsWith(VALUE);
}

type Replace = (value: unknown, place: SecretPlace) => unknown;

/** The lists of all kinds, so that secrets stay secret when a node changes its type. */
export const SECRET_FIELDS = Object.values(kinds).flatMap(({ secretFields }): readonly string[] => secretFields);

export function isSecretField(field: JsonObject): boolean {
  return field['is_secret'] === true;
}

/** A masked document and its secrets. */
interface Split {
  data: JsonObject;
  secrets: SecretMap;
}

/**
 * Cuts every secret out of a drawing. The credential of a header, an address or an action is not a secret if it
 * consists only of variables. If `stored` (the masked document before an update, and its secrets) is passed, `********`
 * stands for the value stored at the same place, even if the place was renamed. A header, an address or a value of an
 * action keeps its secret only while its origin (`SecretPlace`) stays the same. If no value is stored, the secret is
 * lost, unless the place already held a literal `********`. A value in `draft` takes precedence over a stored one.
 */
export function splitSecrets(
  data: JsonObject,
  stored?: Split,
  draft?: Split,
): { masked: JsonObject; secrets: SecretMap } {
  const before = stored && placeFinder(stored, data);
  const drafted = draft && placeFinder(draft, data);
  const secrets: SecretMap = {};
  const masked = mapPlaces(data, (value, { isSecret, ...place }) => {
    if (isEmpty(value)) return value;
    const { name } = place;
    const kept = value === MASK ? (withSecret(drafted?.(place)) ?? withSecret(before?.(place))) : undefined;
    // A value that is stored as a secret stays one, even if its place is no longer secret.
    if (!isSecret && kept === undefined) return value;
    if (kept !== undefined) secrets[name] = kept.secret;
    else if (value !== MASK) secrets[name] = value;
    // An address with a user name is not noted as lost, because other checks refuse it.
    else if (isInAddress({ name })) return value;
    else if (before !== undefined && before(place)?.isLiteral !== true) secrets[lostName(name)] = true;
    return MASK;
  });
  return { masked, secrets };
}

/** Returns the places of `data` with `********` for which `draft` has a value, and `stored` has none. */
export function placesOfDraftOnly(data: JsonObject, stored: Split, draft: Split): SecretPlace[] {
  const [before, drafted] = [placeFinder(stored, data), placeFinder(draft, data)];
  const found: SecretPlace[] = [];
  mapPlaces(data, (value, place) => {
    const isOnly =
      value === MASK && withSecret(before(place)) === undefined && withSecret(drafted(place)) !== undefined;
    if (isOnly) found.push(place);
    return value;
  });
  return found;
}

/** Returns the function that finds a place of `data` in an earlier drawing, if it has the same origin there. */
function placeFinder(earlier: Split, data: JsonObject): (place: SecretPlace) => StoredPlace | undefined {
  const before = storedPlaces(earlier);
  const renamed = findRenamed(before, data);
  return ({ name, origin }) => {
    const known = before.get(renamed.get(name) ?? name);
    return known?.origin === origin ? known : undefined;
  };
}

function withSecret(place: StoredPlace | undefined): StoredPlace | undefined {
  return place !== undefined && 'secret' in place ? place : undefined;
}

/** Cuts out secrets of a stored drawing that the build which stored it didn't recognise. */
export function splitRest(stored: Split): Split {
  const { masked, secrets } = splitSecrets(stored.data);
  return { data: masked, secrets: { ...stored.secrets, ...secrets } };
}

interface StoredPlace {
  owner: string;
  origin: string;
  /** True if `********` here is a literal text: no value is stored for it, and none is noted as lost. */
  isLiteral: boolean;
  secret?: unknown;
}

function storedPlaces({ data, secrets }: Split): Map<string, StoredPlace> {
  const places = new Map<string, StoredPlace>();
  mapPlaces(data, (value, { name, owner, origin }) => {
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
  mapPlaces(data, (value, { name, owner, isSecret }) => {
    gone.delete(name);
    if (isSecret && value === MASK && !before.has(name)) come.set(name, owner);
    return value;
  });
  const [oneGone, oneCome] = [onlyOnes(gone), onlyOnes(come)];
  return new Map([...oneCome].flatMap(([owner, name]) => (oneGone.has(owner) ? [[name, oneGone.get(owner)!]] : [])));
}

/** Returns, by owner, the names whose owner has no other name. */
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
  return mapPlaces(masked, (value, { name }) =>
    value === MASK && Object.hasOwn(secrets, name) ? secrets[name] : value,
  );
}

/** Returns a copy of the drawing with `replace` applied to every place of a secret, even if its value is empty. */
export function mapSecrets(data: JsonObject, replace: Replace): JsonObject {
  return mapPlaces(data, (value, { isSecret, ...place }) => (isSecret ? replace(value, place) : value));
}

/** A header of a node that sends headers, whatever its name. */
export interface HeaderPlace {
  nodeId: unknown;
  /** The path inside the node's data of the object with the headers: `tools.<index>`, or empty for the data itself. */
  owner: string;
  /** The origin that receives the header (`toOrigin`). */
  origin: string;
  name: string;
  /** The path inside the node's data. */
  path: string;
  value: unknown;
}

export function headersOf(data: JsonObject): HeaderPlace[] {
  const found: HeaderPlace[] = [];
  mapPlaces(data, (value, { name, origin, nodeId, label, path }) => {
    if (!name.startsWith('header:')) return value;
    const owner = path.slice(0, -`.headers.${label}`.length);
    found.push({ nodeId, owner, origin, name: label, path, value });
    return value;
  });
  return found;
}

/**
 * Called for every secret field with a default, every header of a node or tool that sends headers, the credentials in
 * its address, and the values of an action that are credentials or `********`.
 */
type ReplaceAny = (value: unknown, place: SecretPlace & { isSecret: boolean }) => unknown;

function mapPlaces(data: JsonObject, replace: ReplaceAny): JsonObject {
  const uses = new Map<string, number>();
  const unique: ReplaceAny = (value, place) => {
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

function mapNode({ node, part }: Owner, data: JsonObject, replace: ReplaceAny): JsonObject {
  const nodeId = node['id'];
  const withFields = SECRET_FIELDS.reduce((mapped, list) => mapFields({ node, part }, mapped, list, replace), data);
  const { servers } = traitsOfType(node['type']);
  if (servers === 'none') return withFields;
  if (servers !== 'tools') {
    const withServer = mapServer(withFields, servers, { nodeId, part, path: '' }, replace);
    return servers === 'url'
      ? mapValues(withServer, ownValue(data, 'action'), { nodeId, part, path: '' }, replace)
      : withServer;
  }
  return mapArray(withFields, 'tools', (tool, index) => {
    const action = actionOfTool(tool);
    if (action !== undefined) {
      const { service, id } = action;
      const label = toNamePart(tool['name'] ?? `${String(service)}/${String(id)}`, index);
      return mapValues(tool, action, { nodeId, part: `${part}:${label}`, path: `tools.${index}.` }, replace);
    }
    const server = { nodeId, part: `${part}:${toNamePart(tool['server_label'], index)}`, path: `tools.${index}.` };
    return mapServer(tool, 'endpoint_url', server, replace);
  });
}

interface ServerPlace {
  nodeId: unknown;
  /** The node and, for an agent, the tool, encoded for the name of a place. */
  part: string;
  /** The path inside the node's data to the fields of the server or action, with a trailing dot unless empty. */
  path: string;
}

function mapServer(
  server: JsonObject,
  key: 'url' | 'endpoint_url',
  { nodeId, part, path }: ServerPlace,
  replace: ReplaceAny,
): JsonObject {
  const origin = toOrigin(server[key]);
  const mapped = mapHeaders(server, { owner: `header:${part}`, origin, nodeId, path: `${path}headers` }, replace);
  const split = splitAddress(server[key]);
  if (split === undefined) return mapped;
  const name = `${ADDRESS}${part}`;
  const replaced = replace(split.credentials, {
    name,
    owner: name,
    origin: toOrigin(joinAddress(split, '')),
    nodeId,
    path: `${path}${key}`,
    label: key,
    isSecret: !areOnlyVariables(split.credentials),
  });
  return { ...mapped, [key]: joinAddress(split, String(replaced)) };
}

/**
 * Applies `replace` to the values of an action's credential fields. `********` in another field is a place, too,
 * because the field may have been a credential field when the value was stored.
 */
function mapValues(
  owner: JsonObject,
  action: unknown,
  { nodeId, part, path }: ServerPlace,
  replace: ReplaceAny,
): JsonObject {
  if (!isObject(action)) return owner;
  const { service, id } = action;
  const server = readAction(action)?.facts?.server ?? '';
  const of = { owner: `${VALUE}${part}`, origin: JSON.stringify([service, server]), nodeId };
  return mapObject(owner, 'values', (values) =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => {
        const isCredential = isCredentialField(action, key);
        if (!isCredential && value !== MASK) return [key, value];
        const name = `${of.owner}:${toNamePart(`${String(id)}/${key}`, 0)}`;
        const place = { ...of, name, label: key, path: `${path}values.${key}` };
        return [key, replace(value, { ...place, isSecret: isCredential && holdsLiteral(value) })];
      }),
    ),
  );
}

function mapFields({ node, part }: Owner, data: JsonObject, list: string, replace: ReplaceAny): JsonObject {
  return mapArray(data, list, (field, index) => {
    if (!isSecretField(field) || !Object.hasOwn(field, 'default_value')) return field;
    const owner = `field:${part}`;
    const path = `${list}.${index}.default_value`;
    const { id, default_value: value } = field;
    const label = typeof id === 'string' ? id : path;
    const name = `${owner}:${toNamePart(id, index)}`;
    const place = { name, owner, origin: '', nodeId: node['id'], path, label, isSecret: true };
    return { ...field, default_value: replace(value, place) };
  });
}

/** Nodes of an unknown type can have secrets only in fields. */
export function traitsOfType(type: unknown): Pick<KindTraits, 'servers'> {
  const kind = typeof type === 'string' ? kindOfType(type) : undefined;
  return kind === undefined ? { servers: 'none' } : traitsOf(kind);
}

function mapHeaders(
  server: JsonObject,
  of: Pick<SecretPlace, 'owner' | 'origin' | 'nodeId' | 'path'>,
  replace: ReplaceAny,
): JsonObject {
  return mapObject(server, 'headers', (headers) =>
    Object.fromEntries(
      Object.entries(headers).map(([header, value]) => {
        const name = `${of.owner}:${toNamePart(header.toLowerCase(), 0)}`;
        const isSecret = isCredentialHeader(header) && !isOnlyVariables(value);
        return [header, replace(value, { ...of, name, label: header, path: `${of.path}.${header}`, isSecret })];
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

/** Encodes an id for the name of a place, without collisions. An item without an id gets its position instead. */
function toNamePart(id: unknown, index: number): string {
  if (typeof id !== 'string') return `#${index}`;
  return id.replace(/[%:#]/g, (reserved) => `%${reserved.charCodeAt(0).toString(16)}`);
}

/** Scheme and authority, followed by the character that starts a path, query or fragment. */
const WHOLE_ORIGIN = /^\s*[a-z][a-z\d+.-]*:[/\\]{2}[^/\\?#]+[/\\?#]/i;

/**
 * Returns the literal origin of an address. If there is none, or a variable could change it, returns the whole text.
 */
function toOrigin(url: unknown): string {
  if (typeof url !== 'string') return '';
  const variable = url.indexOf('{{');
  const literal = variable < 0 ? url : url.slice(0, variable);
  if (variable >= 0 && !WHOLE_ORIGIN.test(literal)) return url;
  const origin = URL.canParse(literal) ? new URL(literal).origin : 'null';
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
 * Replaces `********` in the fields of the input: in a secret field by the stored value, otherwise by null. Null makes
 * the field count as missing, because `********` is never a value.
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

/**
 * Returns the texts to mask for a drawing's secrets, including parts of the credentials in headers, addresses and
 * values of actions.
 */
export function secretTexts(secrets: SecretMap): string[] {
  return Object.entries(secrets).flatMap(([name, value]) => {
    const texts = secretStrings(value);
    if (isInAddress({ name })) return texts.flatMap(addressSecretTexts);
    if (isInValues({ name })) return texts.flatMap(credentialTexts).flatMap(withEncoded);
    if (!name.startsWith('header:')) return texts;
    return texts.flatMap(credentialTexts);
  });
}

/** A value of the path, the query or a form is sent percent-encoded. */
function withEncoded(text: string): string[] {
  const encoded = percentEncoded(text);
  return encoded === text ? [text] : [text, encoded];
}

/**
 * Returns `Bearer abc` and `abc`, because a server that quotes a credential may omit its scheme. Also returns the text
 * between variables: the variables are filled in before the header is sent, so its whole text as drawn is never sent.
 */
export function credentialTexts(headerValue: string): string[] {
  const texts = [headerValue, headerValue.replace(/^[\w-]+\s+/, '')];
  return headerValue.includes('{{') ? [...texts, ...credentialLiteralsOf(headerValue)] : texts;
}

/**
 * Returns the literal texts of the credential headers, addresses and values of actions among a drawing's secrets,
 * without schemes and variables.
 */
export function credentialLiteralsIn(secrets: SecretMap): string[] {
  return Object.entries(secrets).flatMap(([name, value]) => {
    if (isInAddress({ name })) return secretStrings(value).flatMap(addressSecretTexts);
    const isSent = name.startsWith('header:') || isInValues({ name });
    return isSent ? secretStrings(value).flatMap(credentialLiteralsOf) : [];
  });
}

/** Returns the texts to mask for a secret value: its strings and the text of its numbers, at any depth. */
export function secretStrings(value: unknown): string[] {
  return leavesOf(value).flatMap((leaf) => {
    if (typeof leaf === 'string') return [leaf];
    return typeof leaf === 'number' || leaf instanceof ExactNumber ? [String(leaf)] : [];
  });
}
