// The secret rule of the specification ("Trigger input field") and of decisions section 9: where secrets stand in a
// drawing and an input, how they are cut out for storage and put back for a run.
import { isEmpty, isObject, leavesOf, ownValue, setOwn, type JsonObject } from './json.js';
import type { RunInput } from './variable.js';

/** What stands for a secret in everything that leaves the service. */
export const MASK = '********';

/** The secrets of a drawing by their place: `field:<node>:<field>`, `header:<node>[:<tool server>]:<header>`. */
export type SecretMap = Record<string, unknown>;

/** Where a secret can stand. `origin` is the server that a header goes to, empty for a field. */
interface Place {
  name: string;
  origin: string;
}

type Replace = (value: unknown, place: Place) => unknown;

const CREDENTIAL_HEADER = /^(?:authorization|proxy-authorization|cookie|.*[-_](?:key|token)|key|token)$/i;

export function isCredentialHeader(name: string): boolean {
  return CREDENTIAL_HEADER.test(name);
}

export function isSecretField(field: JsonObject): boolean {
  return field['is_secret'] === true;
}

/**
 * Cuts every secret out of a drawing. With `stored` (the document before an update, masked, and its secrets) an
 * incoming `********` keeps what was stored at the same place, for a header only while it goes to the same server;
 * anywhere else `********` is a value like any other.
 */
export function splitSecrets(
  data: JsonObject,
  stored?: { data: JsonObject; secrets: SecretMap },
): { masked: JsonObject; secrets: SecretMap } {
  const before = new Map<string, { value: unknown; origin: string }>();
  if (stored) {
    mapSecrets(stored.data, (value, { name, origin }) => {
      if (Object.hasOwn(stored.secrets, name)) before.set(name, { value: stored.secrets[name], origin });
      return value;
    });
  }
  const secrets: SecretMap = {};
  const masked = mapSecrets(data, (value, { name, origin }) => {
    if (isEmpty(value)) return value;
    const kept = before.get(name);
    if (value !== MASK) secrets[name] = value;
    else if (kept && kept.origin === origin) secrets[name] = kept.value;
    return MASK;
  });
  return { masked, secrets };
}

/** The drawing as it was before `splitSecrets`. */
export function joinSecrets(masked: JsonObject, secrets: SecretMap): JsonObject {
  return mapSecrets(masked, (value, { name }) =>
    value === MASK && Object.hasOwn(secrets, name) ? secrets[name] : value,
  );
}

/** Counted generously, every header as if it were a credential, so that counting costs next to nothing. */
export function holdsMoreSecretPlacesThan(data: JsonObject, limit: number): boolean {
  let places = 0;
  const countHeaders = (owner: JsonObject): JsonObject =>
    mapObject(owner, 'headers', (headers) => {
      places += Object.keys(headers).length;
      return headers;
    });
  mapArray(data, 'nodes', (node) =>
    mapObject(node, 'data', (nodeData) => {
      if (places > limit) return nodeData;
      const fields = ownValue(nodeData, 'input_fields');
      if (Array.isArray(fields)) places += fields.filter((field) => isObject(field) && isSecretField(field)).length;
      return mapArray(countHeaders(nodeData), 'tools', countHeaders);
    }),
  );
  return places > limit;
}

/** A copy of the drawing in which `replace` has had its way with every place where a secret can stand. */
function mapSecrets(data: JsonObject, replace: Replace): JsonObject {
  const uses = new Map<string, number>();
  const unique: Replace = (value, { name, origin }) => {
    const use = (uses.get(name) ?? 0) + 1;
    uses.set(name, use);
    return replace(value, { name: use === 1 ? name : `${name}#${use}`, origin });
  };
  return mapArray(data, 'nodes', (node, index) =>
    mapObject(node, 'data', (nodeData) => {
      const nodeId = toNamePart(node['id'], index);
      return mapNode(node['type'], nodeData, nodeId, unique);
    }),
  );
}

function mapNode(type: unknown, data: JsonObject, nodeId: string, replace: Replace): JsonObject {
  const withFields = mapArray(data, 'input_fields', (field, index) =>
    isSecretField(field) && Object.hasOwn(field, 'default_value')
      ? {
          ...field,
          default_value: replace(field['default_value'], {
            name: `field:${nodeId}:${toNamePart(field['id'], index)}`,
            origin: '',
          }),
        }
      : field,
  );
  if (type === 'mcp-node') return mapHeaders(withFields, `header:${nodeId}`, replace);
  if (type !== 'agent-node') return withFields;
  return mapArray(withFields, 'tools', (tool, index) =>
    mapHeaders(tool, `header:${nodeId}:${toNamePart(tool['server_label'], index)}`, replace),
  );
}

function mapHeaders(owner: JsonObject, prefix: string, replace: Replace): JsonObject {
  const origin = toOrigin(owner['endpoint_url']);
  return mapObject(owner, 'headers', (headers) =>
    Object.fromEntries(
      Object.entries(headers).map(([header, value]) => {
        if (!isCredentialHeader(header)) return [header, value];
        return [header, replace(value, { name: `${prefix}:${toNamePart(header.toLowerCase(), 0)}`, origin })];
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

/** An id as part of a place's name, the position where a half drawing has no id. No two ids give the same part. */
function toNamePart(id: unknown, index: number): string {
  if (typeof id !== 'string') return `#${index}`;
  return id.replace(/[%:#]/g, (reserved) => `%${reserved.charCodeAt(0).toString(16)}`);
}

function toOrigin(url: unknown): string {
  if (typeof url !== 'string') return '';
  const origin = URL.canParse(url) ? new URL(url).origin : 'null';
  return origin === 'null' ? url : origin;
}

/** The input as it may leave the service, and the texts that must be masked wherever else they turn up. */
export function maskInput(
  fields: readonly JsonObject[],
  input: RunInput,
): { masked: RunInput; secretValues: string[] } {
  const secretValues = new Set<string>();
  const masked = mapInput(fields, input, (value) => {
    for (const text of secretStrings(value)) secretValues.add(text);
    return MASK;
  });
  return { masked, secretValues: [...secretValues] };
}

/** Puts the stored value where a secret field of the input says `********`; `stored` gives undefined where there is none. */
export function keepInputSecrets(
  fields: readonly JsonObject[],
  input: RunInput,
  stored: (fieldId: string) => unknown,
): RunInput {
  return mapInput(fields, input, (value, fieldId) => (value === MASK ? (stored(fieldId) ?? value) : value));
}

function mapInput(
  fields: readonly JsonObject[],
  input: RunInput,
  replace: (value: unknown, fieldId: string) => unknown,
): RunInput {
  const copy: RunInput = Array.isArray(input) ? [...input] : { ...input };
  for (const field of fields) {
    const { id } = field;
    const value = typeof id === 'string' && isSecretField(field) ? ownValue(input, id) : undefined;
    if (typeof id === 'string' && !isEmpty(value)) setOwn(copy, id, replace(value, id));
  }
  return copy;
}

/** The texts to look for in all that a drawing's secrets can turn up in; a credential also without its scheme. */
export function secretTexts(secrets: SecretMap): string[] {
  return Object.entries(secrets).flatMap(([name, value]) => {
    const texts = secretStrings(value);
    if (!name.startsWith('header:')) return texts;
    return texts.flatMap(credentialTexts);
  });
}

/** `Bearer abc` and `abc`: a server that quotes a credential may leave its scheme out. */
export function credentialTexts(headerValue: string): string[] {
  return [headerValue, headerValue.replace(/^[\w-]+\s+/, '')];
}

/** The texts to look for when a value is secret: its strings and the text of its numbers, at any depth. */
export function secretStrings(value: unknown): string[] {
  return leavesOf(value).flatMap((leaf) => {
    if (typeof leaf === 'string') return [leaf];
    return typeof leaf === 'number' ? [JSON.stringify(leaf)] : [];
  });
}
